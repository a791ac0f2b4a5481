// A streamed step on its way from the provider to the AI SDK. Text passes as it arrives; parts on which the SDK acts
// (tool calls, the end of the step) are held back until the step is in the ledger: a tool must not run for a step that
// a crash could lose.

/** The fields of a stream part that the journal uses. */
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
      // Canceling the stream does not stop the step: it is read to its end and recorded. To stop it, abort it.
      cancel: () => {
        this.#isReleased = true
      },
    })
  }

  /**
   * Passes the provider's stream on; resolves to all parts when the stream has ended.
   * @throws the error of the stream, or the reason of the signal.
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

  /** The step is recorded: the held parts are passed on, and the stream ends. */
  release(): void {
    if (this.#isReleased) return
    for (const part of this.#held) this.#sink.enqueue(part)
    this.#sink.close()
  }

  /** The step has failed: the held parts are dropped. */
  break(error: unknown): void {
    if (!this.#isReleased) this.#sink.error(error)
  }

  #pass(part: StreamPart): void {
    if (this.#held.length > 0 || actingParts.has(part.type)) this.#held.push(part)
    else if (!this.#isReleased) this.#sink.enqueue(part)
  }
}

/** A stream of these parts. */
export function streamOf(parts: readonly StreamPart[]): ReadableStream<StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}

/** A stream that fails immediately. */
export function brokenStream(error: unknown): ReadableStream<StreamPart> {
  return new ReadableStream({ start: (controller) => controller.error(error) })
}

/** The parts as they are stored: the pieces of each text joined into one, and without keep-alive pings. */
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

/** A piece of text without any other field: parts with more fields are not joined. */
function isBarePiece(part: StreamPart): part is StreamPart & { delta: string } {
  return (
    typeof part.delta === 'string' &&
    Object.keys(part).every((field) => pieceFields.has(field) || part[field] === undefined)
  )
}
