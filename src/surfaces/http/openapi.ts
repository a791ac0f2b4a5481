// The OpenAPI document, made of the table of routes and of the schemas of the abilities when somebody asks for it: what is registered
// later is in the next one, and nothing is in it that would not be answered.
import type { Ability } from '../../bus/ability.ts'
import { accessClasses } from '../../bus/caller.ts'
import { hasField, type JsonSchema, propertiesOf } from '../../bus/json-schema.ts'
import { packageVersion } from '../../core/package-folder.ts'
import {
  addComponent,
  fieldOf,
  type NamedAbility,
  namedAbilities,
  referenceTo,
  withoutFields,
} from './openapi-schemas.ts'
import { pathNames, type Route, routes, takesBody } from './routes.ts'

export interface OpenApiParameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  style?: 'form'
  explode?: boolean
  schema: Record<string, unknown>
}

export interface OpenApiOperation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security?: Array<Record<string, string[]>>
  parameters?: OpenApiParameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: Record<string, unknown> }> }
  responses: Record<string, Record<string, unknown>>
}

export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string }
  servers: Array<{ url: string }>
  security: Array<Record<string, string[]>>
  tags: Array<{ name: string; description: string }>
  paths: Record<string, Record<string, OpenApiOperation>>
  components: {
    schemas: Record<string, Record<string, unknown>>
    responses: Record<string, Record<string, unknown>>
    securitySchemes: Record<string, Record<string, unknown>>
  }
}

const description =
  'Long-running tasks of agents: they are created, followed, answered and controlled here, and go on by themselves. ' +
  'Times are in epoch milliseconds. Every refusal is a problem with a stable `code`.'

const tags: OpenApiDocument['tags'] = [
  { name: 'Tasks', description: 'What there is to do, and how it stands.' },
  { name: 'Control', description: 'What can be done with a task.' },
  { name: 'Teams', description: 'Several agents on one task: objectives, and what was learned.' },
  { name: 'Plans', description: 'Tasks in an order, found again by name.' },
  { name: 'Events', description: 'Everything that happened, in one order.' },
  { name: 'Engine', description: 'The engine itself, and this document.' },
  { name: 'Abilities', description: 'Everything that can be asked of the engine, by its id.' },
]

/** The document of these abilities, sorted by id. */
export function openApiDocument(abilities: readonly Ability[], basePath: string): OpenApiDocument {
  const named = namedAbilities(abilities)
  const paths: OpenApiDocument['paths'] = {}
  const add = (path: string, method: string, operation: OpenApiOperation): void => {
    paths[path] = { ...paths[path], [method]: operation }
  }
  for (const route of routes) {
    const answering = named.get(route.ability)
    if (answering !== undefined) add(route.path, route.method.toLowerCase(), routeOperation(route, answering))
  }
  for (const [path, operation] of Object.entries(ownOperations)) add(path, 'get', operation)
  for (const [id, each] of named) add(`/abilities/${id}`, 'post', abilityOperation(each))
  return {
    openapi: '3.1.0',
    info: { title: 'errand', version: packageVersion(), description },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    security: [{ bearer: [] }],
    tags: tags.filter(({ name }) => isUsed(name, paths)),
    paths,
    components: {
      schemas: { Problem: problemSchema, ...abilitySchemas(named.values()) },
      responses: {
        Problem: {
          description: 'A refusal, or a failure.',
          content: { 'application/problem+json': { schema: referenceTo('Problem') } },
        },
      },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  }
}

function isUsed(tag: string, paths: OpenApiDocument['paths']): boolean {
  return Object.values(paths).some((methods) => Object.values(methods).some((each) => each.tags.includes(tag)))
}

const problemSchema = {
  type: 'object',
  description: 'A problem of RFC 9457.',
  properties: {
    type: { type: 'string', description: '`urn:errand:error:` and the code.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened, why, and what would work.' },
    code: { type: 'string', description: 'What programs go by.' },
    details: { description: 'The ids and values seen.' },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'details'],
}

const ownOperations: Readonly<Record<string, OpenApiOperation>> = {
  '/abilities': ownOperation(
    'listAbilities',
    'List what can be asked of the engine',
    'application/json',
    objectOf({
      abilities: {
        type: 'array',
        items: objectOf({
          id: { type: 'string' },
          description: { type: 'string' },
          isStream: { type: 'boolean' },
          access: { type: 'string', enum: [...accessClasses] },
          inputSchema: { type: 'object' },
          outputSchema: { type: 'object' },
        }),
      },
    }),
  ),
  '/openapi.json': ownOperation('getDocument', 'This document', 'application/json', { type: 'object' }),
  '/docs': ownOperation('getDocs', 'This document, to be read', 'text/html', { type: 'string' }),
}

function objectOf(properties: Record<string, unknown>): Record<string, unknown> {
  return { type: 'object', properties, required: Object.keys(properties) }
}

function ownOperation(
  operationId: string,
  summary: string,
  mediaType: string,
  schema: Record<string, unknown>,
): OpenApiOperation {
  return {
    operationId,
    tags: ['Engine'],
    summary,
    responses: {
      '200': { description: summary, content: { [mediaType]: { schema } } },
      ...problems(['401', '403', '429']),
    },
  }
}

function routeOperation(route: Route, { ability, name }: NamedAbility): OpenApiOperation {
  const { inputSchema } = ability
  const component = `${name}Input`
  const inPath = pathNames(route.path)
  const isVersioned = hasField(inputSchema, 'expectedVersion')
  const inHeaders = isVersioned ? [...inPath, 'expectedVersion'] : inPath
  const body = withoutFields(inputSchema, inPath, component)
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: ability.description,
    security: [{ bearer: [ability.access] }],
    parameters: [
      ...inPath.map(
        (field): OpenApiParameter => ({
          name: field,
          in: 'path',
          required: true,
          schema: fieldOf(inputSchema, field, component),
        }),
      ),
      ...(takesBody(route) ? [] : queryParameters(inputSchema, inHeaders, component)),
      ...headerParameters(route, inputSchema),
    ],
    ...(takesBody(route)
      ? { requestBody: bodyOf(inPath.length === 0 ? referenceTo(component) : body, requiredOf(body)) }
      : {}),
    responses: {
      [route.creates ? '201' : '200']: {
        description: route.streams ? 'Events, each with one JSON value as its data.' : ability.description,
        ...(route.streams ? {} : { headers: answerHeaders(route, ability) }),
        content: answerContent(ability, name),
      },
      ...(route.streams ? { '204': { description: 'There is no more than what `Last-Event-ID` has seen.' } } : {}),
      ...callProblems({ isVersioned, hasBody: takesBody(route), streams: route.streams }),
    },
  }
}

