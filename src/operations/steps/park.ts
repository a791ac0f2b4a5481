// The slots of runs. A parked run has given its slot back; when what it waits for is over it is queued, and goes on through an ordinary
// admission (docs/decisions/0048).
import { isLiveRun, type RunRecord, type RunStatus } from '../../entities/run.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { decideRun, type RunMachineEvent } from '../../machines/run-machine.ts'
import { amend } from './amend.ts'
import type { RunRef } from './journal.ts'
import type { StepContext } from './step-context.ts'

/** For a request that the function of a parked run makes: the run waits for a slot. */
export function requestSlot(ref: RunRef, ctx: StepContext): Step<void> {
  return step('request a slot', function* (tx) {
    const task = yield* tx.task.get(ref.taskId)
    if (task?.run !== ref.run || task.status !== 'working') return
    if (yield* moveRun(tx, ref, 'wake')) yield* amend(tx, task, {}, ctx, 'task.unblocked')
  })
}

/** One of the waits of a task is over: if its run is parked, it waits for a slot. */
export function* queueParked(tx: Tx, { id: taskId, run, runOpen, status }: TaskRecord): Op<void> {
  if (status === 'working' && runOpen) yield* moveRun(tx, { taskId, run }, 'wake')
}

/** A queued run gets a slot, and its time limit begins anew. */
export function* continueRun(tx: Tx, task: TaskRecord, dueAt: number | null, ctx: StepContext): Op<void> {
  yield* moveRun(tx, { taskId: task.id, run: task.run }, 'admit', dueAt)
  yield* amend(tx, task, { wakes: 0 }, ctx, 'run.continued', { run: task.run })
}

/** The run of a task that is released, if it is parked or has been: it only waited. */
export function* parkedRun(tx: Reads, task: TaskRecord): Op<RunRecord | undefined> {
  const run = task.runOpen ? yield* tx.run.get(task.id, task.run) : undefined
  return run !== undefined && isLiveRun(run) && run.status !== 'live' ? run : undefined
}

/** Moves an open run by an event of its machine that concerns its slot. Returns whether it accepts the event. */
export function* moveRun(tx: Tx, ref: RunRef, type: RunMachineEvent['type'], dueAt: number | null = null): Op<boolean> {
  const run = yield* tx.run.get(ref.taskId, ref.run)
  const [moved] = (run && decideRun(run.status, { type })) ?? []
  if (moved === undefined) return false
  yield* tx.run.saveSlot({ taskId: ref.taskId, number: ref.run, status: moved.to as RunStatus, dueAt })
  return true
}
