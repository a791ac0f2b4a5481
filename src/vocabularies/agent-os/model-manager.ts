// A `model:llm` for a bus whose task manager was given no model: made of language model objects, or brought by the program itself.
import { z } from 'zod'
import { modelLlm } from '../../abilities/model/index.ts'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import { type LanguageModelLike, languageModelSchema } from '../../models/language-model.ts'
import { type ModelInfo, ModelRegistry } from '../../models/model-registry.ts'
import { type AgentBus, requireBus } from './agent-bus.ts'

const optionsSchema = z.strictObject({
  model: languageModelSchema.optional(),
  models: z.record(z.string().min(1).max(100), languageModelSchema).default({}),
})
export interface ModelManagerOptions {
  /** The model of tasks that name none: a language model object of the AI SDK (specification v3 or v4). */
  model?: LanguageModelLike
  /** Further models by name; `task:create` may name them. */
  models?: Record<string, LanguageModelLike>
}

export interface ModelManager {
  /** In the order in which they were given; empty when somebody else answers `model:llm`. */
  list(): ModelInfo[]
  /** Takes the `model:llm` of this manager off the bus again. */
  close(): void
}

/**
 * Registers `model:llm`, before or after the task manager is created. Without a model it only makes sure that there is a
 * `model:llm` already.
 *
 * @example
 * createModelManager(bus, { model: openai('gpt-5-mini') })
 * @throws ErrandError ALREADY_REGISTERED when models are given and somebody answers `model:llm` already; NO_MODEL when neither is
 *   so; UNKNOWN_OPTION, INVALID_INPUT.
 */
export function createModelManager(bus: AgentBus, options: ModelManagerOptions = {}): ModelManager {
  requireBus(bus, 'createModelManager')
  const { model, models } = parse(optionsSchema, options, 'createModelManager')
  const registry = new ModelRegistry()
  if (model !== undefined) registry.register(`${model.provider}:${model.modelId}`, model, { default: true })
  for (const [id, each] of Object.entries(models)) registry.register(id, each)
  if (!registry.isEmpty) {
    const close = bus.register(modelLlm(registry))
    return { list: () => registry.list(), close }
  }
  if (!bus.has('model:llm')) {
    throw new ErrandError(
      'NO_MODEL',
      'There is no model: none was given, and nobody answers `model:llm`. Pass `model`, or register the ability first.',
      {},
    )
  }
  return { list: () => [], close: () => {} }
}
