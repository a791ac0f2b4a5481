// Refuses misspelled JSON Schemas of questions. An unknown keyword is ignored, and the question would accept any answer.
import { didYouMean } from '../../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../../core/errors.ts'

/** Of all drafts, and of OpenAPI. */
const keywords = new Set(
  (
    '$schema $id id $anchor $ref $defs definitions $comment $dynamicAnchor $recursiveAnchor $vocabulary ' +
    'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum ' +
    'maxLength minLength pattern format contentEncoding contentMediaType contentSchema ' +
    'items prefixItems additionalItems unevaluatedItems contains minContains maxContains minItems maxItems uniqueItems ' +
    'properties patternProperties additionalProperties unevaluatedProperties propertyNames required minProperties maxProperties ' +
    'dependentRequired dependentSchemas dependencies allOf anyOf oneOf not if then else ' +
    'title description default examples example deprecated readOnly writeOnly nullable discriminator xml externalDocs'
  ).split(' '),
)

/** Answers cannot be checked with them. */
const unsupported = ['$dynamicRef', '$recursiveRef']

const types = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']

/** @throws ErrandError INVALID_INPUT { path, keyword or type, nearest } */
export function requireKeywords(schema: Readonly<Record<string, unknown>>, path: string): void {
  const where = path === '' ? '' : ` at ${path}`
  for (const keyword of Object.keys(schema)) {
    if (keywords.has(keyword) || keyword.startsWith('x-')) continue
    if (unsupported.includes(keyword)) {
      const message = `The schema of a question has "${keyword}"${where}, which is not supported. Use $ref with a definition in $defs.`
      throw new ErrandError('INVALID_INPUT', message, { path, keyword })
    }
    const nearest = nearestName(keyword, keywords)
    throw new ErrandError(
      'INVALID_INPUT',
      `The schema of a question has "${keyword}"${where}, which is no keyword of JSON Schema.${didYouMean(nearest)} Names of your own begin with "x-".`,
      { path, keyword, nearest },
    )
  }
  for (const type of [schema['type'] ?? []].flat()) {
    if (types.includes(type as string)) continue
    const nearest = typeof type === 'string' ? nearestName(type, types) : undefined
    throw new ErrandError(
      'INVALID_INPUT',
      `The schema of a question has the type ${JSON.stringify(type)}${where}, which does not exist.${didYouMean(nearest)} JSON Schema has: ${types.join(', ')}.`,
      { path, type, nearest },
    )
  }
}
