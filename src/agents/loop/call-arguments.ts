// The arguments of a call as the model wrote them: text that should be a JSON object, and may be anything.
import { ErrandError } from '../../core/errors.ts'
import { fromJson, toJson } from '../../core/json.ts'
import { parseJson } from '../../core/json-text.ts'
import { startOf, storableText } from '../../core/storable-text.ts'

export type CallArguments = { given: Record<string, unknown> } | { refusal: ErrandError }

/**
 * Parses the arguments; the call is refused if they are not a JSON object that a ledger can store. Empty text means no
 * arguments.
 */
export function readArguments(text: string): CallArguments {
  if (text.trim() === '') return { given: {} }
  try {
    const value = parseJson(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { given: fromJson(toJson(value, 'the arguments')) }
    }
  } catch (error) {
    if (ErrandError.isInstance(error)) {
      const why = error.message.startsWith('Cannot store')
        ? error.message
        : `Cannot store the arguments: ${error.message}.`
      return { refusal: refused(`${why} Call the tool again without it.`, text) }
    }
  }
  return { refusal: refused('The arguments are not a JSON object. Call the tool again with valid JSON.', text) }
}

/**
 * The params recorded with the call: the arguments, or the beginning of unreadable text. The step holds the whole text.
 */
export function paramsOf(text: string): unknown {
  const read = readArguments(text)
  return 'given' in read ? read.given : storableText(startOf(text, maxUnreadLength))
}

const maxUnreadLength = 10_000

function refused(message: string, text: string): ErrandError {
  return new ErrandError('INVALID_INPUT', message, { arguments: startOf(text, 200) })
}
