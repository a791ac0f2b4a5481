// Which session is meant where none is named: that of the task that calls, for a run is a session of its own.
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../errors.ts'

/** @throws ErrandError INVALID_INPUT { missing } */
export function requireSession(sessionId: string | undefined, { taskId }: Caller): string {
  const named = sessionId ?? taskId
  if (named !== undefined) return named
  throw new ErrandError('INVALID_INPUT', 'Name the session that this belongs to with `sessionId`.', {
    missing: 'sessionId',
  })
}
