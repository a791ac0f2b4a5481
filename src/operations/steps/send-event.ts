// Sends an event to the machine of a task inside a transaction: the machine answers with the transitions that follow, and the ledger's half
// of their actions is carried out in order.
import type { TaskRecord, TaskStatus } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { moved } from '../../machines/changed-task.ts'
import { refuseTransition, wayToWorking } from '../../machines/task-edges.ts'
import { decideTask, inPassing, type TaskMachineEvent, type TransitionData } from '../../machines/task-machine.ts'
import { Cascade } from './cascade.ts'
import type { StepContext } from './step-context.ts'
import { type TaskAction, type TaskChange, taskEffects } from './task-effects.ts'

/**
 * Returns the task after the event. What follows for its relatives is added to the cascade.
 * @throws ErrandError INVALID_TRANSITION when its state does not accept the event.
 */
export function* sendEvent(
  tx: Tx,
  task: TaskRecord,
  event: TaskMachineEvent,
  cascade: Cascade,
  ctx: StepContext,
): Op<TaskRecord> {
  return yield* carryOut(tx, task, decideTask(task.status, event) ?? refuseTransition(task, event.type), cascade, ctx)
}

/** The same for a fact about a relative, which a state may ignore. */
export function* sendFact(tx: Tx, event: FamilyEvent, cascade: Cascade, ctx: StepContext): Op<void> {
  yield* carryOut(tx, event.own, decideTask(event.own.status, event) ?? [], cascade, ctx)
}

type FamilyEvent = Extract<TaskMachineEvent, { own: TaskRecord }>

function* carryOut(
  tx: Tx,
  task: TaskRecord,
  steps: NonNullable<ReturnType<typeof decideTask>>,
  cascade: Cascade,
  ctx: StepContext,
): Op<TaskRecord> {
  const blame: TaskChange['blame'] = { error: undefined }
  let current = task
  for (const { event, to, actions } of steps) {
    const data: TransitionData = 'own' in event ? {} : event
    const set = event.type === 'fail' && blame.error !== undefined ? { ...data.set, error: blame.error } : data.set
    const next = to === current.status ? current : moved(current, to as TaskStatus, ctx.at, set)
    const change: TaskChange = { before: current, next, event, data, blame, cascade, ctx }
    for (const { type, params } of actions) yield* taskEffects[type as TaskAction](tx, change, params as never)
    current = next
  }
  return current
}

/** Moves a task to WORKING without a run, from where it goes on in the same step. */
export function* passToWorking(tx: Tx, task: TaskRecord, ctx: StepContext): Op<TaskRecord> {
  const type = wayToWorking(task.status)
  if (type === undefined) return task
  return yield* sendEvent(tx, task, { type, ...inPassing }, new Cascade(), ctx)
}
