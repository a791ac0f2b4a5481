// The operations of the OpenAPI document: one for each route and for each ability.
import type { Ability } from '../../bus/ability.ts'
import { hasField, type JsonSchema, propertiesOf } from '../../bus/json-schema.ts'
import { fieldOf, type NamedAbility, referenceTo, withoutFields } from './openapi-schemas.ts'
import { pathNames, type Route, takesBody } from './routes.ts'

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

export function routeOperation(route: Route, { ability, name }: NamedAbility): OpenApiOperation {
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
      ...(route.streams ? { '204': { description: 'There are no events after `Last-Event-ID`.' } } : {}),
      ...callProblems({ isVersioned, hasBody: takesBody(route), streams: route.streams }),
    },
  }
}

export function abilityOperation({ ability, name }: NamedAbility): OpenApiOperation {
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

/** The schema of a stream is that of the data of each event. */
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
      // Lists are one comma-separated parameter.
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
    ...(hasField(schema, 'expectedVersion') ? [header('If-Match', 'The expected ETag of the task, like `"3"`.')] : []),
    ...(takesBody({ method }) && !streams
      ? [
          header(
            'Idempotency-Key',
            creates
              ? 'Created once under this key, permanently.'
              : 'Repeated requests get the first response, for a day or until the server restarts.',
          ),
        ]
      : []),
    ...(streams && hasField(schema, 'after')
      ? [header('Last-Event-ID', 'The id of the last received event. The stream continues after it.')]
      : []),
  ]
}

function answerHeaders({ creates }: Route, { outputSchema }: Ability): Record<string, unknown> {
  const text = { schema: { type: 'string' } }
  return {
    ...(hasVersion(outputSchema) ? { ETag: { description: 'The version of the task.', ...text } } : {}),
    ...(creates ? { Location: { description: 'The URL of the created task.', ...text } } : {}),
  }
}

/** True if the output, or the task in it, has a version. */
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

interface CallKind {
  isVersioned: boolean
  hasBody: boolean
  streams: boolean | undefined
}

/** The problems that a call of an ability may be answered with. */
function callProblems({ isVersioned, hasBody, streams }: CallKind): Record<string, Record<string, unknown>> {
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

export function problems(statuses: readonly string[]): Record<string, Record<string, unknown>> {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: '#/components/responses/Problem' }]))
}
