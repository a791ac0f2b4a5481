// Admission: ready tasks start as runs of this instance, by priority and then age, as many as there are free slots. The slots are counted
// in the transaction that fills them. An admission also renews the lease of the engine, unless something else does.

import type { InstanceRecord } from '../../entities/instance.ts'
import { maxSystemTasks, systemLane } from '../../entities/limits.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { Trees } from '../../entities/task-trees.ts'
import { unreadableFields } from '../../ledger/damaged-columns.ts'
import { all, type Op, type Reads, type ReadyFilter, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { suspectFrom } from '../../machines/crashes.ts'
import { wayToWorking } from '../../machines/task-edges.ts'
import type { TaskEventName } from '../../machines/task-machine.ts'
import { snapshotFault } from '../../machines/task-snapshot.ts'
import { loadSharedLimits } from './limits.ts'
import { continueRun } from './park.ts'
import { solitaryTask } from './recover.ts'
import { dueAfter, type StepContext } from './step-context.ts'
import { failAnywhere, transition } from './transition.ts'

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
    if (task.runOpen) yield* continueRun(tx, task, dueAt, request)
    else started.push(yield* startRun(tx, task, dueAt, request))
  }
  // Last, because the end of a damaged task may cancel others.
  for (const { id } of damaged) yield* failDamaged(tx, id, request)
  const mayMoreStart = damaged.length > 0 || mayStart.length < heads.length
  return { started, nextDue: mayMoreStart ? null : nextDue }
}

/** The definition of a damaged task is not known, so no part of it is run. It fails and frees its slot for others. */
function* failDamaged(tx: Tx, id: string, request: AdmitRequest): Op<void> {
  const task = yield* tx.task.get(id)
  // Unless the end of another one has ended it.
  if (task === undefined || !(task.ready || task.status === 'working')) return
  const columns = unreadableFields(task)
  const error = {
    code: 'LEDGER_CORRUPT',
    message: `The row of task ${id} is damaged: its ${columns.join(', ')} ${columns.length === 1 ? 'holds' : 'hold'} a text that errand does not write. Something else has changed the row. Create the task again, or restore a backup of the ledger.`,
    details: { taskId: id, columns },
  }
  yield* failAnywhere(tx, { type: 'fail.anywhere', own: task, set: { error } }, request)
}

function dueOfRun({ policy, executor }: TaskRecord, { at, executors }: AdmitRequest): number | null {
  const timeoutMs = policy.timeoutMs ?? executors.find(({ name }) => name === executor)?.timeoutMs
  return timeoutMs === undefined ? null : dueAfter(at, timeoutMs)
}

function* startRun(tx: Tx, task: TaskRecord, dueAt: number | null, request: AdmitRequest): Op<TaskRecord> {
  const number = task.run + 1
  const fault = snapshotFault(task)
  const started = yield* transition(tx, task, wayToWorking(task.status) as TaskEventName, request, {
    run: { number, dueAt },
    set: { held: false, wakes: 0 },
    data: { run: number },
    // The stored image of its machine was not sound and is made anew from the row.
    ...(fault !== null && { cause: { type: 'task.repaired', data: () => ({ fault }) } }),
  })
  if (task.policy.team === undefined || request.teams === undefined) return started
  return yield* request.teams.started(tx, started, request)
}

/** Returns the best of the heads, as many as there is room for. */
function choose(heads: TaskRecord[], room: Room, request: AdmitRequest): TaskRecord[] {
  const left = copyOf(room)
  return heads.sort((a, b) => b.priority - a.priority || a.seq - b.seq).filter((task) => takeSlot(task, left, request))
}

function copyOf(room: Room): Room {
  return { ...room, perExecutor: new Map(room.perExecutor), perLane: new Map(room.perLane) }
}

/** Returns whether there is room for a task, and takes it. */
function takeSlot(task: TaskRecord, left: Room, { maxCrashes }: AdmitRequest): boolean {
  const executor = task.executor as string
  const isSuspect = task.crashes >= suspectFrom(maxCrashes)
  // Without a model no run of an agent starts; one that is there goes on.
  const inExecutor = left.perExecutor.get(executor) ?? left.total
  const inLane = task.lane === '' ? 1 : (left.perLane.get(task.lane) as number)
  const isSystem = task.lane === systemLane
  const hasRoom = isSystem || (left.total > 0 && inExecutor > 0)
  if (!hasRoom || inLane <= 0 || (isSuspect && left.suspects <= 0)) return false
  if (!isSystem) {
    left.total--
    left.perExecutor.set(executor, inExecutor - 1)
  }
  if (task.lane !== '') left.perLane.set(task.lane, inLane - 1)
  if (isSuspect) left.suspects--
  return true
}