function abilityOperation({ ability, name }: NamedAbility): OpenApiOperation {
  const { isStream, inputSchema } = ability
  return {
    operationId: `callAbility${name}`,
    tags: ['Abilities'],
    summary: ability.id,
    description: ability.description,
    security: [{ bearer: [ability.access] }],
    parameters: headerParameters({ method: 'POST', streams: isStream }, inputSchema),
    requestBody: bodyOf(referenceTo(`${name}Input`), requiredOf(inputSchema)),
    responses: {
      '200': { description: ability.description, content: answerContent(ability, name) },
      ...callProblems({ isVersioned: hasField(inputSchema, 'expectedVersion'), hasBody: true, streams: isStream }),
    },
  }
}

/** A stream's schema is that of the data of each event. */
function answerContent({ isStream }: Ability, name: string): Record<string, unknown> {
  const schema = referenceTo(`${name}Output`)
  return isStream
    ? { 'text/event-stream': { schema: { type: 'string' }, 'x-event-data': schema } }
    : { 'application/json': { schema } }
}

function queryParameters(schema: JsonSchema, others: readonly string[], component: string): OpenApiParameter[] {
  const required = (schema['required'] ?? []) as string[]
  return Object.keys(propertiesOf(schema))
    .filter((name) => !others.includes(name))
    .map((name) => ({
      name,
      in: 'query',
      ...(required.includes(name) ? { required: true } : {}),
      // Lists stand in one parameter, with commas between.
      style: 'form',
      explode: false,
      schema: fieldOf(schema, name, component),
    }))
}

function headerParameters(
  { method, streams, creates }: { method: Route['method']; streams?: boolean; creates?: boolean },
  schema: JsonSchema,
): OpenApiParameter[] {
  const header = (name: string, description: string): OpenApiParameter => {
    return { name, in: 'header', description, schema: { type: 'string' } }
  }
  return [
    ...(hasField(schema, 'expectedVersion')
      ? [header('If-Match', 'The ETag that the task must still have: `"3"`.')]
      : []),
    ...(takesBody({ method }) && !streams
      ? [
          header(
            'Idempotency-Key',
            creates
              ? 'Made once under this key, for ever.'
              : 'Answered once under this key, for a day or until the server ends.',
          ),
        ]
      : []),
    ...(streams && hasField(schema, 'after')
      ? [header('Last-Event-ID', 'The id of the last event that was seen: it goes on after it.')]
      : []),
  ]
}

function answerHeaders({ creates }: Route, { outputSchema }: Ability): Record<string, unknown> {
  const text = { schema: { type: 'string' } }
  return {
    ...(hasVersion(outputSchema) ? { ETag: { description: 'The version of the task.', ...text } } : {}),
    ...(creates ? { Location: { description: 'Where it is found.', ...text } } : {}),
  }
}

/** In the answer itself, or in the task that it holds. */
function hasVersion(schema: JsonSchema): boolean {
  const { task } = propertiesOf(schema)
  const forms = [schema, ...(task === undefined ? [] : [task, ...((task['anyOf'] ?? []) as JsonSchema[])])]
  return forms.some((form) => hasField(form, 'version'))
}

function bodyOf(schema: Record<string, unknown>, required: boolean): NonNullable<OpenApiOperation['requestBody']> {
  return { required, content: { 'application/json': { schema } } }
}

function requiredOf(schema: JsonSchema): boolean {
  return ((schema['required'] ?? []) as string[]).length > 0
}

interface Refusing {
  isVersioned: boolean
  hasBody: boolean
  streams: boolean | undefined
}

/** What a call of an ability may be refused with. */
function callProblems({ isVersioned, hasBody, streams }: Refusing): Record<string, Record<string, unknown>> {
  return problems([
    '400',
    '401',
    '403',
    '404',
    '409',
    ...(isVersioned ? ['412'] : []),
    ...(hasBody ? ['413', '415', '422'] : []),
    '429',
    ...(streams ? ['503'] : []),
  ])
}

function problems(statuses: readonly string[]): Record<string, Record<string, unknown>> {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: '#/components/responses/Problem' }]))
}

function abilitySchemas(named: Iterable<NamedAbility>): Record<string, Record<string, unknown>> {
  const schemas: Record<string, Record<string, unknown>> = {}
  for (const { ability, name } of named) {
    addComponent(schemas, `${name}Input`, ability.inputSchema)
    addComponent(schemas, `${name}Output`, ability.outputSchema)
  }
  return schemas
}
