// How the chunks of a stream are sent as server-sent events: their names, their data, and which of them have an id from which a client
// can continue.

export interface StreamShape {
  /** An ability that yields the same items in batches, and the items of a batch. Absent: each chunk is one event. */
  batches?: { ability: string; itemsOf(chunk: unknown): readonly unknown[] }
  /** The position after the chunk; undefined if more items of the same position follow, or if the chunk is not stored. */
  id(chunk: unknown): number | undefined
  /** Undefined for an event without a name. */
  name(chunk: unknown): string | undefined
  /** Whether the chunk is the end of a stream that had already ended at that position. */
  repeatsEnd(chunk: unknown, position: number): boolean
}

interface Item {
  type: string
  seq: number
  status?: string
  willRetry?: boolean
  messageId?: string
}

const settled: ReadonlyArray<string | undefined> = ['completed', 'failed', 'canceled']

/** One event of the ledger may yield several items; a client can only continue after the last of them. */
function isLastOfItsEvent({ type, status, willRetry, messageId }: Item): boolean {
  if (type === 'state') return !settled.includes(status)
  if (type === 'error') return willRetry === true
  // A part of an unfinished message: the ledger will store the message, not the part.
  return type !== 'content' || messageId === undefined
}

const plain: StreamShape = {
  id: () => undefined,
  name: typeOf,
  repeatsEnd: (chunk, position) => typeOf(chunk) === 'end' && (chunk as Item).seq <= position,
}

const shapes: Readonly<Record<string, StreamShape>> = {
  'event:feed': {
    ...plain,
    batches: { ability: 'event:pages', itemsOf: (chunk) => (chunk as { events: unknown[] }).events },
    id: (chunk) => (chunk as Item).seq,
  },
  'task:stream': {
    ...plain,
    // A browser takes an event `error` for a broken connection, and many pages end the stream then.
    name: (chunk) => ((chunk as Item).type === 'error' && (chunk as Item).willRetry ? 'attempt_failed' : typeOf(chunk)),
    id: (chunk) => (isLastOfItsEvent(chunk as Item) ? (chunk as Item).seq : undefined),
  },
}

/** For other abilities, events are named by the `type` of the chunk and have no id. */
export function shapeOf(abilityId: string): StreamShape {
  return Object.hasOwn(shapes, abilityId) ? (shapes[abilityId] as StreamShape) : plain
}

function typeOf(chunk: unknown): string | undefined {
  const type = (chunk as { type?: unknown } | null)?.type
  return typeof type === 'string' && /^[\w.:-]{1,100}$/.test(type) ? type : undefined
}
