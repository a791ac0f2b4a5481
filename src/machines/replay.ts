// What a repeated run does with what the journal knows: the identity rule's second half, as a pure verdict.
import type { CallRecord } from '../entities/call.ts'
import type { OnInterrupt } from '../entities/task.ts'
import { ErrandError, Failure, type StoredError } from '../errors.ts'

/**
 * `result`, `error`: give the recorded outcome. `anew`: do it again as a new entry. `resume`: it is still open, go on waiting.
 * `ask`: a person decides whether to do it again.
 */
export type Replay = 'result' | 'error' | 'anew' | 'resume' | 'ask'

/**
 * The runs of one attempt replay every recorded outcome; a new attempt replays what completed and does the rest anew.
 * Within an attempt, an interrupted call follows its policy: it may have happened.
 */
export function replayOf(
  found: Pick<CallRecord, 'status' | 'attempt' | 'error' | 'kind'> | undefined,
  attempt: number,
  onInterrupt: OnInterrupt,
): Replay {
  if (found === undefined) return 'anew'
  if (found.status === 'completed') return 'result'
  if (found.status === 'pending' || found.status === 'in_progress') return found.kind === 'call' ? 'anew' : 'resume'
  if (found.attempt < attempt || found.error?.code === 'RUN_ENDED') return 'anew'
  if (found.kind !== 'call' || found.error?.code !== 'CALL_INTERRUPTED') return 'error'
  if (onInterrupt === 'rerun') return 'anew'
  return onInterrupt === 'ask' ? 'ask' : 'error'
}

/** A recorded failure as it is thrown again. */
export function replayedError(call: CallRecord): Error {
  const error = call.error as StoredError
  if (error.final) return new Failure(error.message, { code: error.code, retry: false, details: error.details })
  if (error.code === 'CALL_INTERRUPTED') {
    return new ErrandError(
      'CALL_INTERRUPTED',
      `The call "${call.name}" was interrupted and may have happened: ${error.message}. Catch this, set onInterrupt: 'rerun', or retry the task.`,
      { callId: call.id, call: call.name },
    )
  }
  const code = error.code === 'TIMEOUT' ? 'TIMEOUT' : 'CALL_FAILED'
  return new ErrandError(code, error.message, { callId: call.id, call: call.name, error })
}
