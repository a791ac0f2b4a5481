// Exo's IntentRecognizer: what a user wants done with tasks, in Exo's words. Recognising is the engine's own; here the model is
// found by Exo's name for it.
import { z } from 'zod'
import { parse } from '../../core/parse.ts'
import { isLanguageModel, type LanguageModelLike } from '../../models/language-model.ts'
import { type AskBus, type AskMessage, type AskModel, askBusSchema, askModelOf } from '../../routing/ask-model.ts'
import { createIntentRecognizer, type IntentAction, type IntentRecognizer as Recognizer } from '../../routing/intent.ts'
import { withExoErrors, withExoErrorsSync } from './task-error.ts'

/** What the user wants. */
export interface Intent {
  /** `unknown` when it is none of the others, or could not be told. */
  action: IntentAction
  /** The task it is about; null when none was named, or one that was not available. */
  task_id: string | null
  /** 0 to 1. */
  confidence: number
  /** What else was read in the input, as the model wrote it; `error` when the model could not be asked. */
  details: Record<string, unknown>
}

/** Asks the model of this name and resolves to the text of its answer. */
export type IntentProvider = (
  messages: AskMessage[],
  options: { model: string; signal?: AbortSignal },
) => Promise<string>

/** What a provider package of the AI SDK makes: it knows models by their names. */
export interface ModelProvider {
  languageModel(modelId: string): LanguageModelLike
}

export interface IntentRecognizerOptions {
  /** `provider:name`. Default `openai:gpt-4o-mini`. Not together with a model object, which is a model already. */
  model?: string
  /** Who is asked: a function, a provider of the AI SDK (which is asked for the `name`), or a model object. Default: the bus. */
  provider?: IntentProvider | ModelProvider | LanguageModelLike
  /** Whose `model:llm` is asked when there is no provider. Without either, every intent is `unknown`, with a `NO_MODEL` in `details.error`. */
  bus?: AskBus
  /** An intent with less confidence is `unknown`. Default: none. */
  threshold?: number
}

export interface RecognizeOptions {
  /** The tasks that may be meant: what `TaskManager.list` resolves to. Any other id becomes null. Default: any id is taken. */
  availableTasks?: ReadonlyArray<{ id: string; name: string; status?: string }>
  signal?: AbortSignal
}

const defaultModel = 'openai:gpt-4o-mini'

const isProvider = (value: unknown): value is ModelProvider =>
  typeof (value as Partial<ModelProvider> | null)?.languageModel === 'function'

const recognizerOptionsSchema = z
  .strictObject({
    model: z.string().trim().min(1).optional(),
    provider: z
      .custom<NonNullable<IntentRecognizerOptions['provider']>>(
        (value) => typeof value === 'function' || isProvider(value) || isLanguageModel(value),
        'expected a function (messages, { model }) => text, a provider of the AI SDK, or one of its language models (specification v3 or v4)',
      )
      .optional(),
    bus: askBusSchema.optional(),
    threshold: z.number().min(0).max(1).optional(),
  })
  .refine(({ provider, bus }) => !provider || !bus, 'a provider is asked in place of the bus: give one of the two')
  .refine(
    ({ provider, model }) => model === undefined || !isLanguageModel(provider),
    'a model object is the model: leave `model` out',
  )

/**
 * Classifies what users write into actions on tasks.
 *
 * @example
 * const recognizer = new IntentRecognizer({ provider: askMyModel })
 * const intent = await recognizer.recognize('Research our competitors', { availableTasks: await manager.list() })
 * if (intent.action === 'create_task') await manager.create(String(intent.details.name))
 */
export class IntentRecognizer {
  /** The name of the model that is asked. */
  readonly model: string
  readonly #recognizer: Recognizer

  /** @throws TaskError UNKNOWN_OPTION, INVALID_INPUT. */
  constructor(options: IntentRecognizerOptions = {}) {
    const { provider, bus, threshold, ...said } = withExoErrorsSync(() =>
      parse(recognizerOptionsSchema, options, 'new IntentRecognizer'),
    )
    const model = said.model ?? defaultModel
    this.model = isLanguageModel(provider) ? `${provider.provider}:${provider.modelId}` : model
    this.#recognizer = createIntentRecognizer({
      model: provider === undefined ? askModelOf(model, bus) : askOf(provider, model),
      ...(threshold === undefined ? {} : { threshold }),
    })
  }

  /**
   * Never rejects for what the model does: the intent is `unknown` then.
   * @throws TaskError UNKNOWN_OPTION, INVALID_INPUT; the reason of an aborted `signal`.
   */
  recognize(input: string, options: RecognizeOptions = {}): Promise<Intent> {
    return withExoErrors(async () => {
      const { taskId, ...intent } = await this.#recognizer.recognize(input, options)
      return { ...intent, task_id: taskId }
    })
  }
}

function askOf(provider: NonNullable<IntentRecognizerOptions['provider']>, model: string): AskModel {
  if (isLanguageModel(provider)) return askModelOf(provider)
  if (isProvider(provider)) {
    // Only when it is asked: a provider that does not know the name makes an intent `unknown`, like any other failure of it.
    return async (messages, options) => askModelOf(provider.languageModel(nameOf(model)))(messages, options)
  }
  return (messages, options) => provider(messages, { ...options, model })
}

/** `gpt-4o-mini` of `openai:gpt-4o-mini`; a name without a provider stays as it is. */
const nameOf = (model: string) => model.slice(model.indexOf(':') + 1)