// What an admission reads: how many tasks may still be started, and the first ready tasks of each queue, as many as there is room for.

interface AdmitRequest extends StepContext {
  /** Slots of this engine in all. */
  maxConcurrent: number
  /** Executors that can run here, with their slots. */
  executors: readonly AdmittedExecutor[]
  /** All executors of this engine: the runs that it may time out. */
  registered: readonly string[]
  maxCrashes: number
  /** Only tasks of these trees are started. Undefined: tasks of all trees. */
  trees: Trees | undefined
  /** Tasks that do not start in the commit that creates them, and perhaps this one does. */
  beingCreated: ReadonlySet<string>
  /**
   * By executor: how many of its ready tasks are read while the room is counted, which saves a round trip to a server. If there is room for
   * more, they are read after that.
   */
  readAtOnce: ReadonlyMap<string, number>
  /** The row of this engine with a renewed lease: an engine that owns runs counts as alive. Undefined where it does for certain. */
  instance: InstanceRecord | undefined
}

interface AdmittedExecutor {
  name: string
  limit: number
  timeoutMs: number | undefined
  /** Admits only its tasks that name a model. */
  named: boolean
}

/** The number of lane heads, beyond those that are wanted, that are read at first: so many lanes may be full. */
const spareLanes = 50
/** The number of queued runs that are read at once: the first ones may have no room. */
const queuedAtOnce = 50
/** The number of suspects that are read to find one that may start. */
const maxSuspects = 10

interface Loaded {
  heads: TaskRecord[]
  room: Room
}

/** What may still be started. It is counted inside the transaction, so that two engines never fill the same slot. */
interface Room {
  total: number
  perExecutor: Map<string, number>
  perLane: Map<string, number>
  /** Whether one suspect may start: nothing runs here. */
  suspects: number
  /** Nothing runs here. */
  isEmpty: boolean
  /** Runs here, and only its descendants may start beside it. */
  solitary: TaskRecord | undefined
  /** The kinds of tasks that wait for room. */
  kinds: { any: boolean; inLanes: boolean; suspects: boolean; queuedRuns: boolean; system: boolean }
  /** When the next timer of this engine is due, without the runs that begin now. */
  nextDue: number | undefined
  /** By executor: the first ready tasks in no lane, as far as they are known. */
  first: Map<string, FirstReady>
}

interface FirstReady {
  tasks: TaskRecord[]
  /** There is no other one. */
  areAll: boolean
}

/**
 * Loads the first tasks of each executor and lane, as many as may be started, and the first suspects of crashes. No more rows are read,
 * however many tasks wait.
 */
function* loadHeads(tx: Reads, request: AdmitRequest): Op<Loaded> {
  const room = yield* loadRoom(tx, request)
  if (room.solitary !== undefined) return { heads: yield* loadReadyBelow(tx, room.solitary, room, request), room }
  const executors = room.kinds.any ? request.executors.filter(({ name }) => slotsOf(name, room) > 0) : []
  if (room.isEmpty && room.kinds.suspects) {
    // A task that died `maxCrashes` times beside others runs alone, as soon as nothing runs here: then the next death of its engine is
    // attributed to it.
    const found = yield* all(executors.map((each) => loadSuspects(tx, each, request.maxCrashes, room, request)))
    const [solitary] = found.flat()
    if (solitary !== undefined) return { heads: [solitary], room }
  }
  const ready = yield* all(executors.map((each) => loadHeadsOf(tx, each, room, request)))
  const system = yield* loadSystemHeads(tx, room, request)
  return { heads: [...ready.flat(), ...system, ...(yield* loadQueuedRuns(tx, room, request))], room }
}

