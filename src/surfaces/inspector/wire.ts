// Converts inspection events to messages in the format of Stately's inspectors (@statelyai/inspect 0.7): one JSON object for a created
// actor, a sent event or a reached state. Other inspection events of XState are not part of the format.
import { z } from 'zod'
import type { InspectionEvent } from '../../actors/inspection-event.ts'

/** The version of the format, which each message contains. */
const formatVersion = '0.7.2'

/** Maximum size of a message that a program may send, in bytes. */
export const maxProducedBytes = 256 * 1024

const actorId = z.string().min(1).max(200)
const event = z.looseObject({ type: z.string().max(1_000) })
const base = {
  _version: z.string().max(50).default(''),
  /** Epoch milliseconds, as text. */
  createdAt: z.string().regex(/^\d{1,16}$/),
  id: z
    .string()
    .max(200)
    .nullish()
    .transform((id) => id ?? null),
  sessionId: actorId,
  rootId: actorId.optional(),
}

/** Unknown fields are dropped. */
const messageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('@xstate.actor'),
    ...base,
    name: z.string().max(10_000),
    /** The machine's configuration as JSON text. */
    definition: z.string().max(maxProducedBytes).optional(),
    parentId: actorId.optional(),
    snapshot: z.unknown().optional(),
  }),
  z.object({ type: z.literal('@xstate.event'), ...base, event, sourceId: actorId.optional() }),
  z.object({ type: z.literal('@xstate.snapshot'), ...base, event, snapshot: z.unknown().optional() }),
])

export type WireMessage = z.output<typeof messageSchema>
export type WireActor = Extract<WireMessage, { type: '@xstate.actor' }>

/**
 * Parses a message that a program sends to the relay; undefined if it is invalid. Actor ids of all programs count from zero, so they are
 * prefixed with the program.
 */
export function readProduced(text: string, program: string): WireMessage | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  const { data: message } = messageSchema.safeParse(json)
  if (message === undefined) return undefined
  const named = (id: string | undefined): string | undefined => (id === undefined ? undefined : `${program}/${id}`)
  const from = { sessionId: `${program}/${message.sessionId}`, rootId: named(message.rootId) }
  switch (message.type) {
    case '@xstate.actor':
      return { ...message, ...from, parentId: named(message.parentId) }
    case '@xstate.event':
      return { ...message, ...from, sourceId: named(message.sourceId) }
    case '@xstate.snapshot':
      return { ...message, ...from }
  }
}

/** Fields of XState actors beyond our public inspection types. */
interface ActorInside {
  readonly id: string
  readonly sessionId: string
  readonly logic?: { readonly config?: unknown }
  readonly _parent?: { readonly sessionId: string } | undefined
  getSnapshot(): unknown
}

/**
 * The message for an inspection event, still containing live objects of the engine; undefined for events outside the format. XState
 * reports an actor before it has its first state, so call this in a later turn.
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

/** Cached, because thousands of actors share one chart. */
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
