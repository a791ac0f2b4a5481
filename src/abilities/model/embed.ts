// model:embed: texts as vectors, for whoever compares them by meaning.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { ErrandError } from '../../errors.ts'
import { type EmbeddingModelLike, embeddingModelName, embedTexts } from '../../models/embedding-model.ts'

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
