// Decides what a later run does with an entry of the journal. Pure.

import { briefError, ErrandError, Failure, type StoredError } from '../core/errors.ts'
import { restoredCause } from '../core/stored-error.ts'
import type { CallRecord } from '../entities/call.ts'
import type { Outcome } from '../entities/task.ts'
import type { OnInterrupt } from '../entities/task-fields.ts'

/**
 * `result`, `error`: return the recorded outcome. `anew`: repeat it as a new entry. `begin`: it was recorded but never begun.
 * `resume`: it is still open, continue to wait. `ask`: a person decides whether to repeat it.
 */
export type Replay = 'result' | 'error' | 'anew' | 'begin' | 'resume' | 'ask'

/**
 * The runs of one attempt replay every recorded outcome; a new attempt replays what completed and repeats the rest.
 * Within an attempt an interrupted call, which may have taken effect, follows its `onInterrupt` policy.
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

/** A wait for tasks of which one failed or was canceled: it may have been retried since. */
function isBrokenWait({ kind, result }: { kind: CallRecord['kind']; result?: unknown }): boolean {
  return (
    kind === 'wait' && (result as Array<Outcome | null>).some((each) => each !== null && each.status !== 'completed')
  )
}

/** The error that replays a recorded failure. */
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
  // The thrown error had a code; a later run throws the same one.
  return new Failure(error.message, { code, details, cause })
}
