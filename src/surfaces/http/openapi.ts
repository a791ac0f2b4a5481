// Generates the OpenAPI document from the table of routes and the schemas of the abilities. It is generated on request, so it contains
// exactly what is registered at that time.
import type { Ability } from '../../bus/ability.ts'
import { accessClasses } from '../../bus/caller.ts'
import { packageVersion } from '../../core/package-folder.ts'
import { abilityOperation, type OpenApiOperation, problems, routeOperation } from './openapi-operations.ts'
import { addComponent, type NamedAbility, namedAbilities, referenceTo } from './openapi-schemas.ts'
import { routes } from './routes.ts'

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
  'Long-running tasks of agents: create, follow, answer and control them here; they run on their own. ' +
  'Times are in epoch milliseconds. Every error is a problem with a stable `code`.'

const tags: OpenApiDocument['tags'] = [
  { name: 'Tasks', description: 'Tasks and their state.' },
  { name: 'Control', description: 'Actions on a task.' },
  { name: 'Teams', description: 'Several agents on one task: objectives and memory.' },
  { name: 'Plans', description: 'Plans, which describe several tasks. A plan with the same name continues.' },
  { name: 'Schedules', description: 'Tasks that are made at certain times, by cron or at intervals.' },
  { name: 'Events', description: 'All events, in one order.' },
  { name: 'Engine', description: 'The engine itself, and this document.' },
  { name: 'Abilities', description: 'All abilities of the engine, by id.' },
]

interface DocumentOptions {
  basePath: string
  takesWebhooks: boolean
}

/** The document of these abilities, sorted by id. */
export function openApiDocument(
  abilities: readonly Ability[],
  { basePath, takesWebhooks }: DocumentOptions,
): OpenApiDocument {
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
  if (takesWebhooks) add('/signals/{token}', 'post', webhookOperation)
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
          description: 'An error.',
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
  description: 'A problem (RFC 9457).',
  properties: {
    type: { type: 'string', description: '`urn:errand:error:` and the code.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened, why, and what would work.' },
    code: { type: 'string', description: 'Error code for programs.' },
    details: { description: 'The ids and values seen.' },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'details'],
}

const ownOperations: Readonly<Record<string, OpenApiOperation>> = {
  '/abilities': ownOperation(
    'listAbilities',
    'List the abilities of the engine',
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
  '/docs': ownOperation('getDocs', 'This document as a readable page', 'text/html', { type: 'string' }),
}

/** Without credentials, so it is in the document of each client. */
const webhookOperation: OpenApiOperation = {
  operationId: 'callWebhook',
  tags: ['Engine'],
  summary: 'Call the webhook of a run',
  description:
    'For a service that calls back: the run gets the body, which is JSON, or else a text. The token is the credential, and works once.',
  security: [],
  parameters: [{ name: 'token', in: 'path', required: true, schema: { type: 'string' } }],
  requestBody: {
    required: false,
    content: { 'application/json': { schema: {} }, '*/*': { schema: { type: 'string' } } },
  },
  responses: {
    '202': { description: 'The run gets the body.' },
    ...problems(['400', '403', '404', '409', '413', '415', '429']),
  },
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

function abilitySchemas(named: Iterable<NamedAbility>): Record<string, Record<string, unknown>> {
  const schemas: Record<string, Record<string, unknown>> = {}
  for (const { ability, name } of named) {
    addComponent(schemas, `${name}Input`, ability.inputSchema)
    addComponent(schemas, `${name}Output`, ability.outputSchema)
  }
  return schemas
}
