// What came of a round when nothing goes on with it any more. Pure; what the ledger says is handed in.
import type { Task, TaskStatus } from '../../entities/task.ts'
import { exitCodes } from './exit-code.ts'
import { neededBy, type Plan, type PlanTask } from './plan.ts'
import type { KnownRound } from './plan-round.ts'
import { isQueued } from './task-words.ts'

export interface Verdict {
  code: number
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
} as const satisfies Record<TaskStatus, keyof Verdict>

/**
 * What came of the tasks that were asked for. Groups count through their children. `subtasks` are open ones that agents have made:
 * told of where somebody can help them on.
 */
export function judgeRound(
  plan: Plan,
  known: KnownRound,
  needed: ReadonlySet<string>,
  subtasks: readonly Task[] = [],
): Verdict {
  const verdict: Verdict = {
    code: exitCodes.done,
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
      verdict.missing.push(planned.path)
      continue
    }
    const standing = isQueued(task) ? 'open' : standings[task.status]
    const by = standing === 'open' && !isQueued(task) ? brokenBefore(planned, plan, known) : []
    if (by.length > 0) verdict.blocked.push({ task, by })
    else verdict[standing].push(task)
  }
  for (const task of subtasks) {
    const needsHelp = task.status === 'input_required' || task.status === 'paused' || task.ready
    if (needsHelp && !isQueued(task)) verdict[standings[task.status]].push(task)
  }
  verdict.code = codeOf(verdict)
  return verdict
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

function codeOf(verdict: Verdict): number {
  if (verdict.broken.length + verdict.blocked.length + verdict.missing.length > 0) return exitCodes.failed
  if (verdict.asking.length + verdict.paused.length + verdict.open.length > 0) return exitCodes.open
  return exitCodes.done
}
