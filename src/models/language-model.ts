// What counts as a model here: any object that speaks the AI SDK's language model specification v3 or v4, told by its shape.
// No package of that SDK is imported, so an application brings the version it has, wrapped in whatever middleware it likes.
import { z } from 'zod'
import { kindOf, parse } from '../core/parse.ts'

/** A language model of the AI SDK (specification v3 or v4), as far as it is used here. */
export interface LanguageModelLike {
  readonly specificationVersion: 'v3' | 'v4'
  readonly provider: string
  readonly modelId: string
  // biome-ignore lint/suspicious/noExplicitAny: v3 and v4 each have their own call options, and both must be assignable.
  doStream(options: any): PromiseLike<{ stream: ReadableStream<any> }>
}

/** Why a value is no usable model, in a sentence; undefined when it is one. */
function objectionTo(value: unknown): string | undefined {
  if (typeof value === 'string') {
    return `expected a language model object, got the string "${value.slice(0, 100)}": register the model under a name and use that name`
  }
  if (typeof value !== 'object' || value === null) return `expected a language model object, got ${kindOf(value)}`
  if ((value as Partial<LanguageModelLike>).specificationVersion === undefined) {
    return 'the object has no `specificationVersion`, so it is no language model of the AI SDK'
  }
  return objectionToModel(value, 'language', 'doStream')
}

/** What models of every kind have in common. */
export function objectionToModel(model: object, kind: string, method: string): string | undefined {
  const { specificationVersion: version, provider, modelId, [method]: step } = model as Record<string, unknown>
  if (version !== 'v3' && version !== 'v4') {
    return `the ${kind} model speaks specification ${typeof version === 'string' ? version : kindOf(version)}, and v3 or v4 is needed: update its provider package`
  }
  if (typeof step !== 'function') return `the ${kind} model has no \`${method}\` function`
  if (typeof provider !== 'string' || provider === '') return `the ${kind} model has no \`provider\` name`
  if (typeof modelId !== 'string' || modelId === '') return `the ${kind} model has no \`modelId\``
  return undefined
}

/** The door for models. */
export const languageModelSchema: z.ZodType<LanguageModelLike, LanguageModelLike> = z.custom<LanguageModelLike>(
  isLanguageModel,
  { error: (issue) => objectionTo(issue.input) ?? 'is no language model' },
)

/** @throws ErrandError INVALID_INPUT that says what is wrong with it. */
export function requireLanguageModel(value: unknown, what = 'The model'): LanguageModelLike {
  return parse(languageModelSchema, value, what)
}

/** Tells a model from the id of one. */
export function isLanguageModel(value: unknown): value is LanguageModelLike {
  return objectionTo(value) === undefined
}
