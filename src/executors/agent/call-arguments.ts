// The arguments of a call as its model wrote them: text that should be a JSON object, and may be anything.
import { ErrandError } from '../../core/errors.ts'
import { fromJson, jsonObject, toJson } from '../../core/json.ts'
import { storableText } from '../../core/storable-text.ts'

export type CallArguments = { given: Record<string, unknown> } | { refusal: ErrandError }

/** What is no JSON object, or none that a ledger keeps, refuses the call. A model that gives no arguments gives none of them. */
export function readArguments(text: string): CallArguments {
  if (text.trim() === '') return { given: {} }
  const value = jsonObject(text)
  if (value === undefined) {
    return { refusal: refused('The arguments are not a JSON object. Call it again with valid JSON.', text) }
  }
  try {
    return { given: fromJson(toJson(value, 'the arguments')) }
  } catch (error) {
    return { refusal: refused(`${(error as Error).message} Call it again without that.`, text) }
  }
}

/** What the call is recorded with: what was given, or the beginning of a text that could not be read. The step has all of it. */
export function paramsOf(text: string): unknown {
  const read = readArguments(text)
  return 'given' in read ? read.given : storableText(text.slice(0, maxUnreadLength))
}

const maxUnreadLength = 10_000

function refused(message: string, text: string): ErrandError {
  return new ErrandError('INVALID_INPUT', message, { arguments: text.slice(0, 200) })
}
