// The lifecycle of a task: its states, the events that each accepts, and every effect of a transition by name. The engine uses the machine
// twice. A step asks it what an event means, and carries out the ledger's half of the named actions in order, inside its transaction
// (operations/steps/task-effects.ts). After the commit, a live actor carries out the live half of the same actions (actors/).
//
// Events with a dot are facts about the task's relatives. They have no target: they raise events of the table, so that each transition has
// its own row and event in the ledger. Entry actions cannot know that a state is only passed through, so effects stand on the transitions.
import { setup } from 'xstate'
import type { CallRecord } from '../entities/call.ts'
import type { DependencyRecord } from '../entities/dependency.ts'
import type { EventType } from '../entities/event.ts'
import type { RunOutcome } from '../entities/run.ts'
import { type Changes, isSettled, type TaskRecord, type TaskStatus } from '../entities/task.ts'
import { decider } from './decide.ts'
import {
  type ChildFacts,
  childrenBroken,
  childrenComplete,
  endsWait,
  isBroken,
  isStuckGroup,
  type WaitParams,
} from './family.ts'

/** The events of a task, each a transition of the table. */
export const taskEvents = [
  'start',
  'pause',
  'ask',
  'wait',
  'complete',
  'fail',
  'cancel',
  'resume',
  'answer',
  'unblock',
  'retry',
] as const
export type TaskEventName = (typeof taskEvents)[number]

/** What a transition carries beside its event. */
export interface TransitionData {
  /** New values of the row beside its state. */
  set?: Changes
  /** Data of the event in the ledger beside what each event of its kind has. */
  data?: Record<string, unknown>
  /** What led to this transition: an event that is written before its own. */
  cause?: { type: EventType; data: (next: TaskRecord) => Record<string, unknown> }
  /** The run that starts; absent: the task is worked on from outside, or ends without one. */
  run?: { number: number; dueAt: number | null }
  /** The outcome of the run that ends, where the next state does not determine it. */
  outcome?: RunOutcome
  /** For a run that settles: whether it is closed at once, because nothing of it is in flight, and whether it made any entry. */
  settling?: { closed: boolean; journaled: boolean }
  /** The run that ends only waits. */
  suspends?: true
  /** Of a failed attempt: the new attempt that follows at once. */
  retry?: Changes | undefined
  /** Why a task that goes on has no owner any more: it waits for another one at once. */
  leftBehind?: string | null
  /** The task only passes through the next state. */
  passing?: true
  /** What a live actor shows of the task from now on. */
  shown?: Partial<TaskMachineContext>
}

/** `own` is the row of the task that the event is sent to. */
export type TaskMachineEvent =
  | ({ type: TaskEventName } & TransitionData)
  /** A child has failed for good. */
  | { type: 'child.failed'; own: TaskRecord; child: TaskRecord }
  /** A child has ended, can move or can no longer. `allJudged`: all else that this concerns has been judged. */
  | { type: 'child.settled'; own: TaskRecord; children: ChildFacts | undefined; allJudged: boolean }
  /** A task that this one comes after has ended or was deleted. */
  | { type: 'blocker.settled'; own: TaskRecord; blocker: TaskRecord; edge: DependencyRecord }
  /** A task that `run.wait` waits for has ended. */
  | { type: 'awaited.settled'; own: TaskRecord; call: CallRecord; status: TaskStatus; othersOpen: boolean }
  /** It fails for good, whatever its state. */
  | { type: 'fail.anywhere'; own: TaskRecord; set: Changes; cancelBelow?: string }

/** What inspectors see of a task. */
export interface TaskMachineContext {
  taskId: string
  name: string
  attempt: number
  run: number
}

type OfType<T extends TaskMachineEvent['type']> = Extract<TaskMachineEvent, { type: T }>
type Given = { event: TaskMachineEvent }

const isChildFailed = (event: TaskMachineEvent): event is OfType<'child.failed'> => event.type === 'child.failed'
const isChildSettled = (event: TaskMachineEvent): event is OfType<'child.settled'> => event.type === 'child.settled'
const isBlockerSettled = (event: TaskMachineEvent): event is OfType<'blocker.settled'> =>
  event.type === 'blocker.settled'

/** Why a task waits whose executor has returned: for its children, or for a slot in which its next generation begins. */
const isReturn = (reason: string | null | undefined): boolean => reason === 'children' || reason === 'continued'

