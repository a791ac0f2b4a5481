// Starts what `autoStart: false` holds back, in pieces: other work gets its turn however many tasks there are.
import type { TaskRecord } from '../../entities/task.ts'
import { type Op, type Reads, type Step, step } from '../../ledger/ledger.ts'
import type { StepContext } from './step-context.ts'
import { release } from './task-lifecycle.ts'

/** How many tasks one step starts and one statement reads. */
export const startedAtOnce = 200

/** A task that waits for nothing but a slot, and for its start if it is held. */
export interface Startable {
  id: string
  held: boolean
}

/** SUBMITTED tasks of these executors that are ready, or that only `autoStart: false` holds back; by executor, priority and age. */
export function* startableTasks(tx: Reads, executors: readonly string[]): Op<Startable[]> {
  const found: Startable[] = []
  for (const executor of executors) {
    const page = (after?: TaskRecord) => tx.task.list({ statuses: ['submitted'], executor }, startedAtOnce, after)
    for (let tasks = yield* page(); tasks.length > 0; tasks = yield* page(tasks.at(-1)))
      for (const task of tasks) if (task.ready || isOnlyHeld(task)) found.push({ id: task.id, held: !task.ready })
  }
  return found
}

/** Starts those of the tasks that only `autoStart: false` still holds back. Returns their ids. */
export function startHeld(ids: readonly string[], ctx: StepContext): Step<string[]> {
  return step('start held', function* (tx) {
    const started: string[] = []
    for (const id of ids) {
      const task = yield* tx.task.get(id)
      if (task === undefined || !isOnlyHeld(task)) continue
      yield* release(tx, task, ctx)
      started.push(id)
    }
    return started
  })
}

function isOnlyHeld({ status, held, openBlockers, notBefore, deletedAt }: TaskRecord): boolean {
  return status === 'submitted' && held && openBlockers === 0 && notBefore === null && deletedAt === null
}
