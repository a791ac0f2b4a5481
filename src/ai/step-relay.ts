// A streamed step on its way from the provider to the AI SDK. Words pass as they come; what makes the SDK act (tool calls, the
// end of the step) is held back until the step is in the ledger: a tool must never run for a step that a crash could forget.

/** A part of a model's stream, as far as the journal looks at it. */
export interface StreamPart {
  type: string
  id?: unknown
  delta?: unknown
  [field: string]: unknown
}

const actingParts = new Set(['tool-call', 'tool-approval-request', 'finish'])

export class StepRelay {
  readonly stream: ReadableStream<StreamPart>
  #sink!: ReadableStreamDefaultController<StreamPart>
  #held: StreamPart[] = []
  #isReleased = false

  constructor() {
    this.stream = new ReadableStream<StreamPart>({
      start: (controller) => {
        this.#sink = controller
      },
      // Whoever lets go of the stream does not break the step off: it is read to its end and recorded. To stop it, abort it.
      cancel: () => {
        this.#isReleased = true
      },
    })
  }

  /**
   * Passes the provider's stream on; resolves with all that came when it has ended.
   * Throws what the stream breaks with, or the reason of the signal.
   */
  async pass(live: ReadableStream<StreamPart>, signal: AbortSignal): Promise<StreamPart[]> {
    const reader = live.getReader()
    const abort = (): void => void reader.cancel(signal.reason).catch(() => {})
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    const parts: StreamPart[] = []
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        parts.push(next.value)
        this.#pass(next.value)
      }
    } finally {
      signal.removeEventListener('abort', abort)
    }
    signal.throwIfAborted()
    return parts
  }

  /** The step is recorded: what was held back flows, and the stream ends. */
  release(): void {
    if (this.#isReleased) return
    for (const part of this.#held) this.#sink.enqueue(part)
    this.#sink.close()
  }

  /** The step is lost: what was held back never flows. */
  break(error: unknown): void {
    if (!this.#isReleased) this.#sink.error(error)
  }

  #pass(part: StreamPart): void {
    if (this.#held.length > 0 || actingParts.has(part.type)) this.#held.push(part)
    else if (!this.#isReleased) this.#sink.enqueue(part)
  }
}

/** A stream of these parts, which then ends. */
export function streamOf(parts: readonly StreamPart[]): ReadableStream<StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}

/** A stream that breaks at once. */
export function brokenStream(error: unknown): ReadableStream<StreamPart> {
  return new ReadableStream({ start: (controller) => controller.error(error) })
}

/**
 * The parts as they are stored: the pieces of one text in one piece, for a ledger keeps a text better than a thousand rows of
 * four letters, and without the pings that kept a connection awake.
 */
export function condensed(parts: readonly StreamPart[]): StreamPart[] {
  const kept: StreamPart[] = []
  for (const part of parts) {
    const last = kept.at(-1)
    if (
      last !== undefined &&
      isBarePiece(last) &&
      isBarePiece(part) &&
      last.type === part.type &&
      last.id === part.id
    ) {
      kept[kept.length - 1] = { ...last, delta: last.delta + part.delta }
    } else if (part.type !== 'ping') kept.push(part)
  }
  return kept
}

const pieceFields = new Set(['type', 'id', 'delta'])

/** A piece of a text and nothing else: what carries more than that stays by itself. */
function isBarePiece(part: StreamPart): part is StreamPart & { delta: string } {
  return (
    typeof part.delta === 'string' &&
    Object.keys(part).every((field) => pieceFields.has(field) || part[field] === undefined)
  )
}
