// Contexts, inputs and events as JSON: actors in them become references by id, as in XState's own snapshots, and anything else that JSON
// does not carry is refused with its path.

import { ErrandError, Failure } from '../core/errors.ts'
import { fromJson, lossIn, maxJsonDepth, toJson } from '../core/json.ts'
import { isActor, standIn } from './stand-ins.ts'

const actorType = 1

interface ActorImage {
  xstate$$type: typeof actorType
  id: string
}

/**
 * The JSON image of a value of a machine. `root` begins the path.
 * @throws Failure INVALID_RESULT, final: the same code would make the same value again.
 */
export function imageOf(value: unknown, what: string, root: string): unknown {
  if (value === undefined) return undefined
  try {
    const plain = withoutActors(value)
    // A Date would come back as a text.
    const loss = lossIn(plain, 'never')
    if (loss === undefined) return fromJson(toJson(plain, what))
    const path = [root, ...loss.path].join('.')
    const why = `Cannot store ${what}: ${path} is ${loss.what}, which does not survive a restart. Use plain objects and lists of texts, finite numbers, booleans and null.`
    throw new ErrandError('INVALID_INPUT', why, { what, path })
  } catch (error) {
    if (!ErrandError.isInstance(error)) throw error
    throw new Failure(error.message, { code: 'INVALID_RESULT', retry: false, details: error.details })
  }
}

/** What is nested deeper is left as it is, and refused after it. */
function withoutActors(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > maxJsonDepth) return value
  if (isActor(value)) return { xstate$$type: actorType, id: value.id } satisfies ActorImage
  if (Array.isArray(value))
    return value.some(mayHoldActor) ? value.map((inner) => withoutActors(inner, depth + 1)) : value
  if (!isPlain(value) || !Object.values(value).some(mayHoldActor)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutActors(inner, depth + 1)]))
}

const mayHoldActor = (value: unknown): boolean => typeof value === 'object' && value !== null

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The value with actors in place of their references. One that the machine does not have any more is a stopped one, as in XState. */
export function revived(value: unknown, actors: ReadonlyMap<string, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((inner) => revived(inner, actors))
  if (isActorImage(value)) return actors.get(value.id) ?? standIn(value.id, undefined, { getSnapshot: stopped })
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revived(inner, actors)]))
}

const stopped = () => ({ status: 'stopped' })

function isActorImage(value: object): value is ActorImage {
  const { xstate$$type, id } = value as Partial<ActorImage>
  return xstate$$type === actorType && typeof id === 'string'
}

/** What a machine gets of an error, as `event.error`: JSON, so that it may be stored in the context. */
export function errorImage(error: unknown): unknown {
  if (!(error instanceof Error)) return error === undefined ? null : imageOf(error, 'the error of an actor', 'error')
  const { code, details } = error as { code?: unknown; details?: unknown }
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(details === undefined ? {} : { details: imageOf(details, 'the details of an error', 'details') }),
  }
}
