// Update: new values for a task's definition, and with `status` the one edge that leads there; all of it or nothing.

import type { EventType } from '../entities/event.ts'
import type { TaskRecord } from '../entities/task.ts'
import { isTerminal } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import { inThree } from '../ledger/in-three.ts'
import type { Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import { awaitsChildren } from '../machines/family.ts'
import { isOwner, type Quote, requireOwner } from '../machines/ownership.ts'
import { isByHand, isLetGo } from '../machines/readiness.ts'
import { eventBetween, refuseTransition, type TaskEventName } from '../machines/task-machine.ts'
import { moved, renewed, touched } from '../machines/task-transition.ts'
import type { TaskPatch } from '../options.ts'
import { cancel } from './cancel.ts'
import { refuseIdlePolicy } from './draft.ts'
import { loadRewiring, type Rewiring, writeRewiring } from './edges.ts'
import { eventOf, loadTask, type Moment } from './moment.ts'
import { settleBlockers, settleByChildren } from './settle-family.ts'
import { answer, complete, fail, pause, refuseBlocked, resume, retry, start } from './verbs.ts'
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
  'role',
] as const

/** What is stored with the task as its policy. */
const policyFields = [
  'retry',
  'timeoutMs',
  'onInterrupt',
  'autoComplete',
  'onChildFailure',
  'onDependencyFailure',
  'concurrency',
] as const

interface Loaded {
  task: TaskRecord
  /** Asked for when the task gets an executor: it may limit how many of its children run. */
  parent: TaskRecord | undefined
  /** Undefined when the edges stay. */
  rewiring: Rewiring | undefined
}

interface Verdict extends Loaded {
  verb: Step | null
  changed: string[]
}

/** Refuses an input that the executor does not take. */
type InputCheck = (executor: string | null, input: unknown, name: string) => void

/**
 * `quote`: who writes, when it is about the state of a claimed task. `checkInput` judges a new input by the executor that the task
 * has in this transaction: another one may have been given to it since the caller read the task.
 */
export function update(
  id: string,
  patch: TaskPatch,
  quote: Quote | undefined,
  moment: Moment,
  checkInput?: InputCheck,
): Step<void> {
  return inThree<Loaded, Verdict, void>({
    name: 'update',
    *load(tx): Op<Loaded> {
      const task = yield* loadTask(tx, id)
      if (patch.owner !== undefined) requireAssignable(task)
      if (patch.autoComplete && !task.policy.autoComplete) yield* requireEndingChildren(tx, id)
      const parent =
        patch.executor === undefined || task.parentId === null ? undefined : yield* tx.task.get(task.parentId)
      if (patch.blockedBy === undefined) return { task, parent, rewiring: undefined }
      refuseLateChange(task, patch)
      const before = yield* tx.dependency.blockers(id)
      const after = patch.blockedBy
      const rewiring = yield* loadRewiring(tx, task, {
        add: after.filter((blocker) => !before.includes(blocker)),
        remove: before.filter((blocker) => !after.includes(blocker)),
      })
      return { task, parent, rewiring }
    },
    judge(loaded) {
      const { executor, name } = loaded.task
      if (patch.input !== undefined) checkInput?.(patch.executor ?? executor, patch.input, patch.name ?? name)
      return judge(loaded, patch, quote, moment)
    },
    write: (tx, verdict) => write(tx, verdict, moment),
  })
}

function judge(
  { task, parent, rewiring }: Loaded,
  patch: TaskPatch,
  quote: Quote | undefined,
  moment: Moment,
): Verdict {
  refuseLateChange(task, patch)
  refuseIdlePolicy(patch, task.name, patch.executor ?? task.executor, task.group)
  const { status, blockedBy: _blockedBy, ...rest } = patch
  const policy = { ...task.policy }
  for (const field of policyFields) assignOrDelete(policy, field, patch[field])
  const plain = Object.entries(rest).filter(
    ([field, value]) => value !== undefined && !(policyFields as readonly string[]).includes(field),
  )
  const notBefore =
    patch.notBefore === undefined
      ? task.notBefore
      : patch.notBefore !== null && patch.notBefore > moment.at
        ? patch.notBefore
        : null
  const changed = Object.keys(patch).filter((field) => field !== 'status' && field !== 'blockedBy')
  const lane = patch.executor === undefined ? {} : { lane: laneBelow(task, parent) }
  // An executor is nobody's deputy: a claim that rested (its task was paused, say) has ended.
  const claim = patch.executor === undefined ? {} : { owner: null, leaseMs: null }
  const next = touched(task, moment.at, { ...Object.fromEntries(plain), ...lane, ...claim, policy, notBefore })
  return {
    // What its owner writes is a sign of life; what anybody else may write is none.
    task: isOwner(task, quote) ? renewed(next, moment.at) : next,
    parent,
    rewiring,
    verb: status === undefined ? null : verbTo(task, status, quote, moment),
    changed,
  }
}

