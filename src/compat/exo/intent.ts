// Exo's IntentRecognizer: classifies what a user wants done with tasks. The engine's recognizer does the work; here the model is found
// by Exo's name for it.
import { z } from 'zod'
import { isLanguageModel, type LanguageModelLike } from '../../agents/models/language-model.ts'
import {
  type AskBus,
  type AskMessage,
  type AskModel,
  askBusSchema,
  askModelOf,
} from '../../agents/routing/ask-model.ts'
import {
  createIntentRecognizer,
  type IntentAction,
  type IntentRecognizer as Recognizer,
} from '../../agents/routing/intent.ts'
import { parse } from '../../core/parse.ts'
import { withExoErrors, withExoErrorsSync } from './task-error.ts'

/** A recognized intent. */
export interface Intent {
  /** `unknown` if it is none of the others, or not recognized. */
  action: IntentAction
  /** The task; null if none was named, or one that was not available. */
  task_id: string | null
  /** 0 to 1. */
  confidence: number
  /** Further details as the model wrote them; `error` if the model failed. */
  details: Record<string, unknown>
}

/** Calls the model with this name and resolves to the text of its answer. */
export type IntentProvider = (
  messages: AskMessage[],
  options: { model: string; signal?: AbortSignal },
) => Promise<string>

/** A provider of the AI SDK, which returns models by name. */
export interface ModelProvider {
  languageModel(modelId: string): LanguageModelLike
}

export interface IntentRecognizerOptions {
  /** `provider:name`. Default `openai:gpt-4o-mini`. Not allowed with a model object, which already is one. */
  model?: string
  /** The model: a function, a provider of the AI SDK (called with the `name`), or a model object. Default: `model:llm` of the bus, else the server that `model` names. */
  provider?: IntentProvider | ModelProvider | LanguageModelLike
  /**
   * The bus whose `model:llm` is used. Without a bus and a provider, the model is that of a server: with the key in `<PROVIDER>_API_KEY`, and
   * the address in `<PROVIDER>_BASE_URL` or a known one. It needs the package `@ai-sdk/openai-compatible`.
   */
  bus?: AskBus
  /** An intent with less confidence becomes `unknown`. Default: none. */
  threshold?: number
}

export interface RecognizeOptions {
  /** The possible tasks: what `TaskManager.list` resolves to. Any other id becomes null. Default: any id is accepted. */
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
  .refine(({ provider, bus }) => !provider || !bus, 'pass either `provider` or `bus`')
  .refine(
    ({ provider, model }) => model === undefined || !isLanguageModel(provider),
    'a model object is the model: leave `model` out',
  )

/**
 * Classifies messages of users into actions on tasks.
 *
 * @example
 * const recognizer = new IntentRecognizer({ model: 'openai:gpt-4o-mini' }) // with the key in OPENAI_API_KEY
 * const intent = await recognizer.recognize('Research our competitors', { availableTasks: await manager.list() })
 * if (intent.action === 'create_task') await manager.create(String(intent.details.name))
 */
export class IntentRecognizer {
  /** The name of the model. */
  readonly model: string
  readonly #recognizer: Recognizer

  /** @throws TaskError UNKNOWN_OPTION, INVALID_INPUT. */
  constructor(options: IntentRecognizerOptions = {}) {
    const { provider, bus, threshold, ...rest } = withExoErrorsSync(() =>
      parse(recognizerOptionsSchema, options, 'new IntentRecognizer'),
    )
    const model = rest.model ?? defaultModel
    this.model = isLanguageModel(provider) ? `${provider.provider}:${provider.modelId}` : model
    this.#recognizer = createIntentRecognizer({
      model: provider === undefined ? askModelOf(model, bus) : askModelOfProvider(provider, model),
      ...(threshold === undefined ? {} : { threshold }),
    })
  }

  /**
   * Does not reject when the model fails: the intent is `unknown` then.
   * @throws TaskError UNKNOWN_OPTION, INVALID_INPUT; the reason of an aborted `signal`.
   */
  recognize(input: string, options: RecognizeOptions = {}): Promise<Intent> {
    return withExoErrors(async () => {
      const { taskId, ...intent } = await this.#recognizer.recognize(input, options)
      return { ...intent, task_id: taskId }
    })
  }
}

function askModelOfProvider(provider: NonNullable<IntentRecognizerOptions['provider']>, model: string): AskModel {
  if (isLanguageModel(provider)) return askModelOf(provider)
  if (isProvider(provider)) {
    // Called lazily, so that a provider that does not have the model makes the intent `unknown`, like any other failure.
    return async (messages, options) => askModelOf(provider.languageModel(modelNameOf(model)))(messages, options)
  }
  return (messages, options) => provider(messages, { ...options, model })
}

/** `gpt-4o-mini` of `openai:gpt-4o-mini`; a name without a provider stays unchanged. */
const modelNameOf = (model: string) => model.slice(model.indexOf(':') + 1)