/** System tasks have slots of their own, whatever room there is for others. Suspects of crashes wait like any. */
function* loadSystemHeads(tx: Reads, room: Room, request: AdmitRequest): Op<TaskRecord[]> {
  const slots = room.perLane.get(systemLane) as number
  if (!room.kinds.system || slots <= 0) return []
  const found = yield* all(
    request.executors.map((each) =>
      tx.task.ready(each.name, systemLane, slots, suspectFrom(request.maxCrashes), filterOf(each, request)),
    ),
  )
  return found.flat()
}

/** The ready descendants of a task, and the parked ones whose waits are over. */
function* loadReadyBelow(tx: Reads, { id }: TaskRecord, room: Room, request: AdmitRequest): Op<TaskRecord[]> {
  if (room.total <= 0) return []
  const below = yield* tx.task.subtree(id)
  const named = new Map(request.executors.map((each) => [each.name, each.named]))
  const mayRun = ({ executor, policy }: TaskRecord): boolean =>
    executor !== null && named.has(executor) && !(named.get(executor) === true && policy.model === undefined)
  const ready = below.filter((task) => task.ready && mayRun(task))
  for (const { lane } of ready) if (lane !== '') yield* freeSlotsInLane(tx, lane, room, request)
  const ids = new Set(below.map((task) => task.id))
  return [...ready, ...(yield* loadQueuedRuns(tx, room, request, (task) => ids.has(task.id)))]
}

/**
 * Parked runs of this engine whose waits are over, as many as there is room for. They compete with the ready tasks. One whose executor or lane
 * is full keeps no other from going on.
 */
function* loadQueuedRuns(
  tx: Reads,
  room: Room,
  request: AdmitRequest,
  mayGoOn: (task: TaskRecord) => boolean = () => true,
): Op<TaskRecord[]> {
  if (!room.kinds.queuedRuns) return []
  const found: TaskRecord[] = []
  const left = copyOf(room)
  for (const system of [false, true]) {
    const slots = (): number => (system ? (left.perLane.get(systemLane) as number) : left.total)
    let after: TaskRecord | undefined
    for (let isLast = false; !isLast && slots() > 0; ) {
      const page = yield* tx.run.queuedOf(request.instanceId, system, after, queuedAtOnce)
      for (const task of page) {
        const { lane } = task
        if (lane !== '' && !left.perLane.has(lane)) {
          left.perLane.set(lane, yield* freeSlotsInLane(tx, lane, room, request))
        }
        if (mayGoOn(task) && takeSlot(task, left, request)) found.push(task)
      }
      after = page.at(-1)
      isLast = page.length < queuedAtOnce
    }
  }
  return found
}

const slotsOf = (executor: string, { total, perExecutor }: Room): number =>
  Math.min(total, perExecutor.get(executor) as number)

function* loadHeadsOf(tx: Reads, executor: AdmittedExecutor, room: Room, request: AdmitRequest): Op<TaskRecord[]> {
  const { name } = executor
  const { maxCrashes } = request
  const { kinds } = room
  const slots = slotsOf(name, room)
  const suspicious = suspectFrom(maxCrashes)
  const first = room.first.get(name)
  const [inNoLane, inLanes, suspects] = yield* all([
    first !== undefined && (first.areAll || first.tasks.length >= slots)
      ? known(first.tasks)
      : tx.task.ready(name, '', slots, suspicious, filterOf(executor, request)),
    kinds.inLanes ? loadLaneHeads(tx, executor, slots, room, request) : all([]),
    kinds.suspects && room.suspects > 0 ? loadSuspects(tx, executor, suspicious, room, request) : all([]),
  ])
  return [...inNoLane, ...inLanes, ...suspects.filter(({ crashes }) => crashes < maxCrashes)]
}

function* known(tasks: TaskRecord[]): Op<TaskRecord[]> {
  return tasks
}

function* loadFirst(tx: Reads, request: AdmitRequest): Op<Map<string, FirstReady>> {
  const { executors, readAtOnce, trees, maxCrashes } = request
  const asked = trees === undefined ? executors.filter(({ name }) => readAtOnce.has(name)) : []
  const limitOf = ({ name }: AdmittedExecutor): number => readAtOnce.get(name) as number
  const found = yield* all(
    asked.map((each) => tx.task.ready(each.name, '', limitOf(each), suspectFrom(maxCrashes), filterOf(each, request))),
  )
  return new Map(
    asked.map((each, at) => {
      const tasks = found[at] as TaskRecord[]
      return [each.name, { tasks, areAll: tasks.length < limitOf(each) }]
    }),
  )
}

