// The outcome of a round, when no task of it goes on. Pure: the caller passes the tasks.
import type { PlanOutcome } from '../entities/plan-run.ts'
import { isQueuedTask, type Task, type TaskStatus } from '../entities/task.ts'
import { neededBy, type Plan, type PlanTask } from './plan.ts'
import type { KnownRound } from './round.ts'

const standings = {
  completed: 'completed',
  failed: 'broken',
  canceled: 'broken',
  input_required: 'asking',
  paused: 'paused',
  submitted: 'open',
  waiting: 'open',
  working: 'open',
} as const satisfies Record<TaskStatus, keyof PlanOutcome>

/**
 * The outcome of the tasks that had to run. Groups count through their children.
 * @param subtasks open ones that agents have created: listed where they wait for help.
 */
export function roundOutcome(
  plan: Plan,
  known: KnownRound,
  needed: ReadonlySet<string>,
  subtasks: readonly Task[] = [],
): PlanOutcome {
  const outcome: PlanOutcome = {
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

/** The failed and canceled tasks that a task comes after, directly or not. */
function brokenBefore(planned: PlanTask, plan: Plan, known: KnownRound): Task[] {
  const taskAt = (path: string) => known.newest.get(path)?.task
  const blockers = planned.comesAfter.map((path) => plan.byPath.get(path) as PlanTask)
  const before = neededBy(blockers, plan.byPath, ({ path }) => taskAt(path)?.status === 'completed')
  return [...before]
    .flatMap((path) => taskAt(path) ?? [])
    .filter(({ status }) => status === 'failed' || status === 'canceled')
}

function statusOf(outcome: PlanOutcome): PlanOutcome['status'] {
  if (outcome.broken.length + outcome.blocked.length + outcome.missing.length > 0) return 'failed'
  if (outcome.asking.length + outcome.paused.length + outcome.open.length > 0) return 'open'
  return 'done'
}
