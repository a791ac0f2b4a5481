// What counts as a language model: any object of the AI SDK's specification v3 or v4, recognized by its shape. No
// package of that SDK is imported, so an application uses its own version, with any middleware.

import { z } from 'zod'
import { parse } from '../../core/parse.ts'
import { startOf } from '../../core/storable-text.ts'
import { typeName } from '../../core/type-name.ts'

/** A language model of the AI SDK (specification v3 or v4), as far as it is used here. */
export interface LanguageModelLike {
  readonly specificationVersion: 'v3' | 'v4'
  readonly provider: string
  readonly modelId: string
  // biome-ignore lint/suspicious/noExplicitAny: v3 and v4 each have their own call options, and both must be assignable.
  doStream(options: any): PromiseLike<{ stream: ReadableStream<any> }>
}

/** Why a value is not a usable model, as a sentence; undefined when it is one. */
function objectionTo(value: unknown): string | undefined {
  if (typeof value === 'string') {
    return `expected a language model object, got the string "${startOf(value, 100)}": register the model under a name and use that name`
  }
  if (typeof value !== 'object' || value === null) return `expected a language model object, got ${typeName(value)}`
  if ((value as Partial<LanguageModelLike>).specificationVersion === undefined) {
    return 'the object has no `specificationVersion`, so it is not a language model of the AI SDK'
  }
  return objectionToModel(value, 'language', 'doStream')
}

/** Checks that apply to models of every kind. */
export function objectionToModel(model: object, kind: string, method: string): string | undefined {
  const { specificationVersion: version, provider, modelId, [method]: step } = model as Record<string, unknown>
  if (version !== 'v3' && version !== 'v4') {
    return `the ${kind} model has specification ${typeof version === 'string' ? version : typeName(version)}, and v3 or v4 is required: update its provider package`
  }
  if (typeof step !== 'function') return `the ${kind} model has no \`${method}\` function`
  if (typeof provider !== 'string' || provider === '') return `the ${kind} model has no \`provider\` name`
  if (typeof modelId !== 'string' || modelId === '') return `the ${kind} model has no \`modelId\``
  return undefined
}

/** Validates a model. */
export const languageModelSchema: z.ZodType<LanguageModelLike, LanguageModelLike> = z.custom<LanguageModelLike>(
  isLanguageModel,
  { error: (issue) => objectionTo(issue.input) ?? 'is not a language model' },
)

/** @throws ErrandError INVALID_INPUT with the reason. */
export function requireLanguageModel(value: unknown, what = 'The model'): LanguageModelLike {
  return parse(languageModelSchema, value, what)
}

/** Whether the value is a model rather than the id of one. */
export function isLanguageModel(value: unknown): value is LanguageModelLike {
  return objectionTo(value) === undefined
}
