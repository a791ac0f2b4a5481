// Inspection events as messages, in the format that Stately's inspectors read and write (@statelyai/inspect 0.7): one JSON object
// for an actor that has come, an event that was sent, a state that was reached. What else XState tells is not part of it.
import type { InspectionEvent } from '../../actors/inspection-event.ts'

/** The version of the format, as each message names it. */
const formatVersion = '0.7.2'

interface WireBase {
  _version: string
  /** Epoch milliseconds, as text. */
  createdAt: string
  id: string | null
  sessionId: string
  rootId?: string | undefined
}

export interface WireActor extends WireBase {
  type: '@xstate.actor'
  name: string
  /** The machine's configuration as JSON text. */
  definition?: string | undefined
  parentId?: string | undefined
  snapshot?: unknown
}

export interface WireEvent extends WireBase {
  type: '@xstate.event'
  event: { type: string }
  sourceId?: string | undefined
}

export interface WireSnapshot extends WireBase {
  type: '@xstate.snapshot'
  snapshot?: unknown
  event: { type: string }
}

export type WireMessage = WireActor | WireEvent | WireSnapshot

/** What an actor of XState has beside what inspectors of ours are promised. */
interface ActorInside {
  readonly id: string
  readonly sessionId: string
  readonly logic?: { readonly config?: unknown }
  readonly _parent?: { readonly sessionId: string } | undefined
  getSnapshot(): unknown
}

/**
 * The message for an inspection event, with the objects of the engine still in it; undefined for one that is not told. An actor has its
 * first state only after XState has told of it: ask in a later turn, when it has.
 */
export function toWire(event: InspectionEvent, at: number): WireMessage | undefined {
  const actor = event.actorRef as ActorInside
  const base = {
    sessionId: actor.sessionId,
    _version: formatVersion,
    createdAt: String(at),
    id: null,
    rootId: event.rootId,
  }
  switch (event.type) {
    case '@xstate.actor':
      return { type: '@xstate.actor', ...base, ...describe(actor), snapshot: actor.getSnapshot() }
    case '@xstate.event':
      return { type: '@xstate.event', ...base, event: eventIn(event), sourceId: event.sourceRef?.sessionId }
    case '@xstate.snapshot':
      return { type: '@xstate.snapshot', ...base, event: eventIn(event), snapshot: event.snapshot }
    default:
      return undefined
  }
}

function describe(actor: ActorInside): Pick<WireActor, 'name' | 'definition' | 'parentId'> {
  const config = actor.logic?.config as { id?: unknown } | null | undefined
  const isNamed = actor.id !== actor.sessionId
  const name = !isNamed && typeof config?.id === 'string' ? config.id : actor.id
  const definition = definitionText(typeof config === 'object' && config !== null ? config : { id: name })
  return { name, definition, parentId: actor._parent?.sessionId }
}

const definitions = new WeakMap<object, string>()

/** Thousands of actors share one chart. */
function definitionText(config: object): string {
  const known = definitions.get(config)
  if (known !== undefined) return known
  const text = JSON.stringify(config, (_key, value: unknown) =>
    typeof value === 'function' ? { type: value.name } : value,
  )
  definitions.set(config, text)
  return text
}

function eventIn(event: InspectionEvent): { type: string } {
  return event.event ?? { type: '' }
}
