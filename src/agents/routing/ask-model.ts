// One question to a model, one text back. A model chosen by id, as an object or as a function becomes the same function
// here.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { requireText } from '../../core/parse.ts'
import { untilAborted } from '../../core/signals.ts'
import { type LanguageModelLike, requireLanguageModel } from '../models/language-model.ts'

export interface AskMessage {
  role: 'system' | 'user'
  content: string
}

/** Asks a model and resolves to the text of its answer. */
export type AskModel = (messages: AskMessage[], options?: { signal?: AbortSignal }) => Promise<string>

/** A model by its id on the bus (without a bus: by a name like `openai:gpt-5-mini`), a model object, or a function that calls one. */
export type ModelChoice = string | LanguageModelLike | AskModel

/** The part of a bus that is used: invoking abilities, JSON in and JSON out. */
export interface AskBus {
  invoke(abilityId: string): (json: string, options?: { signal?: AbortSignal }) => Promise<string>
  /** For a `model:llm` that only streams. */
  invokeStream?(abilityId: string): (json: string, options?: { signal?: AbortSignal }) => AsyncIterable<string>
}

export const askBusSchema = z.custom<AskBus>(
  (value) => typeof (value as AskBus | null)?.invoke === 'function',
  'expected a bus',
)

/**
 * Returns a function that asks the chosen model; without a choice the default one of `model:llm` on the bus.
 *
 * The function rejects with the reason of an aborted `signal`, even if the model ignores it. A model that cannot be found makes a
 * question reject with `NO_MODEL`: only when it is asked, because many messages find their task without a model.
 * @throws ErrandError INVALID_INPUT immediately for anything but a model.
 */
export function askModelOf(choice: ModelChoice | undefined, bus?: AskBus): AskModel {
  const ask = uncheckedAskOf(choice, bus)
  return async (messages, { signal } = {}) =>
    requireText(await answered(ask, messages, signal), 'the answer of the model')
}

function uncheckedAskOf(choice: ModelChoice | undefined, bus: AskBus | undefined): AskModel {
  if (typeof choice === 'function') return choice
  if (choice === '') throw new ErrandError('INVALID_INPUT', 'The id of a model must not be empty.', {})
  if (bus === undefined && typeof choice === 'string') return askNamed(choice)
  if (choice === undefined || typeof choice === 'string') return askThrough(bus, choice)
  return askDirectly(requireLanguageModel(choice))
}

/** Asks a model of a server, found by its name when it is first asked. */
function askNamed(name: string): AskModel {
  let model: Promise<LanguageModelLike> | undefined
  return async (messages, options) => {
    model ??= import('../models/named-model.ts').then(({ namedModel }) => namedModel(name, process.env))
    // After a failure the next question tries again.
    model.catch(() => {
      model = undefined
    })
    return askDirectly(await model)(messages, options)
  }
}

function askThrough(bus: AskBus | undefined, modelId: string | undefined): AskModel {
  return async (messages, options) => {
    if (bus === undefined) throw noModel()
    const input = { messages, ...(modelId === undefined ? {} : { modelId }) }
    const json = JSON.stringify(input)
    try {
      return textOf(await bus.invoke('model:llm')(json, options))
    } catch (error) {
      // A foreign `model:llm` may only stream.
      if (!ErrandError.isInstance(error) || error.code !== 'TYPE_MISMATCH' || bus.invokeStream === undefined)
        throw error
      return joined(bus.invokeStream('model:llm')(json, options))
    }
  }
}

async function joined(chunks: AsyncIterable<string>): Promise<string> {
  const { readChunk } = await import('../models/model-step.ts')
  let text = ''
  for await (const chunk of chunks) text += readChunk(JSON.parse(chunk)).content ?? ''
  return text
}

/** `model:llm` of our own bus returns `{ content, … }`; foreign ones return a JSON string, or the plain text. */
function textOf(reply: string): string {
  let value: unknown
  try {
    value = JSON.parse(reply)
  } catch {
    return reply
  }
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return reply
  const { content } = value as { content?: unknown }
  return typeof content === 'string' ? content : reply
}

function askDirectly(model: LanguageModelLike): AskModel {
  return async (messages, { signal = new AbortController().signal } = {}) => {
    const { runModelStep } = await import('../models/model-step.ts')
    return (await runModelStep(model, { messages }, signal)).content
  }
}

/** Rejects when the signal aborts, even if the model ignores it. */
async function answered(ask: AskModel, messages: AskMessage[], signal: AbortSignal | undefined): Promise<string> {
  if (signal === undefined) return ask(messages, {})
  signal.throwIfAborted()
  // Wrapped in an async function, so that a model that throws synchronously rejects too.
  return untilAborted((async () => ask(messages, { signal }))(), signal)
}

function noModel(): ErrandError {
  return new ErrandError(
    'NO_MODEL',
    'No model was chosen, and there is no bus with `model:llm`. Pass a bus, a model (its name like `openai:gpt-5-mini`, or an object), or a function (messages) => text.',
    {},
  )
}
