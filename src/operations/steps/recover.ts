// Recovers what a lost engine left, in two steps. The first checks that the engine is lost and ends its runs, so that nothing new starts in
// them. Then the commands that they left running are ended (actors/recovery.ts). The second step closes the runs and, once, their calls in
// flight. Any engine can continue between the two. Also checks of tasks that are suspected of crashing their engine: what clears one, and
// whether one must run alone.

import type { StoredError } from '../../core/errors.ts'
import { type CallRecord, notesProcess } from '../../entities/call.ts'
import { isLiveRun, type RunRecord } from '../../entities/run.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { type CrashFacts, chargedBy } from '../../machines/crashes.ts'
import { closeEndedRun, type FormerHolder, releaseRun } from './close-run.ts'
import { isInFlight } from './journal-closing.ts'
import type { StepContext } from './step-context.ts'
import { transition } from './transition.ts'

/** An engine whose runs are taken over. */
export interface LostEngine extends FormerHolder {
  /** The engine may be alive, and counts as lost only if its lease still ends at this time; null for one that has ended. */
  onlyIfLeaseEndsAt: number | null
}

/** Null if the engine is not lost. */
function* loadRuns(tx: Reads, { instanceId, onlyIfLeaseEndsAt }: LostEngine): Op<RunRecord[] | null> {
  const instance = yield* tx.instance.get(instanceId)
  const showsUp = onlyIfLeaseEndsAt !== null && instance !== undefined && instance.leaseUntil !== onlyIfLeaseEndsAt
  return showsUp ? null : yield* tx.run.openOf(instanceId)
}

interface Live {
  task: TaskRecord
  run: RunRecord
  facts: CrashFacts
}

/**
 * Ends the live runs of a lost engine: their tasks are WAITING for another holder, or FAILED as POISONED. Returns the calls of these tasks
 * whose processes may still run; null if the engine is not lost.
 */
export function endRunsOf(lost: LostEngine, maxCrashes: number, ctx: StepContext): Step<CallRecord[] | null> {
  return step('end runs of a lost engine', function* (tx) {
    const runs = yield* loadRuns(tx, lost)
    if (runs === null) return null
    const left: CallRecord[] = []
    const live: Live[] = []
    for (const run of runs) {
      const task = (yield* tx.task.get(run.taskId)) as TaskRecord
      const calls = yield* tx.call.list(task.id, ['call'])
      for (const call of calls) if (mayHaveLeftProcess(call)) left.push(call)
      if (!isLiveRun(run)) continue
      const facts = {
        crashes: task.crashes,
        callInFlight: calls.some((call) => call.run === run.number && isInFlight(call)),
        progressed: yield* hasProgressed(tx, run),
      }
      live.push({ task, run, facts })
    }
    if (lost.reason === 'released') for (const { task } of live) yield* releaseRun(tx, task, 'released', ctx)
    else yield* endCrashed(tx, live, lost, maxCrashes, ctx)
    return left
  })
}

/** The call noted a process and did not settle by itself: it is in flight, or was closed while its function still worked. */
function mayHaveLeftProcess({ status, details, error }: CallRecord): boolean {
  return notesProcess(details) && (status === 'in_progress' || error?.code === 'CALL_INTERRUPTED')
}

function* endCrashed(tx: Tx, live: readonly Live[], lost: LostEngine, maxCrashes: number, ctx: StepContext): Op<void> {
  // A parked run did nothing that could have crashed the engine.
  for (const { task, run } of live) if (run.status !== 'live') yield* releaseRun(tx, task, 'interrupted', ctx)
  const working = live.filter(({ run }) => run.status === 'live')
  const charged = chargedBy(
    working.map(({ facts }) => facts),
    maxCrashes,
  )
  for (const [index, { task, facts }] of working.entries()) {
    const crashes = (facts.progressed ? 0 : task.crashes) + (charged[index] ? 1 : 0)
    // Only a run that was alone, or beside its own descendants, is certain to have caused the crash: a suspect that died beside others is
    // tried once more, alone (admit.ts).
    const isSuspect = charged[index] && !facts.progressed && crashes >= maxCrashes
    if (isSuspect && (yield* isAlone(tx, task, working))) yield* poison(tx, task, crashes, lost, ctx)
    else yield* releaseRun(tx, task, 'interrupted', ctx, crashes)
  }
}

function* isAlone(tx: Reads, { id }: TaskRecord, working: readonly Live[]): Op<boolean> {
  for (const { task } of working) {
    if (task.id !== id && !(yield* tx.task.ancestors(task.id)).some((above) => above.id === id)) return false
  }
  return true
}

/** Fails a task whose runs died repeatedly without progress. */
function* poison(tx: Tx, task: TaskRecord, crashes: number, lost: LostEngine, ctx: StepContext): Op<void> {
  const error: StoredError = {
    code: 'POISONED',
    message: `${crashes} runs in a row died with nothing recorded in between: the task seems to crash its process`,
    details: { crashes, lastInstance: lost.instanceId },
  }
  yield* transition(tx, task, 'fail', ctx, { set: { crashes, error }, outcome: 'interrupted' })
}

/**
 * Closes the ended runs of a lost engine, except those of `kept` tasks, and with the last of them the engine. Returns how many were closed.
 * An engine that comes back meanwhile closes its runs itself.
 */
export function closeRunsOf(lost: LostEngine, kept: ReadonlySet<string>, ctx: StepContext): Step<number> {
  return step('close runs of a lost engine', function* (tx) {
    const runs = (yield* loadRuns(tx, lost)) ?? []
    const ended = runs.filter((run) => run.status === 'ending' && !kept.has(run.taskId))
    for (const run of ended) yield* closeEndedRun(tx, (yield* tx.task.get(run.taskId)) as TaskRecord, ctx, lost)
    if (ended.length === runs.length) yield* tx.instance.end(lost.instanceId, ctx.at)
    return ended.length
  })
}

/**
 * Whether an outcome or a message of this run is in the ledger, or a descendant has completed during it. A call that has only begun is not
 * progress.
 */
function* hasProgressed(tx: Reads, run: RunRecord): Op<boolean> {
  const isOfRun = (each: { run: number | null }): boolean => each.run === run.number
  const entries = yield* tx.call.list(run.taskId)
  if (entries.some((entry) => isOfRun(entry) && (entry.status === 'completed' || entry.status === 'failed')))
    return true
  if ((yield* tx.message.list(run.taskId)).some(isOfRun)) return true
  return (yield* tx.task.subtree(run.taskId)).some(
    ({ status, completedAt }) => status === 'completed' && (completedAt as number) >= run.startedAt,
  )
}

/** A task that this engine runs, has had `maxCrashes` crashes and is not cleared: only its descendants may start beside it. */
export function* solitaryTask(tx: Reads, instanceId: string, maxCrashes: number): Op<TaskRecord | undefined> {
  for (const run of yield* tx.run.openOf(instanceId)) {
    const task = (yield* tx.task.get(run.taskId)) as TaskRecord
    if (task.crashes >= maxCrashes && !(yield* hasProgressed(tx, run))) return task
  }
  return undefined
}
