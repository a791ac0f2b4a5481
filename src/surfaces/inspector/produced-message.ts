// Messages of programs that send their own inspection to the relay: what is not of the format is not passed on, and actors of
// different programs, which all count from zero, get names of their own.
import { z } from 'zod'
import type { WireMessage } from './wire.ts'

/** Bytes of a message that is read at all. */
export const largestProduced = 256 * 1024

const actorId = z.string().min(1).max(200)
const event = z.looseObject({ type: z.string().max(1_000) })
const base = {
  _version: z.string().max(50).default(''),
  createdAt: z.string().regex(/^\d{1,16}$/),
  id: z
    .string()
    .max(200)
    .nullish()
    .transform((id) => id ?? null),
  sessionId: actorId,
  rootId: actorId.optional(),
}

const producedSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('@xstate.actor'),
    ...base,
    name: z.string().max(10_000),
    definition: z.string().max(largestProduced).optional(),
    parentId: actorId.optional(),
    snapshot: z.unknown().optional(),
  }),
  z.object({ type: z.literal('@xstate.event'), ...base, event, sourceId: actorId.optional() }),
  z.object({ type: z.literal('@xstate.snapshot'), ...base, event, snapshot: z.unknown().optional() }),
])

/** The message in a text, its actors named after the program; undefined for what is none. */
export function readProduced(text: string, program: string): WireMessage | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  const parsed = producedSchema.safeParse(json)
  if (!parsed.success) return undefined
  const message = parsed.data as WireMessage & { parentId?: string; sourceId?: string }
  const named = (id: string | undefined): string | undefined => (id === undefined ? undefined : `${program}/${id}`)
  return {
    ...message,
    sessionId: `${program}/${message.sessionId}`,
    rootId: named(message.rootId),
    ...(message.type === '@xstate.actor' ? { parentId: named(message.parentId) } : {}),
    ...(message.type === '@xstate.event' ? { sourceId: named(message.sourceId) } : {}),
  } as WireMessage
}
