// Update: new values for a task's definition, and with `status` the one edge that leads there; all of it or nothing.
import type { EventType } from '../entities/event.ts'
import type { TaskRecord } from '../entities/task.ts'
import { isTerminal } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import type { AnyStep, Op, Step, Tx } from '../ledger/ledger.ts'
import { eventBetween, refuseTransition, type TaskEventName } from '../machines/task-machine.ts'
import { moved, touched } from '../machines/task-transition.ts'
import type { TaskPatch } from '../options.ts'
import { cancel } from './cancel.ts'
import { eventOf, type Moment, requireTask } from './moment.ts'
import { answer, complete, fail, pause, resume, retry, start } from './verbs.ts'
import { cycleError } from './wait.ts'

/** What a task must not be told anew while it works, or once it is over. */
const definingFields = [
  'executor',
  'input',
  'blockedBy',
  'retry',
  'timeoutMs',
  'onInterrupt',
  'notBefore',
  'goal',
] as const

interface Loaded {
  task: TaskRecord
  blockers: string[]
  newBlockers: TaskRecord[]
  cycle: string[] | undefined
}

interface Verdict {
  task: TaskRecord
  verb: AnyStep | null
  removed: string[]
  added: TaskRecord[]
  changed: string[]
}

export function update(id: string, patch: TaskPatch, moment: Moment): Step<Loaded, Verdict, void> {
  return {
    name: 'update',
    *load(tx): Op<Loaded> {
      const task = requireTask(yield* tx.task.get(id), id)
      if (patch.blockedBy === undefined) return { task, blockers: [], newBlockers: [], cycle: undefined }
      const blockers = yield* tx.dependency.blockers(id)
      const newBlockers: TaskRecord[] = []
      for (const blocker of new Set(patch.blockedBy)) {
        if (!blockers.includes(blocker)) newBlockers.push(requireTask(yield* tx.task.get(blocker), blocker))
      }
      const cycle = yield* tx.dependency.path(
        newBlockers.map((each) => each.id),
        id,
      )
      return { task, blockers, newBlockers, cycle }
    },
    judge: (loaded) => judge(loaded, patch, moment),
    write: (tx, verdict) => write(tx, verdict, moment),
  }
}

function judge({ task, blockers, newBlockers, cycle }: Loaded, patch: TaskPatch, moment: Moment): Verdict {
  refuseLateChange(task, patch)
  if (cycle) throw cycleError(`${task.id} cannot come after ${cycle[0]}`, [task.id, ...cycle])
  const { status, blockedBy, retry: retryPolicy, timeoutMs, onInterrupt, ...plain } = patch
  const policy = { ...task.policy }
  assignOrDelete(policy, 'retry', retryPolicy)
  assignOrDelete(policy, 'timeoutMs', timeoutMs)
  assignOrDelete(policy, 'onInterrupt', onInterrupt)
  const removed = blockedBy === undefined ? [] : blockers.filter((blocker) => !blockedBy.includes(blocker))
  const defined = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined))
  const notBefore =
    patch.notBefore === undefined
      ? task.notBefore
      : patch.notBefore !== null && patch.notBefore > moment.at
        ? patch.notBefore
        : null
  return {
    task: touched(task, moment.at, { ...defined, policy, notBefore }),
    verb: status === undefined ? null : verbTo(task, status, moment),
    removed,
    added: newBlockers,
    changed: Object.keys(patch).filter((field) => field !== 'status'),
  }
}

