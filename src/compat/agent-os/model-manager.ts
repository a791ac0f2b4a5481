// Registers `model:llm` on a bus whose task manager was given no model: from language model objects, or registered by the program itself.
import { z } from 'zod'
import { type LanguageModelLike, languageModelSchema } from '../../agents/models/language-model.ts'
import { type ModelInfo, ModelRegistry } from '../../agents/models/model-registry.ts'
import { modelLlm } from '../../agents/operations/models.ts'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import { type AgentBus, requireBus } from './agent-bus.ts'

const optionsSchema = z.strictObject({
  model: languageModelSchema.optional(),
  models: z.record(z.string().min(1).max(100), languageModelSchema).default({}),
})
export interface ModelManagerOptions {
  /** The default model: a language model object of the AI SDK (specification v3 or v4). */
  model?: LanguageModelLike
  /** Further models by name, which `task:create` may use. */
  models?: Record<string, LanguageModelLike>
}

export interface ModelManager {
  /** The models in the order given; empty if the program registered `model:llm`. */
  list(): ModelInfo[]
  /** Unregisters `model:llm` of this manager. */
  close(): void
}

/**
 * Registers `model:llm`, before or after the task manager is created. Without models it only checks that `model:llm` is registered.
 *
 * @example
 * createModelManager(bus, { model: openai('gpt-5-mini') })
 * @throws ErrandError ALREADY_REGISTERED if models are given and `model:llm` is already registered; NO_MODEL if neither; UNKNOWN_OPTION,
 *   INVALID_INPUT.
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
      'There is no model: none was given, and `model:llm` is not registered. Pass `model`, or register the ability first.',
      {},
    )
  }
  return { list: () => [], close: () => {} }
}
