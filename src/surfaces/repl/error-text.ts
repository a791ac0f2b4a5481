// What went wrong, in one line without a stack. An error of ours says in its message what happened, why, and what would work.
import { inspect, types } from 'node:util'
import { ErrandError } from '../../core/errors.ts'
import { cleanLine, cleanText } from '../../terminal/terminal-text.ts'

/** Anything may be thrown, even what throws when it is looked at. */
export function errorText(thrown: unknown): string {
  try {
    return wordsOf(thrown)
  } catch {
    return 'Uncaught, and what was thrown cannot be shown'
  }
}

function wordsOf(thrown: unknown): string {
  if (ErrandError.isInstance(thrown)) return `${thrown.code}: ${cleanLine(thrown.message)}`
  if (isInterrupt(thrown)) return 'interrupted'
  // Errors of the lines themselves belong to another realm, in which `instanceof` finds no `Error` of this one.
  if (types.isNativeError(thrown)) return `Uncaught ${thrown.name}: ${cleanText(thrown.message).trim()}`
  return `Uncaught ${cleanLine(typeof thrown === 'string' ? thrown : inspect(thrown))}`
}

const interruptCode = 'ERR_SCRIPT_EXECUTION_INTERRUPTED'

/** What Node throws when Ctrl-C breaks off a wait. */
export function interrupted(): Error {
  return Object.assign(new Error('interrupted'), { code: interruptCode })
}

/** Ctrl-C broke off what was waited for. */
export function isInterrupt(thrown: unknown): boolean {
  return types.isNativeError(thrown) && Object.getOwnPropertyDescriptor(thrown, 'code')?.value === interruptCode
}