const guards = {
  isPassing: ({ event }: Given) => 'passing' in event,
  hasRun: ({ event }: Given) => 'run' in event,
  isLeftBehind: ({ event }: Given) => 'leftBehind' in event && event.leftBehind !== null,
  /** Its executor has returned, and nothing that it requested goes on. */
  hasReturned: ({ event }: Given) => 'set' in event && isReturn(event.set?.statusReason),
  isRetried: ({ event }: Given) => 'retry' in event && event.retry !== undefined,

  failsItsParent: ({ event }: Given) =>
    isChildFailed(event) && event.own.deletedAt === null && event.own.policy.onChildFailure === 'fail',
  cancelsItsSiblings: ({ event }: Given) =>
    isChildFailed(event) && event.own.deletedAt === null && event.own.policy.onChildFailure === 'cancel-siblings',
  childrenComplete: ({ event }: Given) =>
    isChildSettled(event) && event.children !== undefined && childrenComplete(event.own, event.children),
  childrenBroken: ({ event }: Given) =>
    isChildSettled(event) && event.children !== undefined && childrenBroken(event.own, event.children),
  /** That nothing can move is decided after all else is judged: until then a task may be free without being known to be. */
  othersUnjudged: ({ event }: Given) =>
    isChildSettled(event) &&
    event.children !== undefined &&
    childrenBroken(event.own, event.children) &&
    event.children.live &&
    !event.allJudged,
  isStuckGroup: ({ event }: Given) => isChildSettled(event) && isStuckGroup(event.own),

  isSatisfied: ({ event }: Given) =>
    isBlockerSettled(event) &&
    (event.blocker.status === 'completed' ||
      event.blocker.deletedAt !== null ||
      (isBroken(event.blocker.status) &&
        !isSettled(event.own.status) &&
        event.own.policy.onDependencyFailure === 'ignore')),
  cancelsDependents: ({ event }: Given) =>
    isBlockerSettled(event) && isBroken(event.blocker.status) && event.own.policy.onDependencyFailure === 'cancel',
  endsWait: ({ event }: Given) =>
    event.type === 'awaited.settled' && endsWait(event.call.params as WaitParams, event.status, event.othersOpen),
  cancelsBelow: ({ event }: Given) => event.type === 'fail.anywhere' && event.cancelBelow !== undefined,
}

const nothing = (): void => {}

/** The effects of transitions, by name. Engines provide them: the ledger's half in their steps, the live half in their actors. */
export const taskActions = {
  startRun: nothing,
  endRun: nothing,
  closeEntries: nothing,
  clearTimer: nothing,
  clearStuck: nothing,
  reopenWaits: nothing,
  record: (_given: object, _params: { as: EventType }) => {},
  startGroupsAbove: nothing,
  reopenFamily: nothing,
  judge: nothing,
  settleFamily: nothing,
  cancelBelow: nothing,
  cancelSiblings: nothing,
  blameChild: nothing,
  judgeLater: nothing,
  noteStuck: nothing,
  reviveLater: nothing,
  satisfyDependency: nothing,
  endWait: nothing,
}

const base = setup({
  types: {
    context: {} as TaskMachineContext,
    events: {} as TaskMachineEvent,
    input: {} as Partial<TaskMachineContext>,
  },
  guards,
  actions: taskActions,
})

/** Of a transition to WORKING from where the task goes on in the same step. */
export const inPassing = { passing: true, set: { held: false, wakes: 0 } } as const

const machineSetup = base.extend({
  actions: {
    firstStart: base.raise({ type: 'start', ...inPassing }),
    firstResume: base.raise({ type: 'resume', ...inPassing }),
    firstAnswer: base.raise({ type: 'answer', ...inPassing }),
    firstUnblock: base.raise({ type: 'unblock', ...inPassing }),
    thenComplete: base.raise({ type: 'complete' }),
    thenFail: base.raise(({ event }) => ({ type: 'fail', set: event.type === 'fail.anywhere' ? event.set : {} })),
    thenCancel: base.raise(({ event }) => ({
      type: 'cancel',
      set: {
        statusReason: isBlockerSettled(event)
          ? `dependency ${event.blocker.id} ${event.blocker.status === 'failed' ? 'failed' : 'was canceled'}`
          : null,
      },
    })),
    thenRetry: base.raise(({ event }) => ({ type: 'retry', set: 'retry' in event ? (event.retry ?? {}) : {} })),
    thenWait: base.raise(({ event }) => ({
      type: 'wait',
      set: { statusReason: 'leftBehind' in event ? (event.leftBehind ?? null) : null },
    })),
  },
})

const record = (as: EventType) => ({ type: 'record' as const, params: { as } })

