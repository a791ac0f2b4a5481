// What counts as an embedding model: any object that speaks the AI SDK's embedding model specification v3 or v4, told by its shape,
// and how texts are given to it: no more at once than it takes.
import { z } from 'zod'
import { ErrandError } from '../core/errors.ts'
import { kindOf, parse } from '../core/parse.ts'
import { objectionToModel } from './language-model.ts'

/** An embedding model of the AI SDK (specification v3 or v4), as far as it is used here. */
export interface EmbeddingModelLike {
  readonly specificationVersion: 'v3' | 'v4'
  readonly provider: string
  readonly modelId: string
  /** Texts that it takes at once; undefined: any number. */
  readonly maxEmbeddingsPerCall?: PromiseLike<number | undefined> | number | undefined
  // biome-ignore lint/suspicious/noExplicitAny: v3 and v4 each have their own call options, and both must be assignable.
  doEmbed(options: any): PromiseLike<{ embeddings: number[][] }>
}

/** Why a value is no usable model, in a sentence; undefined when it is one. */
function objectionTo(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return `expected an embedding model object, got ${kindOf(value)}`
  return objectionToModel(value, 'embedding', 'doEmbed')
}

const embeddingModelSchema: z.ZodType<EmbeddingModelLike> = z.custom<EmbeddingModelLike>(
  (value) => objectionTo(value) === undefined,
  { error: (issue) => objectionTo(issue.input) ?? 'is no embedding model' },
)

/** @throws ErrandError INVALID_INPUT that says what is wrong with it. */
export function requireEmbeddingModel(value: unknown, what = 'The embedding model'): EmbeddingModelLike {
  return parse(embeddingModelSchema, value, what)
}

/** `provider:model`: vectors of different models are kept apart by it. */
export function embeddingModelName({ provider, modelId }: EmbeddingModelLike): string {
  return `${provider}:${modelId}`
}

/**
 * A vector for each text, in order.
 * @throws ErrandError EXECUTION_ERROR { modelId } for an answer that does not fit the question; whatever the model throws.
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
        `The embedding model ${embeddingModelName(model)} was given ${values.length} texts and answered with ${Array.isArray(embeddings) ? embeddings.length : 'no'} vectors.`,
        { modelId: embeddingModelName(model) },
      )
    }
    vectors.push(...embeddings)
  }
  return vectors
}
