// A run of an agent enters a team: its task gets a stint there in the transaction that admits it, or before its first step if the previous
// worker of that name is still leaving.

import { startOf } from '../../core/storable-text.ts'
import { isSettled, type TaskRecord } from '../../entities/task.ts'
import { maxAgentIdLength, type StintRecord, type TeamRecord } from '../../entities/team.ts'
import { type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { loadLive, type RunRef } from '../../operations/steps/journal.ts'
import type { StepContext } from '../../operations/steps/step-context.ts'
import { beginStint } from './team.ts'

/**
 * Returns the worker with its name in the team. A worker that has a stint continues it; if the team has ended meanwhile, or its branch is
 * closed, the run continues without one. If the last worker of the name has settled but not left, the name is not taken over: with
 * `patience` there is no stint yet, so that the same agent can continue under its own name.
 */
export function* enterTeam(
  tx: Tx,
  worker: TaskRecord,
  { patience }: { patience: boolean },
  ctx: StepContext,
): Op<TaskRecord> {
  const membership = worker.policy.team
  if (membership === undefined || membership.agentId === null) return worker
  if ((yield* tx.team.stintOfWorker(worker.id)) !== undefined) return worker
  const task = membership.taskId === worker.id ? worker : yield* tx.task.get(membership.taskId)
  const team = task && (yield* liveTeam(tx, task))
  if (task === undefined || team === undefined) return worker
  // The default name is that of its executor, which may be longer.
  const preferred = cut(membership.agentId, maxAgentIdLength)
  if (patience && (yield* isLeaving(tx, yield* tx.team.latestStint(team.taskId, preferred)))) return worker
  const agentId = yield* freeName(tx, team, preferred, worker)
  yield* beginStint(tx, team, task, { agentId, role: null, objectives: [], workerId: worker.id }, ctx)
  if (agentId === membership.agentId) return worker
  const named = { ...worker, policy: { ...worker.policy, team: { ...membership, agentId } } }
  yield* tx.task.saveDefinition(named)
  return named
}

/**
 * Gives a live run its stint, under the first free name. Returns the stint, or undefined where the team takes no workers. @throws
 * ErrandError RUN_ENDED
 */
export function joinTeam(ref: RunRef, ctx: StepContext): Step<StintRecord | undefined> {
  return step('enter team', function* (tx) {
    const task = yield* loadLive(tx, ref)
    yield* enterTeam(tx, task, { patience: false }, ctx)
    return yield* tx.team.stintOfWorker(task.id)
  })
}

function* liveTeam(tx: Reads, task: TaskRecord): Op<TeamRecord | undefined> {
  if (isSettled(task.status) || task.deletedAt !== null) return undefined
  const team = yield* tx.team.get(task.id)
  if (team === undefined || team.closedAt !== null) return undefined
  return (yield* tx.branch.get(team.branch))?.status === 'archived' ? undefined : team
}

/** The task of this stint has settled, and the agent is about to be completed. */
function* isLeaving(tx: Reads, stint: StintRecord | undefined): Op<boolean> {
  if (stint?.status !== 'active' || stint.workerId === null) return false
  const worker = yield* tx.task.get(stint.workerId)
  return worker !== undefined && isSettled(worker.status)
}

/** Returns the preferred name; if it is taken, the name with the number of its own task. */
function* freeName(tx: Reads, { taskId }: TeamRecord, preferred: string, worker: TaskRecord): Op<string> {
  for (let tried = 0; ; tried++) {
    const ending = [...(tried > 0 ? [worker.seq] : []), ...(tried > 1 ? [tried] : [])]
      .map((each) => `-${each}`)
      .join('')
    const name = `${cut(preferred, maxAgentIdLength - ending.length)}${ending}`
    if ((yield* tx.team.latestStint(taskId, name))?.status !== 'active') return name
  }
}

/** Cuts a text to `maxUnits` UTF-16 units, without half a character or a space at the end. */
function cut(text: string, maxUnits: number): string {
  return text.length <= maxUnits ? text : startOf(text, maxUnits).trimEnd()
}
