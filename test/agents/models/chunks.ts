// Helpers of the tests of models for streams of chunks.

import type { ModelFailureDetails } from '../../../src/agents/models/model-error.ts'
import type { ModelStepInput } from '../../../src/agents/models/step-schema.ts'
import { Failure } from '../../../src/core/errors.ts'

export const hello: ModelStepInput = { messages: [{ role: 'user', content: 'Hello' }] }

/** A signal that never aborts. */
export const never = (): AbortSignal => new AbortController().signal

export async function collect<T>(chunks: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const chunk of chunks) list.push(chunk)
  return list
}

/** The failure that the work ends with; anything else fails the test. */
export async function failureOf(work: Promise<unknown>): Promise<Failure & { details: ModelFailureDetails }> {
  const error = await work.then(
    () => 'nothing at all',
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Failure)) throw new Error(`expected a Failure, got ${String(error)}`)
  return error as Failure & { details: ModelFailureDetails }
}
