// Refusals of the engine in the words of the command line: which flag or command would help.
import { ErrandError, type ErrorCode } from '../../core/errors.ts'

type Details = Record<string, unknown>
export type Wordings = Partial<Record<ErrorCode, (details: Details) => string>>

/** What `work` resolves to; an error with one of these codes keeps all but its message. */
export async function rewording<T>(wordings: Wordings, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const wording = ErrandError.isInstance(error) ? wordings[error.code] : undefined
    if (!ErrandError.isInstance(error) || wording === undefined) throw error
    throw new ErrandError(error.code, wording(error.details), error.details, error)
  }
}
