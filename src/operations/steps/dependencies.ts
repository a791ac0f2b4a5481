// Adds and removes dependencies of live tasks: the only place that changes `after` edges. A group passes them on to its tasks, as at
// creation.

import { ErrandError } from '../../core/errors.ts'
import { awaitsChildren, isTerminal, type TaskRecord } from '../../entities/task.ts'
import { type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { isBroken } from '../../machines/family.ts'
import { cycleError } from '../../machines/task-graph.ts'
import { amend } from './amend.ts'
import { settle, settleEdges } from './settle-family.ts'
import { eventOf, loadToChange, type StepContext } from './step-context.ts'

/** The change, loaded and free of cycles. */
export interface Rewiring {
  /** The task, and, for a group, all tasks in it whose dependencies may still change. */
  tasks: TaskRecord[]
  added: TaskRecord[]
  removed: string[]
}

/**
 * @throws ErrandError NOT_FOUND for an unknown blocker; CYCLE { path } for one that would never end;
 * INVALID_TRANSITION for a task that works or has ended.
 */
export function* loadRewiring(
  tx: Reads,
  task: TaskRecord,
  change: { add: readonly string[]; remove: readonly string[] },
): Op<Rewiring> {
  const added: TaskRecord[] = []
  for (const id of new Set(change.add)) added.push(yield* loadToChange(tx, id))
  const inGroup = task.group ? (yield* tx.task.subtree(task.id)).filter(mayBeRewired) : []
  const ids = added.map((each) => each.id)
  if (ids.length > 0) {
    const targets = new Set([task, ...inGroup].map((each) => each.id))
    const cycle = yield* tx.dependency.path(ids, targets)
    if (cycle) throw cycleError(`${task.id} cannot come after ${cycle[0]}`, [task.id, ...cycle])
  }
  return { tasks: [task, ...inGroup], added, removed: [...new Set(change.remove)] }
}

/** The task neither works nor has ended: its next start may still be made to wait. */
function mayBeRewired(task: TaskRecord): boolean {
  return task.status !== 'working' && !isTerminal(task.status)
}

export function* writeRewiring(tx: Tx, { tasks, added, removed }: Rewiring, ctx: StepContext): Op<void> {
  for (const task of tasks) yield* rewire(tx, task, added, removed, ctx)
  // A blocker that has already failed has the same effect as one that fails later.
  const ids = new Set(tasks.map((task) => task.id))
  for (const blocker of added) if (isBroken(blocker.status)) yield* settleEdges(tx, ids, blocker.id, ctx)
  yield* settle(tx, ctx, { tasks: ids })
}

function* rewire(tx: Tx, task: TaskRecord, added: TaskRecord[], removed: string[], ctx: StepContext): Op<void> {
  const known = yield* tx.dependency.blockers(task.id)
  const open = yield* tx.dependency.openBlockers(task.id)
  let delta = 0
  for (const blocker of removed) {
    if (open.includes(blocker)) delta--
    yield* tx.dependency.remove(task.id, blocker)
  }
  for (const blocker of added) {
    if (known.includes(blocker.id) && !removed.includes(blocker.id)) continue
    const satisfied = blocker.status === 'completed'
    if (!satisfied) delta++
    yield* insertAfter(tx, task.id, blocker.id, satisfied, ctx)
  }
  const current = (yield* tx.task.get(task.id)) as TaskRecord
  const set = { openBlockers: current.openBlockers + delta }
  const next = yield* amend(tx, current, set, ctx, 'task.updated', { changed: ['blockedBy'] })
  if (current.openBlockers > 0 && next.openBlockers === 0) {
    yield* tx.event.append(eventOf(ctx, 'task.unblocked', next, { removed }))
  }
}

/** Adds a dependency; `satisfied`: its blocker is already completed. */
export function* insertAfter(
  tx: Tx,
  taskId: string,
  blockerId: string,
  satisfied: boolean,
  { at }: StepContext,
): Op<void> {
  const edge = { taskId, blockerId, kind: 'after', callId: '', createdAt: at } as const
  yield* tx.dependency.insert({ ...edge, satisfiedAt: satisfied ? at : null })
}

/** Adds dependencies. Those that exist stay as they are. */
export function block(id: string, blockers: readonly string[], ctx: StepContext): Step<void> {
  return rewiring('block', id, { add: blockers, remove: [] }, ctx)
}

/** Removes dependencies. One that does not exist is not an error. */
export function unblock(id: string, blockers: readonly string[], ctx: StepContext): Step<void> {
  return rewiring('unblock', id, { add: [], remove: blockers }, ctx)
}

function rewiring(
  name: 'block' | 'unblock',
  id: string,
  change: { add: readonly string[]; remove: readonly string[] },
  ctx: StepContext,
): Step<void> {
  return step(name, function* (tx) {
    const task = yield* loadToChange(tx, id)
    const loaded = yield* loadRewiring(tx, task, change)
    requireRewirable(task, name)
    yield* writeRewiring(tx, loaded, ctx)
  })
}

/** A working group has no run of its own: its tasks that have not begun may still be made to wait. */
function requireRewirable(task: TaskRecord, verb: 'block' | 'unblock'): void {
  const isDone = isTerminal(task.status) || awaitsChildren(task)
  if (!isDone && (mayBeRewired(task) || (task.group && task.status === 'working'))) return
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot ${verb} ${task.id}: ${awaitsChildren(task) ? 'its own work is done' : `it is ${task.status}`}. ${
      isDone ? 'Create a new task' : 'Pause it first'
    }: dependencies can change only while a task has work left and is not working.`,
    { taskId: task.id, from: task.status, event: verb, allowed: [] },
  )
}
