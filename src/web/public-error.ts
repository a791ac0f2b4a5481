// An error as a client far away may know it: a code, a message and details, and nothing of how or where this server runs.
import { ErrandError } from '../core/errors.ts'
import { toStoredError } from '../core/stored-error.ts'

export interface PublicError {
  code: string
  message: string
  details?: unknown
}

/** What a client may know of an error. */
export function publicError(thrown: unknown): PublicError {
  if (!ErrandError.isInstance(thrown)) return { code: 'EXECUTION_ERROR', message: 'It failed inside the server.' }
  const { code, message } = thrown
  // Where the ledger lies and what was asked of it is nobody's business.
  if (code.startsWith('LEDGER_')) {
    return { code, message: `The ledger could not be used (${code}). Whoever runs the server can see why.` }
  }
  const systemCode = systemCodeOf(thrown.cause)
  if (systemCode !== undefined) return { code, message: `It failed inside the server (${systemCode}).` }
  const { error: _sameAgain, ...details } = thrown.details
  return { code, message, ...(Object.keys(details).length === 0 ? {} : { details: plain(details) }) }
}

/** Errors of the system have paths and addresses in their text. */
function systemCodeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || ErrandError.isInstance(cause)) return undefined
  const { syscall } = cause as { syscall?: unknown }
  return typeof syscall === 'string' ? toStoredError(cause, 'EXECUTION_ERROR').code : undefined
}

function plain(details: Record<string, unknown>): unknown {
  try {
    return JSON.parse(JSON.stringify(details)) as unknown
  } catch {
    return {}
  }
}
