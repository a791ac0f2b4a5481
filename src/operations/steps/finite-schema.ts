// Refuses schemas of questions whose check may take any time: those that refer to themselves, and those whose references multiply. A value
// is compared with each place of a schema, and a place that is referred to counts as often as it is reached.
import { ErrandError } from '../../core/errors.ts'

/** The maximum of places in a schema with its references replaced, and of one inside the other. */
const maxPlaces = 10_000
const maxDepth = 100

/** Keywords whose value is a schema or a list of schemas, and those whose values are. Others hold data, in which `$ref` means nothing. */
const schemaKeywords = (
  'items prefixItems additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames ' +
  'allOf anyOf oneOf not if then else'
).split(' ')
const mapKeywords = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies']

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/**
 * `judge` is called with each schema inside the schema.
 * @throws ErrandError INVALID_INPUT { path }
 */
export function requireFinite(schema: unknown, judge: (place: Json, path: string) => void = () => {}): void {
  if (!isObject(schema)) return
  if (Array.isArray(schema)) {
    throw new ErrandError(
      'INVALID_INPUT',
      'The schema of a question is a list. Give one schema, such as an object with `type`.',
      {
        path: '',
      },
    )
  }
  const root = schema
  /** The places of each schema, once they are known; 0 while they are counted. */
  const known = new Map<object, number>()
  const countAt = (place: unknown, path: string, depth: number): number => {
    if (!isObject(place)) return 1
    const found = known.get(place)
    if (found === 0) throw recursive(path)
    if (found !== undefined) return found
    if (depth > maxDepth) throw tooLarge(path, `it is nested deeper than ${maxDepth} levels`)
    known.set(place, 0)
    if (!Array.isArray(place)) judge(place, path)
    let places = 1
    for (const [name, inner] of partsOf(root, place)) {
      places += countAt(inner, path === '' ? name : `${path}.${name}`, depth + 1)
    }
    if (places > maxPlaces) throw tooLarge(path, `with its references replaced it has more than ${maxPlaces} places`)
    known.set(place, places)
    return places
  }
  countAt(root, '', 0)
}

/** The schemas inside one, and the one that it refers to. */
function partsOf(root: Json, place: Json): Array<[string, unknown]> {
  if (Array.isArray(place)) return place.map((inner, at) => [String(at), inner])
  const parts: Array<[string, unknown]> = schemaKeywords.flatMap((name) => (name in place ? [[name, place[name]]] : []))
  for (const name of mapKeywords) {
    if (!isObject(place[name])) continue
    for (const [key, inner] of Object.entries(place[name])) parts.push([`${name}.${key}`, inner])
  }
  const ref = place['$ref']
  return typeof ref === 'string' ? [...parts, [ref, targetOf(root, ref)]] : parts
}

/**
 * The definition that a reference names. The conversion of a schema takes the first two names of a reference and ignores the others, and takes what
 * all objects have (`constructor`) for a definition, so both are refused here.
 */
function targetOf(root: Json, ref: string): unknown {
  const [definitions, name, ...rest] = ref.replace(/^#/, '').split('/').filter(Boolean)
  if (definitions === undefined) return root
  const named = root[definitions]
  if (rest.length > 0 || !isObject(named) || name === undefined || !Object.hasOwn(named, name))
    throw notADefinition(ref)
  return named[name]
}

function recursive(path: string): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `The schema of a question may not refer to itself, as it does at ${path}: the check of an answer would have no limit. Write out the levels that an answer may have, or leave the inner part open with {} and check it in the executor.`,
    { path },
  )
}

function notADefinition(ref: string): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `The schema of a question refers to ${ref}, which is no definition of it. A reference names one as a whole, like #/$defs/name.`,
    { path: ref },
  )
}

function tooLarge(path: string, why: string): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `The schema of a question is too large at ${path === '' ? 'its root' : path}: ${why}. Ask for a simpler value, and check it in the executor.`,
    { path },
  )
}
