// Admission: ready tasks start as runs of this instance, by priority, then age, as many as there are free slots.
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import type { TaskEventName } from '../machines/task-machine.ts'
import { snapshotFault } from '../machines/task-snapshot.ts'
import { moved } from '../machines/task-transition.ts'
import { enterTeam } from './enter-team.ts'
import { loadSharedLimits } from './limits.ts'
import { dueAfter, eventOf, type Moment } from './moment.ts'
import { startGroupsAbove, wayToWorking } from './settle-family.ts'

export interface AdmitRequest extends Moment {
  /** Free slots of this engine in all. */
  free: number
  /** Executors that this instance has, with their free slots. */
  executors: ReadonlyArray<{ name: string; free: number; timeoutMs: number | undefined }>
  /** Until when this instance counts as alive from now on: whoever owns runs must. */
  leaseUntil: number
}

/** So many lanes with nothing but full ones before them are looked through at once. */
const usuallyFull = 50

interface Loaded {
  heads: TaskRecord[]
  room: Room
}

/** What may still be started, counted inside the transaction: two engines never fill one place twice. */
interface Room {
  total: number
  perExecutor: Map<string, number>
  perLane: Map<string, number>
  /** A limit of the ledger leaves less than this engine has: where nothing may start, what waits there must be known. */
  isShared: boolean
}

/** What was started, and whether something stays ready that only a shared limit holds back. */
export interface Admission {
  started: TaskRecord[]
  heldBack: boolean
}

interface Admitted {
  from: TaskRecord['status']
  task: TaskRecord
  /** Why the stored image of its machine was made anew from the row; null when it was sound. */
  fault: string | null
}

interface Verdict {
  admitted: Admitted[]
  heldBack: boolean
}

/** Starts what may start; the tasks as they are then, WORKING, each with its new run. */
export function admit(request: AdmitRequest): Step<Loaded, Verdict, Admission> {
  return {
    name: 'admit',
    load: (tx) => loadHeads(tx, request),
    judge: ({ heads, room }) => choose(heads, room, request),
    *write(tx: Tx, { admitted, heldBack }): Op<Admission> {
      if (admitted.length > 0) yield* tx.instance.renew(request.instanceId, request.leaseUntil)
      const started: TaskRecord[] = []
      for (const { from, task, fault } of admitted) {
        if (fault !== null) yield* tx.event.append(eventOf(request, 'task.repaired', task, { fault }))
        const timeoutMs =
          task.policy.timeoutMs ?? request.executors.find((each) => each.name === task.executor)?.timeoutMs
        const dueAt = timeoutMs === undefined ? null : dueAfter(request.at, timeoutMs)
        yield* tx.task.save(task)
        yield* tx.run.insert({
          taskId: task.id,
          number: task.run,
          attempt: task.attempt,
          instanceId: request.instanceId,
          status: 'live',
          outcome: null,
          error: null,
          startedAt: request.at,
          endedAt: null,
          closedAt: null,
          dueAt,
        })
        yield* tx.event.append(
          eventOf(request, 'task.started', task, {
            from,
            run: task.run,
            attempt: task.attempt,
            ...(dueAt === null ? {} : { dueAt }),
          }),
        )
        if (task.parentId !== null) yield* startGroupsAbove(tx, task, request)
        started.push(task.policy.team === undefined ? task : yield* enterTeam(tx, task, { patience: true }, request))
      }
      return { started, heldBack }
    },
  }
}

/**
 * The first of each executor and lane, as many as might be started, and one behind them where a limit that others share stands in
 * the way: whether something is held back must be known. No more is read, however much waits.
 */
function* loadHeads(tx: Reads, request: AdmitRequest): Op<Loaded> {
  const room = yield* loadRoom(tx, request)
  const heads: TaskRecord[] = []
  for (const { name } of request.executors) {
    const limit = Math.max(Math.min(room.total, room.perExecutor.get(name) as number), room.isShared ? 1 : 0)
    if (limit <= 0) continue
    heads.push(...(yield* tx.task.ready(name, '', limit + (room.isShared ? 1 : 0))))
    // By their heads, and no more lanes with places than there are slots: there may be thousands of lanes.
    let lanesWanted = Math.max(room.total, 1) + 1
    const seen = new Set<string>()
    // The first few are enough, unless they are full.
    for (const most of [2 * lanesWanted + usuallyFull, undefined]) {
      const lanes = yield* tx.task.lanes(name, most)
      for (const lane of lanes) {
        if (lanesWanted === 0) break
        if (seen.has(lane)) continue
        seen.add(lane)
        if (!room.perLane.has(lane)) {
          const concurrency = (yield* tx.task.get(lane))?.policy.concurrency ?? request.free
          room.perLane.set(lane, concurrency - (yield* tx.task.openInLane(lane)))
        }
        const places = Math.min(limit, room.perLane.get(lane) as number)
        if (places > 0) lanesWanted--
        heads.push(...(yield* tx.task.ready(name, lane, Math.max(places, 0) + 1)))
      }
      if (lanesWanted === 0 || lanes.length < (most ?? 0)) break
    }
  }
  return { heads, room }
}

function* loadRoom(tx: Reads, request: AdmitRequest): Op<Room> {
  const room: Room = {
    total: request.free,
    perExecutor: new Map(request.executors.map(({ name, free }) => [name, free])),
    perLane: new Map(),
    isShared: false,
  }
  const shared = yield* loadSharedLimits(tx)
  if (shared === undefined) return room
  room.isShared = true
  const open = yield* tx.run.countOpen()
  if (shared.maxConcurrent !== null) {
    let running = 0
    for (const runs of open.values()) running += runs
    room.total = Math.min(room.total, shared.maxConcurrent - running)
  }
  for (const [name, limit] of Object.entries(shared.limits)) {
    const free = room.perExecutor.get(name)
    if (free !== undefined) room.perExecutor.set(name, Math.min(free, limit - (open.get(name) ?? 0)))
  }
  return room
}

function choose(heads: TaskRecord[], room: Room, request: AdmitRequest): Verdict {
  const left: Room = { ...room, perExecutor: new Map(room.perExecutor), perLane: new Map(room.perLane) }
  const admitted: Admitted[] = []
  let heldBack = false
  for (const task of heads.sort((a, b) => b.priority - a.priority || a.seq - b.seq)) {
    const executor = task.executor as string
    const inExecutor = left.perExecutor.get(executor) as number
    const inLane = task.lane === '' ? 1 : (left.perLane.get(task.lane) as number)
    if (left.total <= 0 || inExecutor <= 0 || inLane <= 0) {
      // What only this engine's own slots hold back is taken up when one of them is free.
      heldBack ||= room.isShared || inLane <= 0
      continue
    }
    left.total--
    left.perExecutor.set(executor, inExecutor - 1)
    if (task.lane !== '') left.perLane.set(task.lane, inLane - 1)
    admitted.push({
      from: task.status,
      fault: snapshotFault(task),
      task: moved(task, wayToWorking[task.status] as TaskEventName, request.at, {
        run: task.run + 1,
        runOpen: true,
        held: false,
        wakes: 0,
      }),
    })
  }
  return { admitted, heldBack }
}
