// Replaces the messages of refusals, so that they name the flag or command that would help.
import { ErrandError, type ErrorCode } from '../../core/errors.ts'

type Details = Record<string, unknown>
export type Wordings = Partial<Record<ErrorCode, (details: Details) => string>>

/** Returns the result of `work`. An error with one of these codes gets another message, and keeps its code, details and cause. */
export async function rewording<T>(wordings: Wordings, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const wording = ErrandError.isInstance(error) ? wordings[error.code] : undefined
    if (!ErrandError.isInstance(error) || wording === undefined) throw error
    throw new ErrandError(error.code, wording(error.details), error.details, error)
  }
}
