// What came of a round when nothing goes on with it any more. Pure; what the ledger says is handed in.
import { isQueuedTask, type Task, type TaskStatus } from '../entities/task.ts'

import { neededBy, type Plan, type PlanTask } from './plan.ts'
import type { KnownRound } from './round.ts'

export interface RoundOutcome {
  /** `failed`: something failed, was canceled or deleted, or is blocked by such. `open`: something needs an answer or a resume. */
  status: 'done' | 'failed' | 'open'
  completed: Task[]
  /** Failed or canceled. */
  broken: Task[]
  /** Cannot run because of broken ones; each with those. */
  blocked: Array<{ task: Task; by: Task[] }>
  /** Wait for an answer. */
  asking: Task[]
  /** Wait for somebody to resume them. */
  paused: Task[]
  /** Neither: blocked by what is not settled, or let go in the middle. */
  open: Task[]
  /** Paths of tasks that were deleted meanwhile. */
  missing: string[]
}

const standings = {
  completed: 'completed',
  failed: 'broken',
  canceled: 'broken',
  input_required: 'asking',
  paused: 'paused',
  submitted: 'open',
  waiting: 'open',
  working: 'open',
} as const satisfies Record<TaskStatus, keyof RoundOutcome>

/**
 * What came of the tasks that were asked for. Groups count through their children. `subtasks` are open ones that agents have made:
 * told of where somebody can help them on.
 */
export function roundOutcome(
  plan: Plan,
  known: KnownRound,
  needed: ReadonlySet<string>,
  subtasks: readonly Task[] = [],
): RoundOutcome {
  const outcome: RoundOutcome = {
    status: 'done',
    completed: [],
    broken: [],
    blocked: [],
    asking: [],
    paused: [],
    open: [],
    missing: [],
  }
  for (const planned of plan.byPath.values()) {
    if (planned.group || !needed.has(planned.path)) continue
    const task = known.newest.get(planned.path)?.task
    if (task === undefined) {
      outcome.missing.push(planned.path)
      continue
    }
    const standing = isQueuedTask(task) ? 'open' : standings[task.status]
    const by = standing === 'open' && !isQueuedTask(task) ? brokenBefore(planned, plan, known) : []
    if (by.length > 0) outcome.blocked.push({ task, by })
    else outcome[standing].push(task)
  }
  for (const task of subtasks) {
    const needsHelp = task.status === 'input_required' || task.status === 'paused' || task.ready
    if (needsHelp && !isQueuedTask(task)) outcome[standings[task.status]].push(task)
  }
  outcome.status = statusOf(outcome)
  return outcome
}

/** The failed and canceled tasks that a task would have to come after, over any number of steps. */
function brokenBefore(planned: PlanTask, plan: Plan, known: KnownRound): Task[] {
  const taskAt = (path: string) => known.newest.get(path)?.task
  const blockers = planned.comesAfter.map((path) => plan.byPath.get(path) as PlanTask)
  const before = neededBy(blockers, plan.byPath, ({ path }) => taskAt(path)?.status === 'completed')
  return [...before]
    .flatMap((path) => taskAt(path) ?? [])
    .filter(({ status }) => status === 'failed' || status === 'canceled')
}

function statusOf(outcome: RoundOutcome): RoundOutcome['status'] {
  if (outcome.broken.length + outcome.blocked.length + outcome.missing.length > 0) return 'failed'
  if (outcome.asking.length + outcome.paused.length + outcome.open.length > 0) return 'open'
  return 'done'
}
