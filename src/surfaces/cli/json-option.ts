// Options that take JSON.
import { misuse } from './arguments.ts'

/** @throws ErrandError INVALID_INPUT, with an example of what would do. */
export function jsonOption(option: string, text: string, example: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw misuse(
      `--${option} takes JSON, like '${example}': ${error instanceof Error ? error.message : String(error)}.`,
      { option, value: text },
    )
  }
}
