// The abilities of models: a step of a language model, texts as vectors, and which models there are.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { ErrandError } from '../../core/errors.ts'
import { type EmbeddingModelLike, embeddingModelName, embedTexts } from '../../models/embedding-model.ts'
import { languageModelSchema } from '../../models/language-model.ts'
import { type ModelRegistry, modelInfoSchema } from '../../models/model-registry.ts'
import { streamModelStep } from '../../models/model-step.ts'
import { collectAnswer, modelChunkSchema, modelStepInputSchema } from '../../models/step-schema.ts'

/**
 * Chunks: `{ content }`, `{ reasoning }`, `{ toolCalls }`, and at the end `{ finish }`; `invoke` gives
 * `{ content, toolCalls, finish }`. A failure is an EXECUTION_ERROR whose `cause` is the `Failure` of the step.
 */
export function modelLlm(registry: ModelRegistry) {
  return defineAbility({
    id: 'model:llm',
    description:
      'Asks a language model to take one step in a conversation: text, reasoning and calls of tools as they come.',
    input: modelStepInputSchema,
    output: modelChunkSchema,
    models: false,
    async *stream({ modelId, ...step }, { signal }) {
      const model = await registry.resolve(modelId)
      yield* streamModelStep(model, step, signal)
    },
    drain: (chunks) => collectAnswer(chunks),
  })
}

/** In the order in which they were registered. */
export function modelList(registry: ModelRegistry) {
  return defineAbility({
    id: 'model:list',
    access: 'read',
    description: 'Lists the registered language models and says which one is the default.',
    input: z.strictObject({}),
    output: z.strictObject({ models: z.array(modelInfoSchema) }),
    handle: () => ({ models: registry.list() }),
  })
}

/**
 * A model is a live object, so only a program in the same process can call this: with `call`, not as JSON text. `registered` is
 * called when the registry has got a model.
 */
export function modelRegister(registry: ModelRegistry, registered: () => void = () => {}) {
  return defineAbility({
    id: 'model:register',
    description: 'Registers a language model object (AI SDK specification v3 or v4) under a name.',
    input: z.strictObject({ id: z.string(), model: languageModelSchema, default: z.boolean().optional() }),
    output: z.strictObject({ id: z.string() }),
    models: false,
    handle({ id, model, default: isDefault }) {
      registry.register(id, model, { default: isDefault })
      registered()
      return { id }
    },
  })
}

/** Answered by the engine's own `embeddingModel`; an ability of yours under this id takes its place. */
export function modelEmbed(model: EmbeddingModelLike) {
  return defineAbility({
    id: 'model:embed',
    description: 'Turns texts into vectors that are near each other where the texts mean the same.',
    input: z.strictObject({
      texts: z.array(z.string().min(1).max(100_000)).max(10_000),
      modelId: z.string().min(1).max(200).optional().describe('Default: the model that there is.'),
    }),
    output: z.object({ embeddings: z.array(z.array(z.number())), modelId: z.string() }),
    models: false,
    async handle({ texts, modelId }, { signal }) {
      const known = embeddingModelName(model)
      if (modelId !== undefined && modelId !== known && modelId !== model.modelId) {
        throw new ErrandError('NO_MODEL', `There is no embedding model "${modelId}". Use "${known}", or name none.`, {
          id: modelId,
          known: [known],
        })
      }
      return { embeddings: await embedTexts(model, texts, signal), modelId: known }
    },
  })
}
