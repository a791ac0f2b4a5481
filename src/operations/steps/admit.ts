// Admission: ready tasks start as runs of this instance, by priority and then age, as many as there are free slots. The slots are counted
// in the transaction that fills them. An admission also renews the lease of the engine, unless something else does.

import type { TaskRecord } from '../../entities/task.ts'
import { type Op, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { unreadableFields } from '../../ledger/unreadable.ts'
import { suspectFrom } from '../../machines/crashes.ts'
import { snapshotFault } from '../../machines/task-snapshot.ts'
import type { TaskEventName } from '../../machines/transition-table.ts'
import { type AdmitRequest, loadHeads, type Room } from './admission-heads.ts'
import { failWhereItStands, settleAll } from './settle-family.ts'
import { dueAfter } from './step-context.ts'
import { transition } from './transition.ts'
import { wayToWorking } from './walk.ts'

export interface Admitted {
  /** WORKING, each with its new run. */
  started: TaskRecord[]
  /**
   * When the next timer of this engine is due; undefined without one. The admission has seen all that its commit writes, and nothing more
   * can start. Null: it has not.
   */
  nextDue: number | undefined | null
}

/** Starts what may start. It is the last step of its commit, so that no look for tasks is needed after the others. */
export const admit = (request: AdmitRequest): Step<Admitted> => ({
  ...step('admit', decideAdmission, request),
  last: true,
})

function* decideAdmission(tx: Tx, request: AdmitRequest): Op<Admitted> {
  const { heads, room } = yield* loadHeads(tx, request)
  const mayStart = heads.filter(({ id }) => !request.beingCreated.has(id))
  const chosen = choose(mayStart, room, request)
  if (chosen.length > 0 && request.instance !== undefined) yield* tx.instance.renew(request.instance)
  const started: TaskRecord[] = []
  const damaged: TaskRecord[] = []
  let { nextDue } = room
  for (const task of chosen) {
    if (unreadableFields(task).length > 0) {
      damaged.push(task)
      continue
    }
    const dueAt = dueOfRun(task, request)
    if (dueAt !== null) nextDue = Math.min(nextDue ?? dueAt, dueAt)
    started.push(yield* startRun(tx, task, dueAt, request))
  }
  // Last, because the end of a damaged task may cancel others.
  for (const { id } of damaged) yield* failDamaged(tx, id, request)
  const mayMoreStart = damaged.length > 0 || mayStart.length < heads.length
  return { started, nextDue: mayMoreStart ? null : nextDue }
}

/** The definition of a damaged task is not known, so no part of it is run. It fails and frees its slot for others. */
function* failDamaged(tx: Tx, id: string, request: AdmitRequest): Op<void> {
  const task = yield* tx.task.get(id)
  if (task?.ready !== true) return
  const columns = unreadableFields(task)
  const error = {
    code: 'LEDGER_CORRUPT',
    message: `The row of task ${id} is damaged: its ${columns.join(', ')} ${columns.length === 1 ? 'holds' : 'hold'} a text that errand does not write. Something else has changed the row. Create the task again, or restore a backup of the ledger.`,
    details: { taskId: id, columns },
  }
  yield* settleAll(tx, [{ task: yield* failWhereItStands(tx, task, error, request) }], request)
}

function dueOfRun({ policy, executor }: TaskRecord, { at, executors }: AdmitRequest): number | null {
  const timeoutMs = policy.timeoutMs ?? executors.find(({ name }) => name === executor)?.timeoutMs
  return timeoutMs === undefined ? null : dueAfter(at, timeoutMs)
}

function* startRun(tx: Tx, task: TaskRecord, dueAt: number | null, request: AdmitRequest): Op<TaskRecord> {
  const { at, instanceId } = request
  const run = task.run + 1
  const fault = snapshotFault(task)
  const started = yield* transition(tx, task, wayToWorking[task.status] as TaskEventName, request, {
    set: { run, runOpen: true, held: false, wakes: 0 },
    data: { run },
    // The stored image of its machine was not sound and is made anew from the row.
    ...(fault !== null && { cause: { type: 'task.repaired', data: () => ({ fault }) } }),
  })
  yield* tx.run.insert({
    taskId: task.id,
    number: run,
    attempt: task.attempt,
    instanceId,
    status: 'live',
    outcome: null,
    error: null,
    startedAt: at,
    endedAt: null,
    closedAt: null,
    dueAt,
  })
  if (task.policy.team === undefined || request.teams === undefined) return started
  return yield* request.teams.started(tx, started, request)
}

/** Returns the best of the heads, as many as there is room for. */
function choose(heads: TaskRecord[], room: Room, request: AdmitRequest): TaskRecord[] {
  const left: Room = { ...room, perExecutor: new Map(room.perExecutor), perLane: new Map(room.perLane) }
  const chosen: TaskRecord[] = []
  for (const task of heads.sort((a, b) => b.priority - a.priority || a.seq - b.seq)) {
    const executor = task.executor as string
    const isSuspect = task.crashes >= suspectFrom(request.maxCrashes)
    const inExecutor = left.perExecutor.get(executor) as number
    const inLane = task.lane === '' ? 1 : (left.perLane.get(task.lane) as number)
    if (left.total <= 0 || inExecutor <= 0 || inLane <= 0 || (isSuspect && left.suspects <= 0)) continue
    left.total--
    left.perExecutor.set(executor, inExecutor - 1)
    if (task.lane !== '') left.perLane.set(task.lane, inLane - 1)
    if (isSuspect) left.suspects--
    chosen.push(task)
  }
  return chosen
}
