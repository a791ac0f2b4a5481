// Decides what a later run does with an entry of the journal. Pure.

import { ErrandError, Failure, type StoredError } from '../core/errors.ts'
import { restoredError } from '../core/restored-error.ts'
import type { CallRecord } from '../entities/call.ts'
import type { Outcome } from '../entities/task.ts'
import type { OnInterrupt } from '../entities/task-fields.ts'

/**
 * `result`, `error`: return the recorded outcome. `anew`: repeat it as a new entry. `begin`: it was recorded but never begun.
 * `resume`: it is still open, continue to wait. `ask`: a person decides whether to repeat it.
 */
export type Replay = 'result' | 'error' | 'anew' | 'begin' | 'resume' | 'ask'

/**
 * The runs of one attempt replay every recorded outcome; a new attempt replays what completed, also if its result is lost, and repeats the
 * rest.
 * Within an attempt an interrupted call, which may have taken effect, follows its `onInterrupt` policy.
 */
export function replayOf(
  found:
    | (Pick<CallRecord, 'status' | 'attempt' | 'error' | 'kind'> & Partial<Pick<CallRecord, 'result' | 'resultLost'>>)
    | undefined,
  attempt: number,
  onInterrupt: OnInterrupt,
): Replay {
  if (found === undefined) return 'anew'
  if (found.status === 'completed' && (found.resultLost ?? null) !== null) return 'error'
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

/** What the request for a recorded entry without a usable result throws, in the first run as in every later one. */
export function replayedError(call: CallRecord): unknown {
  if (call.status === 'completed') return lostResult(call)
  const error = call.error as StoredError
  if (error.code !== 'CALL_INTERRUPTED' || error.brand !== undefined) return restoredError(error)
  return new ErrandError(
    'CALL_INTERRUPTED',
    `The call "${call.name}" was interrupted and may have happened: ${error.message}. Catch this, set onInterrupt: 'rerun', or retry the task.`,
    { callId: call.id, call: call.name },
  )
}

function lostResult({ id, name, resultLost }: CallRecord): Failure {
  return new Failure(
    `The call "${name}" was made, but its result could not be recorded: ${resultLost}. It is not made again, because it has had its effect. If it should be, retry the task with repeat: ["${id}"].`,
    { code: 'INVALID_RESULT', retry: false, details: { callId: id, call: name, reason: resultLost } },
  )
}
