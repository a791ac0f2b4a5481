// What counts as an embedding model: any object of the AI SDK's embedding model specification v3 or v4, recognized by
// its shape. Texts are passed to it in batches of at most its own limit.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import { typeName } from '../../core/type-name.ts'
import { objectionToModel } from './language-model.ts'

/** An embedding model of the AI SDK (specification v3 or v4), as far as it is used here. */
export interface EmbeddingModelLike {
  readonly specificationVersion: 'v3' | 'v4'
  readonly provider: string
  readonly modelId: string
  /** Maximum number of texts per call; undefined: any number. */
  readonly maxEmbeddingsPerCall?: PromiseLike<number | undefined> | number | undefined
  // biome-ignore lint/suspicious/noExplicitAny: v3 and v4 each have their own call options, and both must be assignable.
  doEmbed(options: any): PromiseLike<{ embeddings: number[][] }>
}

/** Why a value is not a usable model, as a sentence; undefined when it is one. */
function objectionTo(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return `expected an embedding model object, got ${typeName(value)}`
  return objectionToModel(value, 'embedding', 'doEmbed')
}

const embeddingModelSchema: z.ZodType<EmbeddingModelLike> = z.custom<EmbeddingModelLike>(
  (value) => objectionTo(value) === undefined,
  { error: (issue) => objectionTo(issue.input) ?? 'is not an embedding model' },
)

/** @throws ErrandError INVALID_INPUT with the reason. */
export function requireEmbeddingModel(value: unknown, what = 'The embedding model'): EmbeddingModelLike {
  return parse(embeddingModelSchema, value, what)
}

/** `provider:model`: separates vectors of different models. */
export function embeddingModelName({ provider, modelId }: EmbeddingModelLike): string {
  return `${provider}:${modelId}`
}

/**
 * A vector for each text, in order.
 * @throws ErrandError EXECUTION_ERROR { modelId } for an answer with another number of vectors; any error of the model.
 */
export async function embedTexts(
  model: EmbeddingModelLike,
  texts: readonly string[],
  abortSignal: AbortSignal,
): Promise<number[][]> {
  const most = Math.max(1, (await model.maxEmbeddingsPerCall) ?? texts.length)
  const vectors: number[][] = []
  for (let at = 0; at < texts.length; at += most) {
    const values = texts.slice(at, at + most)
    const { embeddings } = await model.doEmbed({ values, abortSignal })
    if (!Array.isArray(embeddings) || embeddings.length !== values.length) {
      throw new ErrandError(
        'EXECUTION_ERROR',
        `The embedding model ${embeddingModelName(model)} received ${values.length} texts and returned ${Array.isArray(embeddings) ? embeddings.length : 'no'} vectors.`,
        { modelId: embeddingModelName(model) },
      )
    }
    for (const vector of embeddings) vectors.push(vector)
  }
  return vectors
}
