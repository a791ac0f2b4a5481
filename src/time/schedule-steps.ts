// The steps of schedules. What a tick leads to is decided, and the place of the schedule moved on, in the transaction that creates its task:
// any number of engines may try, and each tick is made once.
import { briefError, ErrandError, type StoredError } from '../core/errors.ts'
import { keyOfTick, type ScheduleRecord } from '../entities/schedule.ts'
import type { TaskRecord } from '../entities/task.ts'
import { type NewTask, type Op, type Reads, type Step, step, type Tx } from '../ledger/ledger.ts'
import type { TaskDraft, TreeLimits } from '../operations/drafts/draft.ts'
import { create } from '../operations/steps/create.ts'
import { newTask, requirePlace } from '../operations/steps/new-task.ts'
import { refuseCommands } from '../operations/steps/right-to-run.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import { cancel } from '../operations/steps/task-lifecycle.ts'
import { dueOf, firstTick, latestDue, nextTickAfter, tickAfter } from './schedule-ticks.ts'

export interface ScheduleRequest extends StepContext {
  treeLimits: TreeLimits
  nextId(prefix: string): string
  /** Why the task of this tick cannot be created. */
  refusal?: StoredError
}

/** With `catchUp: 'none'`, a tick that is later than this is missed. */
const lateMs = 60_000

export type ScheduleOptions = Omit<
  ScheduleRecord,
  'paused' | 'nextTick' | 'nextAt' | 'queuedTick' | 'taskId' | 'last' | 'createdAt' | 'updatedAt'
>

/** Adds a schedule, or updates it: it keeps its place unless its times change, and a paused one stays paused. */
export function putSchedule(
  options: ScheduleOptions,
  { at, treeLimits }: Pick<ScheduleRequest, 'at' | 'treeLimits'>,
): Step<ScheduleRecord> {
  const first = firstTick(options, at)
  requirePlaces(options.drafts as readonly TaskDraft[], treeLimits, at)
  return step('put schedule', function* (tx) {
    for (const { executor, mayRunCommands, runsCommands } of options.drafts as readonly TaskDraft[]) {
      if (executor !== null && !mayRunCommands) yield* refuseCommands(tx, executor, runsCommands)
    }
    const { name, cron, everyMs, timezone, overlap } = options
    const before = yield* tx.schedule.get(name)
    const isSame = before?.cron === cron && before.everyMs === everyMs && before.timezone === timezone
    const schedule: ScheduleRecord = {
      ...options,
      paused: before?.paused ?? false,
      nextTick: isSame ? before.nextTick : first,
      nextAt: null,
      queuedTick: overlap === 'queue' ? (before?.queuedTick ?? null) : null,
      taskId: before?.taskId ?? null,
      last: before?.last ?? null,
      createdAt: before?.createdAt ?? at,
      updatedAt: at,
    }
    return yield* saved(tx, planned(schedule, schedule.nextTick))
  })
}

/** @throws ErrandError INVALID_INPUT, LIMIT_EXCEEDED for a tree that could not be created. */
function requirePlaces(drafts: readonly TaskDraft[], treeLimits: TreeLimits, at: number): void {
  const born = new Map<string | null, NewTask>()
  for (const draft of drafts) {
    const parent = born.get(draft.parentId)
    requirePlace(draft, parent, treeLimits)
    born.set(draft.id, newTask(draft, parent, 0, undefined, at))
  }
}

/** Ticks of a paused schedule are not made, and not made up for. */
export function pauseSchedule(name: string, paused: boolean, { at }: StepContext): Step<ScheduleRecord> {
  return step(paused ? 'pause schedule' : 'resume schedule', function* (tx) {
    const schedule = yield* loadSchedule(tx, name)
    if (schedule.paused === paused) return schedule
    const { nextTick } = schedule
    const next = paused || nextTick === null ? nextTick : nextTickAfter(schedule, nextTick, at)
    // While it is paused, only a trigger makes a tick wait.
    const queuedTick = paused ? null : schedule.queuedTick
    return yield* saved(tx, planned({ ...schedule, paused, queuedTick, updatedAt: at }, next))
  })
}

/** Makes a task now, as if a tick had come, also while the schedule is paused. */
export function triggerSchedule(name: string, request: ScheduleRequest): Step<ScheduleRecord> {
  const replay = sameIds(request)
  return step('trigger schedule', function* (tx) {
    const schedule = yield* loadSchedule(tx, name)
    return yield* saved(tx, yield* meet(tx, schedule, yield* freeTick(tx, schedule, request.at), replay()))
  })
}

/** The first time from `at` on that has no task yet: two triggers may come in one millisecond. */
function* freeTick(tx: Reads, { name, queuedTick }: ScheduleRecord, at: number): Op<number> {
  let tick = at
  while (tick === queuedTick || (yield* tx.task.getByKey(keyOfTick(name, tick))) !== undefined) tick++
  return tick
}

/** Makes the tasks of past ticks that were not made, whatever else runs. Returns their number. */
export function makeTicks(name: string, ticks: readonly number[], request: ScheduleRequest): Step<number> {
  const replay = sameIds(request)
  return step('backfill schedule', function* (tx) {
    const schedule = yield* loadSchedule(tx, name)
    const own = replay()
    let created = 0
    for (const tick of ticks) {
      if ((yield* tx.task.getByKey(keyOfTick(name, tick))) !== undefined) continue
      yield* createTask(tx, schedule, tick, own)
      created++
    }
    return created
  })
}

