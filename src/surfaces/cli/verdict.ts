// How a round stands: is anything still going on, and if not, what came of it. Pure; what the ledger says is handed in.
import type { Why } from '../../api.ts'
import type { Task } from '../../entities/task.ts'
import { exitCodes } from './exit-code.ts'
import type { Plan, PlanTask } from './plan.ts'
import { flatten } from './plan.ts'
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

/** A run of it is open, or it will have one without anybody's help: it is ready, on a timer, or closing. */
export function isGoingOn(task: Task, why: Pick<Why, 'reason' | 'at'> | undefined): boolean {
  // Only `why` knows whether there is a model for an agent.
  const lacksModel = why === undefined ? task.executor === 'agent' : why.reason === 'model'
  if (task.status === 'working' || (isQueued(task) && !lacksModel)) return true
  if (task.questions.some((question) => question.dueAt !== null)) return true
  if (why === undefined) return false
  switch (why.reason) {
    case 'running':
    case 'slot':
    case 'lane':
    case 'limit':
    case 'timer':
    case 'closing':
      return true
    case 'answer':
    case 'children':
      return why.at !== null
    case 'blocked':
    case 'executor':
    case 'model':
    case 'claim':
    case 'held':
    case 'settled':
      return false
  }
}

/** An open task that does not tell by itself what it rests for: only `why` knows whether it goes on without help. */
export function isUnclear(task: Task): boolean {
  switch (task.status) {
    case 'submitted':
      // Nothing but other tasks can set a blocked one going, and those are looked at themselves.
      return task.blockedBy.length === 0
    case 'input_required':
      return task.questions.length === 0 || task.notBefore !== null
    case 'paused':
    case 'waiting':
      return true
    case 'working':
    case 'completed':
    case 'failed':
    case 'canceled':
      return false
  }
}

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
  for (const planned of flatten(plan.tasks)) {
    if (planned.group || !needed.has(planned.path)) continue
    const task = known.newest.get(planned.path)?.task
    if (task === undefined) verdict.missing.push(planned.path)
    else place(verdict, task, planned, plan, known)
  }
  for (const task of subtasks) {
    if (isQueued(task)) continue
    if (task.status === 'input_required') verdict.asking.push(task)
    else if (task.status === 'paused') verdict.paused.push(task)
    else if (task.ready) verdict.open.push(task)
  }
  verdict.code = codeOf(verdict)
  return verdict
}

function place(verdict: Verdict, task: Task, planned: PlanTask, plan: Plan, known: KnownRound): void {
  if (isQueued(task)) {
    verdict.open.push(task)
    return
  }
  switch (task.status) {
    case 'completed':
      verdict.completed.push(task)
      return
    case 'failed':
    case 'canceled':
      verdict.broken.push(task)
      return
    case 'input_required':
      verdict.asking.push(task)
      return
    case 'paused':
      verdict.paused.push(task)
      return
    case 'submitted':
    case 'waiting':
    case 'working': {
      const by = brokenBefore(planned, plan, known)
      if (by.length > 0) verdict.blocked.push({ task, by })
      else verdict.open.push(task)
    }
  }
}

/** The failed and canceled tasks that a task would have to come after, over any number of steps. */
function brokenBefore(planned: PlanTask, plan: Plan, known: KnownRound): Task[] {
  const broken = new Map<string, Task>()
  const visited = new Set<string>()
  const visit = (path: string): void => {
    if (visited.has(path)) return
    visited.add(path)
    const task = plan.byPath.get(path) as PlanTask
    const found = known.newest.get(path)?.task
    if (!task.group && (found?.status === 'failed' || found?.status === 'canceled')) broken.set(found.id, found)
    if (found?.status === 'completed') return
    for (const child of task.children) visit(child.path)
    for (const blocker of task.comesAfter) visit(blocker)
  }
  for (const blocker of planned.comesAfter) visit(blocker)
  return [...broken.values()]
}

function codeOf(verdict: Verdict): number {
  if (verdict.broken.length + verdict.blocked.length + verdict.missing.length > 0) return exitCodes.failed
  if (verdict.asking.length + verdict.paused.length + verdict.open.length > 0) return exitCodes.open
  return exitCodes.done
}
