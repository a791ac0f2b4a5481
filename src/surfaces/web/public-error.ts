// The part of an error that remote clients may see: code, message and details, without internals of the server.
import { ErrandError } from '../../core/errors.ts'
import { toStoredError } from '../../core/stored-error.ts'

export interface PublicError {
  code: string
  message: string
  details?: unknown
}

/** Converts anything thrown to its public part. */
export function publicError(thrown: unknown): PublicError {
  if (!ErrandError.isInstance(thrown))
    return { code: 'EXECUTION_ERROR', message: 'The operation failed inside the server.' }
  const { code, message } = thrown
  // The path of the ledger and its statements are not for clients.
  if (code.startsWith('LEDGER_')) {
    return { code, message: `The ledger is not available (${code}). The operator of the server can see the cause.` }
  }
  const systemCode = systemCodeOf(thrown.cause)
  if (systemCode !== undefined) return { code, message: `The operation failed inside the server (${systemCode}).` }
  const { error: _repeated, ...details } = thrown.details
  return { code, message, ...(Object.keys(details).length === 0 ? {} : { details: plain(details) }) }
}

/** Messages of system errors contain paths and addresses, so only their code is public. */
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
