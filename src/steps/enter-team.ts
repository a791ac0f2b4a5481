// A run of an agent begins to work in a team: its task gets a stint there, in the transaction that admits it; or, where the one who had
// its name before is just leaving, before its first step.

import { isSettled, type TaskRecord } from '../entities/task.ts'
import { maxAgentIdLength, type StintRecord, type TeamRecord } from '../entities/team.ts'
import { type Op, type Reads, type Step, step, type Tx } from '../ledger/ledger.ts'
import { loadLive, type RunRef } from './journal.ts'
import type { StepContext } from './step-context.ts'
import { beginStint } from './team.ts'

/**
 * The worker, with the name that it got in the team. One that has a stint goes on in it; where the team has ended meanwhile, or its
 * branch takes nothing new, the run goes on without one. A name whose last worker has settled is not taken from it: with `patience`
 * there is no stint yet, so that the same agent can go on under its own name.
 */
export function* enterTeam(
  tx: Tx,
  worker: TaskRecord,
  { patience }: { patience: boolean },
  ctx: StepContext,
): Op<TaskRecord> {
  const place = worker.policy.team
  if (place === undefined || place.agentId === null) return worker
  if ((yield* tx.team.stintOfWorker(worker.id)) !== undefined) return worker
  const task = place.taskId === worker.id ? worker : yield* tx.task.get(place.taskId)
  const team = task && (yield* liveTeam(tx, task))
  if (task === undefined || team === undefined) return worker
  // It is called after its executor by default, and the names of executors may be longer.
  const wanted = cut(place.agentId, maxAgentIdLength)
  if (patience && (yield* isBeingLeft(tx, yield* tx.team.latestStint(team.taskId, wanted)))) return worker
  const agentId = yield* freeName(tx, team, wanted, worker)
  yield* beginStint(tx, team, task, { agentId, role: null, objectives: [], workerId: worker.id }, ctx)
  if (agentId === place.agentId) return worker
  const named = { ...worker, policy: { ...worker.policy, team: { ...place, agentId } } }
  yield* tx.task.saveDefinition(named)
  return named
}

/** A live run takes its place, under whichever name is free; its stint, or undefined where there is no place. @throws ErrandError RUN_ENDED */
export function takePlace(ref: RunRef, ctx: StepContext): Step<StintRecord | undefined> {
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

/** Its task has settled, and the agent is about to be completed. */
function* isBeingLeft(tx: Reads, stint: StintRecord | undefined): Op<boolean> {
  if (stint?.status !== 'active' || stint.workerId === null) return false
  const worker = yield* tx.task.get(stint.workerId)
  return worker !== undefined && isSettled(worker.status)
}

/** The name that it would like; where somebody works under it, that with the number of its own task. */
function* freeName(tx: Reads, { taskId }: TeamRecord, wanted: string, worker: TaskRecord): Op<string> {
  for (let tried = 0; ; tried++) {
    const ending = [...(tried > 0 ? [worker.seq] : []), ...(tried > 1 ? [tried] : [])]
      .map((each) => `-${each}`)
      .join('')
    const name = `${cut(wanted, maxAgentIdLength - ending.length)}${ending}`
    if ((yield* tx.team.latestStint(taskId, name))?.status !== 'active') return name
  }
}

/** At most so many UTF-16 units, and no half of a letter or space at the end. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const short = text.slice(0, most)
  return (short.isWellFormed() ? short : short.slice(0, -1)).trimEnd()
}