const toWorking = [
  { guard: 'isPassing', target: 'working', actions: [record('task.started')] },
  { guard: 'isLeftBehind', target: 'working', actions: [record('task.started'), 'thenWait'] },
  { guard: 'hasRun', target: 'working', actions: ['startRun', record('task.started'), 'startGroupsAbove', 'judge'] },
  { target: 'working', actions: [record('task.started'), 'startGroupsAbove', 'judge'] },
] as const
const ends = ['closeEntries', 'clearTimer', 'clearStuck'] as const
const cancel = {
  target: 'canceled',
  actions: [...ends, record('task.canceled'), 'settleFamily', 'cancelBelow'],
} as const
const awaited = { guard: 'endsWait', actions: 'endWait' } as const
const blocked = [
  { guard: 'isSatisfied', actions: 'satisfyDependency' },
  { guard: 'cancelsDependents', actions: 'thenCancel' },
  { actions: 'judgeLater' },
] as const

function resting<W extends 'firstStart' | 'firstResume' | 'firstAnswer' | 'firstUnblock'>(first: W) {
  return {
    cancel,
    'child.failed': [
      { guard: 'failsItsParent', actions: ['blameChild', first, 'thenFail'] },
      { guard: 'cancelsItsSiblings', actions: 'cancelSiblings' },
    ],
    'child.settled': [
      { guard: 'childrenComplete', actions: [first, 'thenComplete'] },
      { guard: 'othersUnjudged', actions: 'judgeLater' },
      { guard: 'childrenBroken', actions: ['blameChild', first, 'thenFail'] },
      { actions: 'noteStuck' },
    ],
    'blocker.settled': blocked,
    'awaited.settled': awaited,
    'fail.anywhere': [
      { guard: 'cancelsBelow', actions: ['cancelBelow', first, 'thenFail'] },
      { actions: [first, 'thenFail'] },
    ],
  } as const
}

/** Increased when a stored snapshot of an older machine can no longer be restored from the name of its state. */
export const taskMachineVersion = 1

export const taskMachine = machineSetup.createMachine({
  id: 'task',
  version: String(taskMachineVersion),
  initial: 'submitted',
  context: ({ input }) => ({ taskId: '', name: '', attempt: 1, run: 0, ...input }),
  states: {
    submitted: { on: { start: toWorking, ...resting('firstStart') } },
    working: {
      exit: 'endRun',
      on: {
        pause: { target: 'paused', actions: [record('task.paused'), 'judge'] },
        ask: { target: 'input_required', actions: [record('task.input_required'), 'judge'] },
        wait: [
          { guard: 'hasReturned', target: 'waiting', actions: ['closeEntries', record('task.waiting'), 'judge'] },
          { target: 'waiting', actions: [record('task.waiting'), 'judge'] },
        ],
        complete: { target: 'completed', actions: [...ends, record('task.completed'), 'settleFamily'] },
        fail: [
          { guard: 'isRetried', target: 'failed', actions: [...ends, record('task.failed'), 'thenRetry'] },
          { target: 'failed', actions: [...ends, record('task.failed'), 'settleFamily'] },
        ],
        cancel,
        'child.failed': [
          { guard: 'failsItsParent', actions: ['blameChild', 'thenFail'] },
          { guard: 'cancelsItsSiblings', actions: 'cancelSiblings' },
        ],
        'child.settled': [
          { guard: 'childrenComplete', actions: 'thenComplete' },
          { guard: 'othersUnjudged', actions: 'judgeLater' },
          { guard: 'childrenBroken', actions: ['blameChild', 'thenFail'] },
          { actions: 'noteStuck' },
        ],
        'blocker.settled': blocked,
        'awaited.settled': awaited,
        'fail.anywhere': [{ guard: 'cancelsBelow', actions: ['cancelBelow', 'thenFail'] }, { actions: 'thenFail' }],
      },
    },
    paused: { on: { resume: toWorking, ...resting('firstResume') } },
    input_required: { on: { answer: toWorking, ...resting('firstAnswer') } },
    waiting: { on: { unblock: toWorking, ...resting('firstUnblock') } },
    completed: { type: 'final' },
    failed: {
      on: {
        retry: { target: 'submitted', actions: ['reopenWaits', record('task.retried'), 'reopenFamily', 'judge'] },
        'child.settled': { guard: 'isStuckGroup', actions: 'reviveLater' },
      },
    },
    canceled: { type: 'final' },
  },
  // A dependency of a settled task is satisfied too: a retry must not find it blocked by a task that has completed.
  on: { 'blocker.settled': { guard: 'isSatisfied', actions: 'satisfyDependency' } },
})

/** What the machine of a task answers to an event in a state. */
export const decideTask = decider(taskMachine)
