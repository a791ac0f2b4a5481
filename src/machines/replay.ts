// What a repeated run does with what the journal knows: the identity rule's second half, as a pure verdict.

import { briefError, ErrandError, Failure, type StoredError } from '../core/errors.ts'
import { restoredCause } from '../core/stored-error.ts'
import type { CallRecord } from '../entities/call.ts'
import type { Outcome } from '../entities/task.ts'
import type { OnInterrupt } from '../entities/task-fields.ts'

/**
 * `result`, `error`: give the recorded outcome. `anew`: do it again as a new entry. `begin`: it was recorded and never begun.
 * `resume`: it is still open, go on waiting.
 * `ask`: a person decides whether to do it again.
 */
export type Replay = 'result' | 'error' | 'anew' | 'begin' | 'resume' | 'ask'

/**
 * The runs of one attempt replay every recorded outcome; a new attempt replays what completed and does the rest anew.
 * Within an attempt, an interrupted call follows its policy: it may have happened.
 */
export function replayOf(
  found: (Pick<CallRecord, 'status' | 'attempt' | 'error' | 'kind'> & { result?: unknown }) | undefined,
  attempt: number,
  onInterrupt: OnInterrupt,
): Replay {
  if (found === undefined) return 'anew'
  if (found.status === 'completed') return found.attempt < attempt && isBrokenWait(found) ? 'anew' : 'result'
  if (found.status === 'pending') return found.kind === 'call' ? 'begin' : 'resume'
  if (found.status === 'in_progress') return 'anew'
  if (found.attempt < attempt || found.error?.code === 'RUN_ENDED') return 'anew'
  if (found.kind !== 'call' || found.error?.code !== 'CALL_INTERRUPTED') return 'error'
  if (onInterrupt === 'rerun') return 'anew'
  return onInterrupt === 'ask' ? 'ask' : 'error'
}

/** A wait for tasks of which one failed or was canceled: they may have been tried again since. */
function isBrokenWait({ kind, result }: { kind: CallRecord['kind']; result?: unknown }): boolean {
  return (
    kind === 'wait' && (result as Array<Outcome | null>).some((each) => each !== null && each.status !== 'completed')
  )
}

/** A recorded failure as it is thrown again; its cause is what was thrown first, or what lay below that. */
export function replayedError(call: CallRecord): Error {
  const error = call.error as StoredError
  const { code, details } = error
  const cause = error.cause && restoredCause(error.cause)
  if (error.final) return new Failure(error.message, { code, retry: false, details, cause })
  if (error.code === 'CALL_INTERRUPTED') {
    return new ErrandError(
      'CALL_INTERRUPTED',
      `The call "${call.name}" was interrupted and may have happened: ${error.message}. Catch this, set onInterrupt: 'rerun', or retry the task.`,
      { callId: call.id, call: call.name },
    )
  }
  if (error.code === 'TIMEOUT' || error.code === 'CALL_FAILED') {
    const known = { callId: call.id, call: call.name, error: briefError(error) }
    return new ErrandError(error.code, error.message, known, restoredCause(error))
  }
  // Whoever threw it gave it a code: a repeated run sees the same one.
  return new Failure(error.message, { code, details, cause })
}
