// What went wrong, in one line without a stack. An error of ours says in its message what happened, why, and what would work.
import { types } from 'node:util'
import { ErrandError } from '../../errors.ts'
import { cleanLine, cleanText } from '../cli/terminal-text.ts'

export function errorWords(thrown: unknown): string {
  if (ErrandError.isInstance(thrown)) return `${thrown.code}: ${cleanLine(thrown.message)}`
  if (isInterrupt(thrown)) return 'interrupted'
  // Errors of the lines themselves belong to another realm, in which `instanceof` finds no `Error` of this one.
  if (types.isNativeError(thrown)) return `Uncaught ${thrown.name}: ${cleanText(thrown.message).trim()}`
  return `Uncaught ${cleanLine(typeof thrown === 'string' ? thrown : String(thrown))}`
}

const interruptCode = 'ERR_SCRIPT_EXECUTION_INTERRUPTED'

/** What Node throws when Ctrl-C breaks off a wait. */
export function interrupted(): Error {
  return Object.assign(new Error('interrupted'), { code: interruptCode })
}

/** Ctrl-C broke off what was waited for. */
export function isInterrupt(thrown: unknown): boolean {
  return types.isNativeError(thrown) && (thrown as { code?: unknown }).code === interruptCode
}