/** Decides what is due: the tick that waits for the end of a task, and the next one. */
export function fireSchedule(name: string, request: ScheduleRequest): Step<void> {
  const replay = sameIds(request)
  return step('fire schedule', function* (tx) {
    const own = replay()
    let schedule = yield* tx.schedule.get(name)
    if (schedule === undefined) return
    const { queuedTick, nextTick, nextAt } = schedule
    if (queuedTick !== null && (yield* openTask(tx, schedule)) === undefined) {
      schedule = yield* begin(tx, { ...schedule, queuedTick: null }, queuedTick, own)
    }
    if (nextTick !== null && nextAt !== null && nextAt <= request.at) {
      const tick = latestDue(schedule, nextTick, request.at)
      const moved = planned(schedule, tickAfter(schedule, tick))
      const isMissed = schedule.catchUp === 'none' && request.at - dueOf(schedule, tick) > lateMs
      schedule = isMissed ? noted(moved, tick, 'missed', own) : yield* meet(tx, moved, tick, own)
    }
    yield* tx.schedule.save(schedule)
  })
}

/** @throws ErrandError NOT_FOUND */
export function* loadSchedule(tx: Reads, name: string): Op<ScheduleRecord> {
  const schedule = yield* tx.schedule.get(name)
  if (schedule !== undefined) return schedule
  throw new ErrandError(
    'NOT_FOUND',
    `Schedule not found: ${name}. \`schedules:list\` shows the schedules that exist.`,
    {
      name,
    },
  )
}

function* saved(tx: Tx, schedule: ScheduleRecord): Op<ScheduleRecord> {
  yield* tx.schedule.save(schedule)
  return schedule
}

function planned(schedule: ScheduleRecord, nextTick: number | null): ScheduleRecord {
  const nextAt = nextTick === null || schedule.paused ? null : dueOf(schedule, nextTick)
  return { ...schedule, nextTick, nextAt }
}

function noted(
  schedule: ScheduleRecord,
  tick: number,
  outcome: NonNullable<ScheduleRecord['last']>['outcome'],
  { at, refusal }: ScheduleRequest,
): ScheduleRecord {
  const error = outcome === 'refused' && refusal !== undefined ? { error: briefError(refusal) } : {}
  return { ...schedule, last: { tick, at, outcome, ...error } }
}

/** The latest task, if it is open. */
function* openTask(tx: Reads, { taskId }: ScheduleRecord): Op<TaskRecord | undefined> {
  const task = taskId === null ? undefined : yield* tx.task.get(taskId)
  return task?.completedAt === null ? task : undefined
}

/** A tick has come: begins its task, unless the task of an earlier one is open and `overlap` says otherwise. */
function* meet(tx: Tx, schedule: ScheduleRecord, tick: number, request: ScheduleRequest): Op<ScheduleRecord> {
  const { overlap, queuedTick, name } = schedule
  const open = overlap === 'allow' ? undefined : yield* openTask(tx, schedule)
  const key = keyOfTick(name, tick)
  // A trigger at the time of this tick has made its task.
  const isReplaced = overlap === 'replace' && open !== undefined && open.key !== key
  if (isReplaced && request.refusal === undefined) {
    yield* cancel(open.id, `replaced by ${key}`, request).decide(tx)
  }
  if (open === undefined || overlap === 'replace') return yield* begin(tx, schedule, tick, request)
  if (overlap !== 'queue' || queuedTick !== null) return noted(schedule, tick, 'skipped', request)
  return noted({ ...schedule, queuedTick: tick }, tick, 'queued', request)
}

function* begin(tx: Tx, schedule: ScheduleRecord, tick: number, request: ScheduleRequest): Op<ScheduleRecord> {
  if (request.refusal !== undefined) return noted(schedule, tick, 'refused', request)
  // A backfill may have made it before.
  const made = yield* tx.task.getByKey(keyOfTick(schedule.name, tick))
  const task = made ?? (yield* createTask(tx, schedule, tick, request))
  return noted({ ...schedule, taskId: task.id }, tick, 'created', request)
}

/** A request for each time that the ledger runs the step: the ids are drawn by the first and used again by the others. */
function sameIds(request: ScheduleRequest): () => ScheduleRequest {
  const drawn: string[] = []
  return () => {
    let used = 0
    const nextId = (prefix: string): string => (drawn[used++] ??= request.nextId(prefix))
    return { ...request, nextId }
  }
}

function* createTask(tx: Tx, { name, drafts }: ScheduleRecord, tick: number, request: ScheduleRequest): Op<TaskRecord> {
  const tree = withNewIds(drafts as readonly TaskDraft[], request)
  const [root, ...others] = tree as [TaskDraft, ...TaskDraft[]]
  const trees = [[{ ...root, key: keyOfTick(name, tick) }, ...others]]
  const [task] = yield* create({ ...request, trees }).decide(tx)
  return task as TaskRecord
}

/** The same tree with other ids. */
function withNewIds(drafts: readonly TaskDraft[], { nextId }: ScheduleRequest): TaskDraft[] {
  const ids = new Map(drafts.map(({ id }) => [id, nextId('task')]))
  const renamed = (id: string): string => ids.get(id) ?? id
  return drafts.map((draft) => ({
    ...draft,
    id: renamed(draft.id),
    parentId: draft.parentId === null ? null : renamed(draft.parentId),
    blockedBy: draft.blockedBy.map(renamed),
    opening: draft.opening.map((message) => ({ ...message, id: nextId('msg') })),
  }))
}
