// Contexts, inputs and events as JSON: actors in them become references by id, as in XState's own snapshots, and anything else that JSON
// does not carry is refused with its path.

import { ErrandError, Failure } from '../core/errors.ts'
import { faithfulImage } from '../core/json.ts'
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
    return faithfulImage(withoutActors(value), what, root)
  } catch (error) {
    if (!ErrandError.isInstance(error)) throw error
    throw new Failure(error.message, { code: 'INVALID_RESULT', retry: false, details: error.details })
  }
}

function withoutActors(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (isActor(value)) return { xstate$$type: actorType, id: value.id } satisfies ActorImage
  if (Array.isArray(value)) return value.some(mayHoldActor) ? value.map(withoutActors) : value
  if (!isPlain(value) || !Object.values(value).some(mayHoldActor)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutActors(inner)]))
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