function refuseLateChange(task: TaskRecord, patch: TaskPatch): void {
  const late = definingFields.filter((field) => patch[field] !== undefined)
  if (late.length === 0 || (task.status !== 'working' && !isTerminal(task.status))) return
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot change ${late.join(', ')} of ${task.id}: it is ${task.status}. ${
      task.status === 'working' ? 'Pause it first.' : 'Create a new task.'
    } Name, description, priority and metadata may change at any time.`,
    { taskId: task.id, from: task.status, event: 'update', allowed: ['name', 'description', 'priority', 'metadata'] },
  )
}

function assignOrDelete(policy: Record<string, unknown>, field: string, value: unknown): void {
  if (value === null) delete policy[field]
  else if (value !== undefined) policy[field] = value
}

/** The verb whose edge leads to a status. @throws ErrandError INVALID_TRANSITION where there is none. */
function verbTo(task: TaskRecord, status: TaskRecord['status'], moment: Moment): AnyStep {
  const { id } = task
  switch (eventBetween(task.status, status)) {
    case 'start':
      return start(id, moment)
    case 'pause':
      return pause(id, moment)
    case 'resume':
      return resume(id, moment)
    case 'complete':
      return complete(id, null, moment)
    case 'fail':
      return fail(id, 'failed by update', 'TASK_FAILED', moment)
    case 'cancel':
      return cancel(id, null, moment)
    case 'retry':
      return retry(id, moment)
    case 'answer':
      return answer({ ...moment, taskId: id, questionId: undefined })
    case 'ask':
      return walkByHand(task, 'ask', 'task.input_required', moment)
    case 'wait':
      return walkByHand(task, 'wait', 'task.waiting', moment)
    case 'unblock':
      return walkByHand(task, 'unblock', 'task.started', moment)
    case undefined:
      return refuseTransition(task, 'update', status)
  }
}

/** A task that is worked on by hand may be put into the waiting states by hand; one with an executor gets there by its run. */
function walkByHand(
  task: TaskRecord,
  event: TaskEventName,
  type: EventType,
  moment: Moment,
): Step<TaskRecord, TaskRecord, void> {
  return {
    name: event,
    *load(tx) {
      return requireTask(yield* tx.task.get(task.id), task.id)
    },
    judge(current) {
      if (current.executor === null && !current.group) return moved(current, event, moment.at)
      throw new ErrandError(
        'HAS_EXECUTOR',
        `Cannot ${event} ${task.id} by hand: ${current.executor === null ? 'it is a group' : `its executor ${current.executor} decides that`}.`,
        { taskId: task.id, executor: current.executor },
      )
    },
    *write(tx, next): Op<void> {
      yield* tx.task.save(next)
      yield* tx.event.append(eventOf(moment, type, next, { from: task.status }))
    },
  }
}

function* write(tx: Tx, { task, verb, removed, added, changed }: Verdict, moment: Moment): Op<void> {
  const blockerDelta = yield* rewire(tx, task, removed, added, moment)
  const next = touched(task, moment.at, { openBlockers: task.openBlockers + blockerDelta })
  // Readiness rests on columns of both statements, so it is told by the second alone.
  yield* tx.task.saveDefinition({ ...next, ready: false })
  yield* tx.task.save(next)
  if (changed.length > 0) {
    yield* tx.event.append(
      eventOf(moment, 'task.updated', next, { changed, ...(next.notBefore === null ? {} : { dueAt: next.notBefore }) }),
    )
  }
  if (verb === null) return
  const loaded: unknown = yield* verb.load(tx)
  yield* verb.write(tx, verb.judge(loaded))
}

/** Changes the edges; by how much the number of open ones has changed. */
function* rewire(tx: Tx, task: TaskRecord, removed: string[], added: TaskRecord[], moment: Moment): Op<number> {
  let delta = 0
  const open = removed.length > 0 ? yield* tx.dependency.openBlockers(task.id) : []
  for (const blocker of removed) {
    if (open.includes(blocker)) delta--
    yield* tx.dependency.remove(task.id, blocker)
  }
  for (const blocker of added) {
    const satisfied = blocker.status === 'completed'
    if (!satisfied) delta++
    yield* tx.dependency.insert({
      taskId: task.id,
      blockerId: blocker.id,
      kind: 'after',
      callId: '',
      satisfiedAt: satisfied ? moment.at : null,
      createdAt: moment.at,
    })
  }
  return delta
}
