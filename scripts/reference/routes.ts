// The tables of the routes, from the OpenAPI document that errand serves.
import { type JsonSchema, propertiesOf } from '../../src/bus/json-schema.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import { createHttp } from '../../src/surfaces/http/create-http.ts'
import type { OpenApiDocument } from '../../src/surfaces/http/openapi.ts'
import type { OpenApiOperation } from '../../src/surfaces/http/openapi-operations.ts'
import { routes } from '../../src/surfaces/http/routes.ts'
import { code, table } from './table.ts'

const head = ['route', 'ability', 'scope', 'what it does', 'fields']

/** Abilities whose input has the fields of a task, which have a page of their own. */
const takesTaskFields = ['task:create', 'task:update']

/** The routes by part, each with its ability, the scope that it needs, and its fields. */
export async function routeTables(): Promise<string> {
  await using engine = await createEngine({ work: false, plans: { root: import.meta.dirname } })
  const http = createHttp(engine, { token: false })
  const document = http.openapi()
  await http.close()
  const parts = document.tags.map(({ name, description }) => {
    const rows = rowsOf(document, name)
    return rows.length === 0 ? [] : [`## ${name}`, description, table(head, rows)]
  })
  return parts.flat().join('\n\n')
}

function rowsOf(document: OpenApiDocument, tag: string): string[][] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const own = operations.filter(({ path, operation }) => operation.tags.includes(tag) && !isAbilityPath(path))
  return own.map(({ path, method, operation }) => {
    const ability = routes.find((route) => route.path === path && route.method === method)?.ability
    const [needed] = operation.security ?? [{ bearer: ['any'] }]
    return [
      code(`${method} ${path}`),
      ability === undefined ? '' : code(ability),
      needed?.['bearer']?.[0] ?? 'none',
      operation.description ?? `${operation.summary}.`,
      fieldsOf(document, operation, ability),
    ]
  })
}

/** Each ability has such a path: the page names the pattern once. */
function isAbilityPath(path: string): boolean {
  return path.startsWith('/abilities/')
}

/** The names of the fields beside those in the path; those that are needed are bold. */
function fieldsOf(document: OpenApiDocument, operation: OpenApiOperation, ability: string | undefined): string {
  if (ability !== undefined && takesTaskFields.includes(ability)) return '[the fields of a task](task-fields.md)'
  const inQuery = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
  const body = resolved(document, operation.requestBody?.content['application/json']?.schema ?? {})
  const required = (body['required'] ?? []) as string[]
  const names = [
    ...inQuery.map(({ name, required: isRequired }) => ({ name, isRequired })),
    ...Object.keys(propertiesOf(body)).map((name) => ({ name, isRequired: required.includes(name) })),
  ].filter(({ name }) => name !== 'expectedVersion')
  return names.map(({ name, isRequired }) => (isRequired ? `**${code(name)}**` : code(name))).join(' ')
}

function resolved(document: OpenApiDocument, schema: Record<string, unknown>): JsonSchema {
  const reference = schema['$ref'] as string | undefined
  const name = reference?.slice('#/components/schemas/'.length)
  return (name === undefined ? schema : (document.components.schemas[name] ?? {})) as JsonSchema
}
