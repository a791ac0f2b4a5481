// One step of a model: its stream as our chunks. Every error is thrown as a `Failure`.
import { type Clock, systemClock } from '../../core/clock.ts'
import { formatDuration } from '../../core/duration.ts'
import { parse } from '../../core/parse.ts'
import { untilAborted } from '../../core/signals.ts'
import type { LanguageModelLike } from './language-model.ts'
import { toModelFailure, UnfinishedStream } from './model-error.ts'
import { toCallOptions } from './model-prompt.ts'
import {
  addChunk,
  type ModelAnswer,
  type ModelChunk,
  type ModelStepInput,
  modelStepInputSchema,
} from './step-schema.ts'
import { toChunks } from './stream-parts.ts'

export { readChunk } from './step-schema.ts'

export interface ModelStepOptions {
  /** Used for a `retry-after` date, and for `idleTimeoutMs`. Default: the system's. */
  clock?: Clock
  /**
   * A stream without a part for so long counts as broken, in milliseconds; comments that keep a connection alive are no parts. Default: five
   * minutes.
   */
  idleTimeoutMs?: number
}

const defaultIdleTimeoutMs = 300_000

/**
 * Runs one step and yields its pieces as they come; the last chunk is `{ finish }`. Does not retry. Leaving the loop
 * early closes the connection.
 * @throws Failure with a `ModelErrorCode` and `ModelFailureDetails`; ErrandError for an invalid input.
 */
export async function* streamModelStep(
  model: LanguageModelLike,
  input: ModelStepInput,
  signal: AbortSignal,
  options: ModelStepOptions = {},
): AsyncGenerator<ModelChunk, void, undefined> {
  const step = parse(modelStepInputSchema, input, 'The model step')
  const partial: ModelAnswer = { content: '', toolCalls: [], finish: null }
  try {
    const { clock = systemClock, idleTimeoutMs = defaultIdleTimeoutMs } = options
    const limit = new IdleLimit(signal, clock, idleTimeoutMs)
    const stream = await openStream(model, step, limit.signal).finally(() => limit.end())
    for await (const chunk of toChunks(partsOf(stream, limit), model)) {
      addChunk(partial, chunk)
      yield chunk
    }
  } catch (error) {
    throw toModelFailure(error, { model, signal, partial, ...options })
  }
}

/** Runs the step and resolves to the whole answer. */
export async function runModelStep(
  model: LanguageModelLike,
  input: ModelStepInput,
  signal: AbortSignal,
  options: ModelStepOptions = {},
): Promise<ModelAnswer> {
  const answer: ModelAnswer = { content: '', toolCalls: [], finish: null }
  for await (const chunk of streamModelStep(model, input, signal, options)) addChunk(answer, chunk)
  return answer
}

/** Opens the stream. An abort rejects at once, even if the model ignores its `abortSignal`. */
async function openStream(
  model: LanguageModelLike,
  step: ModelStepInput,
  signal: AbortSignal,
): Promise<ReadableStream> {
  signal.throwIfAborted()
  const opening = Promise.resolve(model.doStream(toCallOptions(step, model.specificationVersion, signal)))
  const opened = await untilAborted(opening, signal).catch((error: unknown) => {
    // The stream may open after the abort.
    void opening.then(({ stream }) => cancelQuietly(stream), ignore)
    throw error
  })
  return opened.stream
}

/** Aborts `signal` when the model has sent nothing for a while. */
class IdleLimit {
  readonly signal: AbortSignal
  readonly #late = new AbortController()
  readonly #clock: Clock
  readonly #ms: number
  #timer: unknown

  constructor(signal: AbortSignal, clock: Clock, ms: number) {
    this.signal = AbortSignal.any([signal, this.#late.signal])
    this.#clock = clock
    this.#ms = ms
    this.begin()
  }

  /** From now on. */
  begin(): void {
    this.end()
    this.#timer = this.#clock.setTimeout(() => this.#late.abort(idleFor(this.#ms)), this.#ms)
  }

  end(): void {
    this.#clock.clearTimeout(this.#timer)
  }
}

function idleFor(ms: number): UnfinishedStream {
  return new UnfinishedStream(`the model has sent nothing for ${formatDuration(ms)} (modelIdleTimeoutMs)`)
}

/** The parts of a stream. However the loop over them ends, the stream is canceled, which closes its connection. */
async function* partsOf<T>(stream: ReadableStream<T>, limit: IdleLimit): AsyncGenerator<T, void, undefined> {
  const reader = stream.getReader()
  try {
    while (true) {
      limit.begin()
      const { done, value } = await untilAborted(reader.read(), limit.signal)
      limit.end()
      if (done) return
      yield value
    }
  } finally {
    limit.end()
    cancelQuietly(reader)
  }
}

/** Cancels a stream without waiting for it; errors are ignored, because it may already have failed. */
function cancelQuietly(stream: { cancel(): Promise<void> }): void {
  stream.cancel().catch(ignore)
}

function ignore(): void {}
