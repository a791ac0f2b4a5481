// Errors as one line without a stack. The message of an ErrandError already describes what happened, why, and what would work.
import { inspect, types } from 'node:util'
import { ErrandError } from '../../core/errors.ts'
import { cleanLine, cleanText } from '../terminal/terminal-text.ts'

/** Accepts any thrown value, even one whose properties throw. */
export function errorText(thrown: unknown): string {
  try {
    return textFor(thrown)
  } catch {
    return 'Uncaught value, which cannot be shown'
  }
}

function textFor(thrown: unknown): string {
  if (ErrandError.isInstance(thrown)) return `${thrown.code}: ${cleanLine(thrown.message)}`
  if (isInterrupt(thrown)) return 'interrupted'
  // Errors of the lines come from another realm, where `instanceof Error` is false.
  if (types.isNativeError(thrown)) return `Uncaught ${thrown.name}: ${cleanText(thrown.message).trim()}`
  return `Uncaught ${cleanLine(typeof thrown === 'string' ? thrown : inspect(thrown))}`
}

const interruptCode = 'ERR_SCRIPT_EXECUTION_INTERRUPTED'

/** The error that Node throws when Ctrl-C interrupts a wait. */
export function interrupted(): Error {
  return Object.assign(new Error('interrupted'), { code: interruptCode })
}

/** Whether Ctrl-C interrupted the line. */
export function isInterrupt(thrown: unknown): boolean {
  return types.isNativeError(thrown) && Object.getOwnPropertyDescriptor(thrown, 'code')?.value === interruptCode
}