/** @throws ErrandError CYCLE for a parent that is to be completed by a child that comes after it. */
function* requireEndingChildren(tx: Reads, id: string): Op<void> {
  const children = (yield* tx.task.children(id)).filter((child) => !isTerminal(child.status))
  const path = yield* tx.dependency.path(
    children.map((child) => child.id),
    new Set([id]),
  )
  if (path) throw cycleError(`${id} cannot be completed by its children`, [id, ...path])
}

/** @throws ErrandError INVALID_INPUT for a group: what it holds is run, not it. */
function laneBelow(task: TaskRecord, parent: TaskRecord | undefined): string {
  if (task.group) {
    throw new ErrandError(
      'INVALID_INPUT',
      `${task.id} is a group and cannot have an executor. Give one to its tasks.`,
      {
        taskId: task.id,
      },
    )
  }
  return parent?.policy.concurrency === undefined ? '' : parent.id
}

function refuseLateChange(task: TaskRecord, patch: TaskPatch): void {
  const late = definingFields.filter((field) => patch[field] !== undefined)
  const isDone = isTerminal(task.status) || awaitsChildren(task)
  if (late.length === 0 || (task.status !== 'working' && !isDone)) return
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot change ${late.join(', ')} of ${task.id}: ${awaitsChildren(task) ? 'its own work is done' : `it is ${task.status}`}. ${
      isDone ? 'Create a new task.' : 'Pause it first.'
    } Name, description, priority and metadata may change at any time.`,
    { taskId: task.id, from: task.status, event: 'update', allowed: ['name', 'description', 'priority', 'metadata'] },
  )
}

/** To name an owner is to say who shall begin: not for what runs by itself, nor over the head of who is at work. */
function requireAssignable(task: TaskRecord): void {
  const why = isByHand(task)
    ? task.status === 'submitted' || isLetGo(task)
      ? undefined
      : `it is ${task.status}${task.owner === null ? '' : ` and ${task.owner} owns it`}; \`release\` it first`
    : task.group
      ? 'it is a group; name the owners of its tasks'
      : `its executor ${task.executor} runs it`
  if (why === undefined) return
  throw new ErrandError('NOT_CLAIMABLE', `Cannot name an owner for ${task.id}: ${why}.`, {
    taskId: task.id,
    reason: isByHand(task) ? 'owner' : 'executor',
    status: task.status,
    owner: task.owner,
  })
}

function assignOrDelete(policy: Record<string, unknown>, field: string, value: unknown): void {
  if (value === null) delete policy[field]
  else if (value !== undefined) policy[field] = value
}

/** The verb whose edge leads to a status. @throws ErrandError INVALID_TRANSITION where there is none. */
function verbTo(task: TaskRecord, status: TaskRecord['status'], quote: Quote | undefined, moment: Moment): Step {
  const { id } = task
  switch (eventBetween(task.status, status)) {
    case 'start':
      return start(id, moment)
    case 'pause':
      return pause(id, moment)
    case 'resume':
      return resume(id, moment)
    case 'complete':
      return complete(id, null, quote, moment)
    case 'fail':
      return fail(id, { reason: 'failed by update', code: 'TASK_FAILED' }, quote, moment)
    case 'cancel':
      return cancel(id, null, moment)
    case 'retry':
      return retry(id, moment)
    case 'answer':
      return answer({ ...moment, taskId: id, questionId: undefined })
    case 'ask':
      return walkByHand(task, 'ask', 'task.input_required', quote, moment)
    case 'wait':
      return walkByHand(task, 'wait', 'task.waiting', quote, moment)
    case 'unblock':
      return walkByHand(task, 'unblock', 'task.started', quote, moment)
    case undefined:
      return refuseTransition(task, 'update', status)
  }
}

/** A task that is worked on by hand may be put into the waiting states by hand; one with an executor gets there by its run. */
function walkByHand(
  task: TaskRecord,
  event: TaskEventName,
  type: EventType,
  quote: Quote | undefined,
  moment: Moment,
): Step<void> {
  return inThree<TaskRecord, TaskRecord, void>({
    name: event,
    *load(tx) {
      const current = yield* loadTask(tx, task.id)
      yield* refuseBlocked(tx, current, event)
      return current
    },
    judge(current) {
      if (isByHand(current)) {
        requireOwner(current, quote)
        return moved(current, event, moment.at)
      }
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
  })
}

function* write(tx: Tx, { task, rewiring, verb, changed }: Verdict, moment: Moment): Op<void> {
  // Readiness rests on columns of both statements, so only the second returns it.
  yield* tx.task.saveDefinition({ ...task, ready: false, claimable: false })
  yield* tx.task.save(task)
  if (changed.length > 0) {
    if (changed.includes('concurrency')) {
      yield* tx.task.setLanes(task.id, task.policy.concurrency === undefined ? '' : task.id)
    }
    yield* tx.event.append(eventOf(moment, 'task.updated', task, { changed }))
  }
  if (rewiring !== undefined) yield* writeRewiring(tx, rewiring, moment)
  // What its policies speak of may have happened before: its dependencies failed, its children ended.
  if (changed.includes('onDependencyFailure')) yield* settleBlockers(tx, task.id, moment)
  if (verb !== null) yield* verb.decide(tx)
  if (changed.includes('autoComplete')) yield* settleByChildren(tx, task.id, moment)
}
