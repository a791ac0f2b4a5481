// model:llm: one step of a model as a stream of its pieces. Drained, it is the whole answer.
import { defineAbility } from '../../bus/ability.ts'
import type { ModelRegistry } from '../../models/model-registry.ts'
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