function filterOf({ named }: AdmittedExecutor, { trees }: AdmitRequest): ReadyFilter {
  return { named, trees }
}

/** Loads the first suspects of an executor whose lanes have a free slot. */
function* loadSuspects(
  tx: Reads,
  executor: AdmittedExecutor,
  crashes: number,
  room: Room,
  request: AdmitRequest,
): Op<TaskRecord[]> {
  const found: TaskRecord[] = []
  for (const suspect of yield* tx.task.suspects(executor.name, maxSuspects, crashes, filterOf(executor, request))) {
    if (suspect.lane === '' || (yield* freeSlotsInLane(tx, suspect.lane, room, request)) > 0) found.push(suspect)
  }
  return found
}

/** Loads lanes by their heads, and no more lanes with a free slot than there are slots: there may be thousands of lanes. */
function* loadLaneHeads(
  tx: Reads,
  executor: AdmittedExecutor,
  limit: number,
  room: Room,
  request: AdmitRequest,
): Op<TaskRecord[]> {
  const { name } = executor
  const only = filterOf(executor, request)
  const free: Array<{ lane: string; slots: number }> = []
  const seen = new Set<string>()
  // The first few are enough, unless they are full.
  for (const maxLanes of [2 * room.total + spareLanes, undefined]) {
    const lanes = yield* tx.task.lanes(name, maxLanes, only)
    const unseen = lanes.filter((lane) => lane !== systemLane && !seen.has(lane))
    while (unseen.length > 0 && free.length < room.total) {
      const next = unseen.splice(0, room.total - free.length)
      const slots = yield* all(next.map((lane) => freeSlotsInLane(tx, lane, room, request)))
      for (const [at, lane] of next.entries()) {
        seen.add(lane)
        if ((slots[at] as number) > 0) free.push({ lane, slots: Math.min(limit, slots[at] as number) })
      }
    }
    if (free.length === room.total || lanes.length < (maxLanes ?? 0)) break
  }
  const suspicious = suspectFrom(request.maxCrashes)
  return (yield* all(free.map(({ lane, slots }) => tx.task.ready(name, lane, slots, suspicious, only)))).flat()
}

function* freeSlotsInLane(tx: Reads, lane: string, room: Room, request: AdmitRequest): Op<number> {
  const known = room.perLane.get(lane)
  if (known !== undefined) return known
  const [parent, open] = yield* all([tx.task.get(lane), tx.task.openInLane(lane)])
  const slots = (parent?.policy.concurrency ?? request.maxConcurrent) - open
  room.perLane.set(lane, slots)
  return slots
}

function* loadRoom(tx: Reads, request: AdmitRequest): Op<Room> {
  const { instanceId, maxConcurrent, executors, registered, maxCrashes } = request
  const [own, shared, kinds, nextDue, first] = yield* all([
    tx.run.countOpenOf(instanceId),
    loadSharedLimits(tx),
    tx.task.readyKinds(),
    tx.task.nextDue({ instanceId, executors: registered }),
    loadFirst(tx, request),
  ])
  const open = sumOf(own.perExecutor)
  const solitary = own.crashes >= maxCrashes ? yield* solitaryTask(tx, instanceId, maxCrashes) : undefined
  const room: Room = {
    total: maxConcurrent - open,
    solitary,
    perExecutor: new Map(executors.map(({ name, limit }) => [name, limit - (own.perExecutor.get(name) ?? 0)])),
    perLane: new Map([[systemLane, maxSystemTasks - own.system]]),
    suspects: own.crashes >= suspectFrom(maxCrashes) ? 0 : 1,
    isEmpty: open + own.system === 0,
    kinds,
    nextDue,
    first,
  }
  if (shared === undefined || !(kinds.any || kinds.queuedRuns)) return room
  const counted = yield* tx.run.countOpen()
  if (shared.maxConcurrent !== null) room.total = Math.min(room.total, shared.maxConcurrent - sumOf(counted))
  for (const [name, limit] of Object.entries(shared.limits)) {
    const free = room.perExecutor.get(name)
    if (free !== undefined) room.perExecutor.set(name, Math.min(free, limit - (counted.get(name) ?? 0)))
  }
  return room
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const count of counts.values()) sum += count
  return sum
}
