// One step of a model: its stream as our chunks. What goes wrong, goes wrong in one way: a thrown `Failure`.
import type { Clock } from '../core/clock.ts'
import { parse } from '../core/parse.ts'
import { untilAborted } from '../core/signals.ts'
import type { LanguageModelLike } from './language-model.ts'
import { toModelFailure } from './model-error.ts'
import { toCallOptions } from './model-prompt.ts'
import {
  addChunk,
  type ModelAnswer,
  type ModelChunk,
  type ModelStepInput,
  modelStepInputSchema,
} from './step-schema.ts'
import { toChunks } from './stream-parts.ts'

export interface ModelStepOptions {
  /** For a `retry-after` that is a date. Default: the system's. */
  clock?: Clock
}

/**
 * Plays one step and passes its pieces on as they come; the last chunk is `{ finish }`. Nothing is tried again here.
 * Whoever leaves the loop early closes the connection.
 * @throws Failure with a `ModelErrorCode` and `ModelFailureDetails`; ErrandError for an input that is no step.
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
    const stream = await openStream(model, step, signal)
    for await (const chunk of toChunks(partsOf(stream, signal), model)) {
      addChunk(partial, chunk)
      yield chunk
    }
  } catch (error) {
    throw toModelFailure(error, { model, signal, partial, ...options })
  }
}

/** The same step as a whole. */
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

/** Models are asked to stop through their `abortSignal`; whoever aborted does not wait for one that does not listen. */
async function openStream(
  model: LanguageModelLike,
  step: ModelStepInput,
  signal: AbortSignal,
): Promise<ReadableStream> {
  signal.throwIfAborted()
  const opening = Promise.resolve(model.doStream(toCallOptions(step, signal)))
  const opened = await untilAborted(opening, signal).catch((error: unknown) => {
    // It may begin all the same.
    void opening.then(({ stream }) => released(stream), ignore)
    throw error
  })
  return opened.stream
}

/** The parts of a stream. However the loop over them ends, the stream is canceled, which closes its connection. */
async function* partsOf<T>(stream: ReadableStream<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  const reader = stream.getReader()
  try {
    while (true) {
      const { done, value } = await untilAborted(reader.read(), signal)
      if (done) return
      yield value
    }
  } finally {
    released(reader)
  }
}

/** Lets go of a stream without waiting for it, and without a word if it has already broken. */
function released(stream: { cancel(): Promise<void> }): void {
  stream.cancel().catch(ignore)
}

function ignore(): void {}
