// Options that take JSON.
import { messageOf } from '../../stored-error.ts'
import { misuse } from './arguments.ts'

/** @throws ErrandError INVALID_INPUT, with an example of what would do. */
export function jsonOption(option: string, text: string, example: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw misuse(`--${option} takes JSON, like '${example}': ${messageOf(error)}.`, { option, value: text })
  }
}

/** What a task came to: a JSON value in `--result`, or words. Undefined when neither is given. */
export function givenResult(json: string | undefined, words: readonly string[]): unknown {
  if (json !== undefined && words.length > 0)
    throw misuse(`The result is given twice: by --result and as "${words.join(' ')}".`)
  if (words.length > 0) return words.join(' ')
  return json === undefined ? undefined : jsonOption('result', json, '{"ok": true}')
}
