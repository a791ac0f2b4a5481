// The abilities of models: one step of a language model, embeddings of texts, and the list of registered models.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { ErrandError } from '../../core/errors.ts'
import { type EmbeddingModelLike, embeddingModelName, embedTexts } from '../models/embedding-model.ts'
import { languageModelSchema } from '../models/language-model.ts'
import { type ModelRegistry, modelInfoSchema } from '../models/model-registry.ts'
import { type ModelStepOptions, streamModelStep } from '../models/model-step.ts'
import { collectAnswer, modelChunkSchema, modelStepInputSchema } from '../models/step-schema.ts'

/**
 * Chunks: `{ content }`, `{ reasoning }`, `{ toolCalls }`, and at the end `{ parts }`, if text and calls do not say all of the answer, and
 * `{ finish }`; `invoke` returns `{ content, toolCalls, parts?, finish }`. A failure is an EXECUTION_ERROR whose `cause` is the `Failure` of the step.
 */
export function modelLlm(registry: ModelRegistry, options: ModelStepOptions = {}) {
  return defineAbility({
    id: 'model:llm',
    description: 'Runs one step of a language model on a conversation and streams text, reasoning and tool calls.',
    input: modelStepInputSchema(),
    output: modelChunkSchema(),
    models: false,
    async *stream({ modelId, ...step }, { signal }) {
      const model = await registry.resolve(modelId)
      yield* streamModelStep(model, step, signal, options)
    },
    drain: (chunks) => collectAnswer(chunks),
  })
}

/** In order of registration. */
export function modelList(registry: ModelRegistry) {
  return defineAbility({
    id: 'model:list',
    access: 'read',
    description: 'Lists the registered language models and which one is the default.',
    input: z.strictObject({}),
    output: z.strictObject({ models: z.array(modelInfoSchema) }),
    handle: () => ({ models: registry.list() }),
  })
}

/**
 * A model is a live object, so only a program in the same process can call this: with `call`, not as JSON text. `registered` is
 * called after the registration.
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

/** Uses the engine's `embeddingModel`. Your own ability under this id replaces it. */
export function modelEmbed(model: EmbeddingModelLike) {
  return defineAbility({
    id: 'model:embed',
    description: 'Computes embedding vectors for texts.',
    input: z.strictObject({
      texts: z.array(z.string().min(1).max(100_000)).max(10_000),
      modelId: z.string().min(1).max(200).optional().describe('Default: the embedding model of the engine.'),
    }),
    output: z.object({ embeddings: z.array(z.array(z.number())), modelId: z.string() }),
    models: false,
    async handle({ texts, modelId }, { signal }) {
      const known = embeddingModelName(model)
      if (modelId !== undefined && modelId !== known && modelId !== model.modelId) {
        throw new ErrandError(
          'NO_MODEL',
          `There is no embedding model "${modelId}". Use "${known}", or omit \`modelId\`.`,
          {
            id: modelId,
            known: [known],
          },
        )
      }
      return { embeddings: await embedTexts(model, texts, signal), modelId: known }
    },
  })
}
