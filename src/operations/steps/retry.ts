// Retry: gives a failed task another attempt, and in a group also its failed tasks.

import { ErrandError } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import type { CallRecord } from '../../entities/call.ts'
import type { TaskPolicy, TaskRecord } from '../../entities/task.ts'
import { type Op, type Reads, type Step, step } from '../../ledger/ledger.ts'
import { requireTransition } from '../../machines/task-edges.ts'
import type { TransitionData } from '../../machines/task-machine.ts'
import { belowCanceled, canceledAbove, futureDeadline } from './groups-above.ts'
import { loadToChange, type StepContext } from './step-context.ts'
import { transitionAll } from './transition.ts'

export interface RetryOptions {
  divergence?: TaskPolicy['divergence'] | undefined
  /** Ids of completed calls that the new attempt makes again. */
  repeat?: readonly string[] | undefined
}

/** FAILED → SUBMITTED. A group retries its failed children. The options apply until the next retry by hand. */
export function retry(id: string, ctx: StepContext, options: RetryOptions = {}): Step<void> {
  return step('retry', function* (tx) {
    const task = yield* loadToChange(tx, id)
    requireTransition(task, 'retry')
    const canceled = yield* canceledAbove(tx, id)
    if (canceled) throw belowCanceled(`retry ${id}`, canceled, task.parentId)
    const failed = [task, ...(task.group ? yield* failedIn(tx, id) : [])]
    const repeated = yield* repeatedCalls(tx, failed, options.repeat ?? [])
    yield* transitionAll(tx, failed, 'retry', ctx, (each) =>
      newAttempt(each, ctx, { ...options, repeat: repeated.get(each.id) }),
    )
  })
}

/** The calls to be made again, by task. @throws ErrandError NOT_FOUND, INVALID_INPUT for one that cannot be made again. */
function* repeatedCalls(
  tx: Reads,
  failed: readonly TaskRecord[],
  ids: readonly string[],
): Op<ReadonlyMap<string, string[]>> {
  const repeated = new Map<string, string[]>()
  for (const callId of new Set(ids)) {
    const call = yield* tx.call.get(callId)
    const task = failed.find(({ id }) => id === call?.taskId)
    if (call?.kind !== 'call' || task === undefined) {
      throw new ErrandError('NOT_FOUND', `The task to retry has no call ${callId}. \`calls\` lists them.`, { callId })
    }
    const why = whyNotRepeated(call, task) ?? (yield* newerThan(tx, call))
    if (why !== undefined) {
      throw new ErrandError('INVALID_INPUT', `Call ${callId} ("${call.name}") cannot be repeated: ${why}.`, { callId })
    }
    repeated.set(call.taskId, [...(repeated.get(call.taskId) ?? []), callId])
  }
  return repeated
}

function whyNotRepeated(
  { status, attempt, generation, startMessageId }: CallRecord,
  task: TaskRecord,
): string | undefined {
  if (status !== 'completed') return 'it has not completed, so that a new attempt makes it again in any case'
  if (attempt === 0) return 'another program saved it'
  if (generation !== task.generation) return 'it is of an earlier generation, of which nothing is requested any more'
  return startMessageId === null
    ? undefined
    : 'a model made it, and has read its result. Send the task a message instead'
}

/** A call that was made in place of this one is the one that a new attempt finds. */
function* newerThan(tx: Reads, call: CallRecord): Op<string | undefined> {
  const entries = yield* tx.call.list(call.taskId, ['call'])
  const newer = entries.findLast(
    ({ seq, name, ident, ordinal }) =>
      seq > call.seq && name === call.name && ident === call.ident && ordinal === call.ordinal,
  )
  return newer && `it was made again since, as ${newer.id}. Repeat that one`
}

/** The failed tasks of a group, except those below a canceled one. */
function* failedIn(tx: Reads, groupId: string): Op<TaskRecord[]> {
  const below = new Map((yield* tx.task.subtree(groupId)).map((task) => [task.id, task]))
  const isBelowCanceled = ({ parentId }: TaskRecord): boolean => {
    const parent = below.get(parentId as string)
    return parent !== undefined && (parent.status === 'canceled' || isBelowCanceled(parent))
  }
  return [...below.values()].filter((task) => task.status === 'failed' && !isBelowCanceled(task))
}

function newAttempt(failed: TaskRecord, { at }: StepContext, { divergence, repeat }: RetryOptions): TransitionData {
  const { divergence: _earlier, repeat: _repeated, ...policy } = failed.policy
  const chosen = omitUndefined({ divergence, repeat })
  return {
    set: {
      attempt: failed.attempt + 1,
      error: null,
      result: null,
      wakes: 0,
      crashes: 0,
      held: false,
      notBefore: null,
      policy: { ...policy, ...chosen },
      // A new attempt has no owner.
      owner: null,
      leaseMs: null,
      deadline: futureDeadline(failed, at),
    },
    data: { by: 'verb', ...chosen },
  }
}
