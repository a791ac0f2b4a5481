// How the chunks of a stream become server-sent events: under which name, with which data, and which of them mark a place from which
// the stream can be gone on with.

export interface StreamShape {
  /** The ability that gives the same in lots, and what a lot of it holds. Absent: each chunk of the ability itself is one event. */
  lots?: { ability: string; itemsOf(chunk: unknown): readonly unknown[] }
  /** The place behind the chunk; undefined where something that belongs to the same place is still to come, or nothing is kept. */
  id(chunk: unknown): number | undefined
  /** Undefined for an event without a name. */
  name(chunk: unknown): string | undefined
  /** Whether it is the end of something that had ended at that place already. */
  repeatsEnd(chunk: unknown, place: number): boolean
}

interface Item {
  type: string
  seq: number
  status?: string
  willRetry?: boolean
  messageId?: string
}

const settled: ReadonlyArray<string | undefined> = ['completed', 'failed', 'canceled']

/** One event of the ledger may make several items: only the last of them is a place to go on from. */
function isLastOfItsEvent({ type, status, willRetry, messageId }: Item): boolean {
  if (type === 'state') return !settled.includes(status)
  if (type === 'error') return willRetry === true
  // A piece of a message that is on its way: the ledger will hold the message, not the piece.
  return type !== 'content' || messageId === undefined
}

const plain: StreamShape = {
  id: () => undefined,
  name: typeOf,
  repeatsEnd: (chunk, place) => typeOf(chunk) === 'end' && (chunk as Item).seq <= place,
}

const shapes: Readonly<Record<string, StreamShape>> = {
  'event:feed': {
    ...plain,
    lots: { ability: 'event:pages', itemsOf: (chunk) => (chunk as { events: unknown[] }).events },
    id: (chunk) => (chunk as Item).seq,
  },
  'task:stream': { ...plain, id: (chunk) => (isLastOfItsEvent(chunk as Item) ? (chunk as Item).seq : undefined) },
}

/** Of an ability that nothing is known of, chunks have the name of their `type`, and no place. */
export function shapeOf(abilityId: string): StreamShape {
  return Object.hasOwn(shapes, abilityId) ? (shapes[abilityId] as StreamShape) : plain
}

function typeOf(chunk: unknown): string | undefined {
  const type = (chunk as { type?: unknown } | null)?.type
  return typeof type === 'string' && /^[\w.:-]{1,100}$/.test(type) ? type : undefined
}
