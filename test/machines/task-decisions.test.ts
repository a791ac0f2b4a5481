// What the machine of a task decides: for every state, event and fact the transitions that follow and their actions in order. Written from
// the conformance tables (1.2, and the families of 2.4), not from the machine. Each transition, guard and action of the machine is removed in
// turn, and a decision must differ.
import { describe, expect, it } from 'vitest'
import { createMachine, transition } from 'xstate'
import type { TaskRecord, TaskStatus } from '../../src/entities/task.ts'
import type { ChartAction, ChartState, ChartTransition } from '../../src/machines/chart.ts'
import { type Decide, decider } from '../../src/machines/decide.ts'
import type { ChildFacts } from '../../src/machines/family.ts'
import { decideTask, type TaskMachineEvent, taskEvents, taskMachine } from '../../src/machines/task-machine.ts'
import { taskOf } from './task-of.ts'

type Spec = [state: TaskStatus, event: TaskMachineEvent, transitions: string[]]

const ways = { submitted: 'start', paused: 'resume', input_required: 'answer', waiting: 'unblock' } as const
const resting = Object.keys(ways) as Array<keyof typeof ways>
const live = [...resting, 'working'] as const

const failing = 'closeEntries, clearTimer, clearStuck, record task.failed'
const failed = `fail→failed: ${failing}, settleFamily`
const ended = (event: string, to: string): string =>
  `${event}→${to}: closeEntries, clearTimer, clearStuck, record task.${to}, settleFamily`
/** From WORKING a run ends first. */
const fromWorking = (line: string): string => line.replace(': ', ': endRun, ')

const noChildren: ChildFacts = { any: false, live: false, movable: false, stuck: null, broken: null }
const completed = { ...noChildren, any: true }
const broken = { ...completed, broken: 'task-child' }
const stuck = { ...completed, live: true, stuck: 'task-child' }
const movable = { ...completed, live: true, movable: true }

const edge = {
  taskId: 'task-a',
  blockerId: 'task-b',
  kind: 'after',
  callId: '',
  satisfiedAt: null,
  createdAt: 0,
} as const
const waitCall = { params: { tasks: ['task-b', 'task-c'], mode: 'all', settled: false } } as never

function specs(): Spec[] {
  return [...resting.flatMap(restingSpecs), ...workingSpecs(), ...live.flatMap(liveSpecs), ...settledSpecs()]
}

function restingSpecs(status: keyof typeof ways): Spec[] {
  const type = ways[status]
  const begins = `${type}→working: record task.started, startGroupsAbove, judge`
  return [
    [status, { type }, [begins]],
    [status, { type, run: { number: 1, dueAt: null } }, [begins.replace(': ', ': startRun, ')]],
    [status, { type, passing: true }, [`${type}→working: record task.started`]],
    [
      status,
      { type, leftBehind: 'released' },
      [`${type}→working: record task.started`, fromWorking('wait→waiting: record task.waiting, judge')],
    ],
    [status, { type, leftBehind: null }, [begins]],
  ]
}

function workingSpecs(): Spec[] {
  const lines: Array<[TaskMachineEvent, string[]]> = [
    [{ type: 'pause' }, ['pause→paused: record task.paused, judge']],
    [{ type: 'ask' }, ['ask→input_required: record task.input_required, judge']],
    [{ type: 'wait' }, ['wait→waiting: record task.waiting, judge']],
    [{ type: 'wait', set: { statusReason: 'children' } }, ['wait→waiting: closeEntries, record task.waiting, judge']],
    [{ type: 'complete' }, [ended('complete', 'completed')]],
    [{ type: 'fail' }, [failed]],
    [
      { type: 'fail', retry: { attempt: 2 } },
      [`fail→failed: ${failing}`, 'retry→submitted: reopenWaits, record task.retried, reopenFamily, judge'],
    ],
  ]
  return lines.map(([event, [first, ...rest]]) => ['working', event, [fromWorking(first as string), ...rest]])
}

/** What relatives mean to a task that has not settled. It passes through WORKING, with the event of each transition. */
function liveSpecs(status: (typeof live)[number]): Spec[] {
  const own = (changes: Partial<TaskRecord>): TaskRecord => taskOf({ status, ...changes })
  const through = (fact: string, cause: string[], line: string): string[] => [
    `${fact}→${status}: ${cause.join(', ')}`,
    ...(status === 'working' ? [] : [`${ways[status]}→working: record task.started`]),
    fromWorking(line),
  ]
  const group = own({ group: true, executor: null })
  const children = (row: TaskRecord, facts: ChildFacts, allJudged = true): TaskMachineEvent => ({
    type: 'child.settled',
    own: row,
    children: facts,
    allJudged,
  })
  const none = `child.settled→${status}: noteStuck`
  const child = taskOf({ status: 'failed' })
  const cancels = ended('cancel', 'canceled').concat(', cancelBelow')
  const canceled = status === 'working' ? fromWorking(cancels) : cancels
  const dependent = (policy: TaskRecord['policy'], blocker: TaskStatus, deletedAt: number | null = null) =>
    ({
      type: 'blocker.settled',
      own: own({ policy }),
      blocker: taskOf({ id: 'task-b', status: blocker, deletedAt }),
      edge,
    }) as const
  const awaited = (end: TaskStatus, othersOpen: boolean) =>
    ({ type: 'awaited.settled', own: own({}), call: waitCall, status: end, othersOpen }) as const
  const satisfied = [`blocker.settled→${status}: satisfyDependency`]
  return [
    [status, { type: 'cancel' }, [canceled]],
    [status, { type: 'child.failed', own: own({}), child }, []],
    [
      status,
      { type: 'child.failed', own: own({ policy: { onChildFailure: 'fail' } }), child },
      through('child.failed', ['blameChild'], failed),
    ],
    [status, { type: 'child.failed', own: own({ policy: { onChildFailure: 'fail' }, deletedAt: 5 }), child }, []],
    [
      status,
      { type: 'child.failed', own: own({ policy: { onChildFailure: 'cancel-siblings' } }), child },
      [`child.failed→${status}: cancelSiblings`],
    ],
    [status, children(group, completed), through('child.settled', [], ended('complete', 'completed'))],
    [status, children(group, broken), through('child.settled', ['blameChild'], failed)],
    [status, children(group, stuck), through('child.settled', ['blameChild'], failed)],
    [status, children(group, stuck, false), [`child.settled→${status}: judgeLater`]],
    [status, children(group, broken, false), through('child.settled', ['blameChild'], failed)],
    [status, children(group, movable), [none]],
    [status, children(own({ policy: { autoComplete: true } }), broken), [none]],
    [status, dependent({}, 'completed'), satisfied],
    [status, dependent({}, 'failed', 5), satisfied],
    [status, dependent({ onDependencyFailure: 'ignore' }, 'failed'), satisfied],
    [status, dependent({}, 'failed'), [`blocker.settled→${status}: judgeLater`]],
    [status, dependent({ onDependencyFailure: 'cancel' }, 'canceled'), [`blocker.settled→${status}: `, canceled]],
    [status, awaited('completed', true), []],
    [status, awaited('completed', false), [`awaited.settled→${status}: endWait`]],
    [status, awaited('failed', true), [`awaited.settled→${status}: endWait`]],
    [status, { type: 'fail.anywhere', own: own({}), set: {} }, through('fail.anywhere', [], failed)],
    [
      status,
      { type: 'fail.anywhere', own: group, set: {}, cancelBelow: 'late' },
      through('fail.anywhere', ['cancelBelow'], failed),
    ],
  ]
}

function settledSpecs(): Spec[] {
  const blocker = taskOf({ id: 'task-b', status: 'completed' })
  const stuckGroup = taskOf({
    status: 'failed',
    group: true,
    error: { code: 'GROUP_STUCK', message: 'nothing can move' },
  })
  const childSettled = { type: 'child.settled', children: undefined, allJudged: true } as const
  return [
    ['failed', { type: 'retry' }, ['retry→submitted: reopenWaits, record task.retried, reopenFamily, judge']],
    ['failed', { ...childSettled, own: stuckGroup }, ['child.settled→failed: reviveLater']],
    ['failed', { ...childSettled, own: taskOf({ status: 'failed', group: true }) }, []],
    ...(['failed', 'completed', 'canceled'] as const).flatMap((status): Spec[] => [
      [
        status,
        { type: 'blocker.settled', own: taskOf({ status }), blocker, edge },
        [`blocker.settled→${status}: satisfyDependency`],
      ],
      [
        status,
        {
          type: 'blocker.settled',
          own: taskOf({ status, policy: { onDependencyFailure: 'ignore' } }),
          blocker: { ...blocker, status: 'failed' },
          edge,
        },
        [],
      ],
    ]),
  ]
}

function said(decide: Decide<TaskMachineEvent>, state: TaskStatus, event: TaskMachineEvent): string[] {
  return (decide(state, event) ?? []).map(({ event: { type }, to, actions }) => {
    const names = actions.map(({ type: name, params }) =>
      params === undefined ? name : `${name} ${(params as { as: string }).as}`,
    )
    return `${type}→${to}: ${names.join(', ')}`
  })
}

const differing = (decide: Decide<TaskMachineEvent>): Spec[] =>
  specs().filter(([state, event, lines]) => said(decide, state, event).join('\n') !== lines.join('\n'))

describe('a decision', () => {
  it.each(specs().map(([state, event, lines], at) => ({ state, event, lines, at })))(
    'S3-009 C-42 C-43 C-52 C-53 the machine answers $event.type in $state with the transitions and effects of the tables ($at)',
    ({ state, event, lines }) => {
      expect(said(decideTask, state, event)).toEqual(lines)
    },
  )

  it('S3-013 every way of six events over the pure transition is one of the table, and the table has no other edge', () => {
    const edges: Record<string, string> = {
      'submitted start': 'working',
      'submitted cancel': 'canceled',
      'working pause': 'paused',
      'working ask': 'input_required',
      'working wait': 'waiting',
      'working complete': 'completed',
      'working fail': 'failed',
      'working cancel': 'canceled',
      'paused resume': 'working',
      'paused cancel': 'canceled',
      'input_required answer': 'working',
      'input_required cancel': 'canceled',
      'waiting unblock': 'working',
      'waiting cancel': 'canceled',
      'failed retry': 'submitted',
    }
    const context = { taskId: 'task-a', name: 'a', attempt: 1, run: 0 }
    const walked = new Map<string, string>()
    let front = [taskMachine.resolveState({ value: 'submitted', context })]
    for (let depth = 0; depth < 6; depth++) {
      front = front.flatMap((snapshot) =>
        taskEvents.flatMap((type) => {
          const [next] = transition(taskMachine, snapshot, { type })
          if (next.value === snapshot.value) return []
          walked.set(`${snapshot.value} ${type}`, next.value as string)
          return [next as typeof snapshot]
        }),
      )
    }
    expect(Object.fromEntries(walked)).toEqual(edges)
  })
})

// ── faults ──

interface Fault {
  name: string
  config: object
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Config = typeof taskMachine.config

const copyOf = (): { states: Record<string, ChartState>; on: ChartState['on'] } =>
  structuredClone(JSON.parse(JSON.stringify(taskMachine.config)))
const listOf = <T>(value: T | readonly T[] | undefined): T[] =>
  value === undefined ? [] : Array.isArray(value) ? [...value] : [value as T]

/** The machine without one transition, guard or action. */
function faults(): Fault[] {
  const found: Fault[] = []
  const add = (name: string, change: (config: ReturnType<typeof copyOf>) => void): void => {
    const config = copyOf()
    change(config)
    found.push({ name, config })
  }
  const whole = copyOf()
  for (const [state, { on = {}, exit }] of Object.entries({ ...whole.states, '': { on: whole.on } as ChartState })) {
    const holder = (config: ReturnType<typeof copyOf>): Mutable<ChartState> =>
      (state === '' ? config : config.states[state]) as Mutable<ChartState>
    if (exit !== undefined) add(`${state} without the exit action ${exit}`, (config) => delete holder(config).exit)
    for (const [event, given] of Object.entries(on)) {
      const transitions = listOf(given as ChartTransition | readonly ChartTransition[])
      const change = (config: ReturnType<typeof copyOf>, edit: (list: ChartTransition[]) => void): void => {
        const list = listOf(holder(config).on?.[event] as ChartTransition | readonly ChartTransition[])
        edit(list)
        ;(holder(config).on as Record<string, unknown>)[event] = list
      }
      for (const [at, { guard, actions }] of transitions.entries()) {
        const where = `${state} on ${event}, alternative ${at + 1}`
        add(`${where} removed`, (config) => change(config, (list) => list.splice(at, 1)))
        if (guard !== undefined) {
          add(`${where} without ${guard}`, (config) =>
            change(config, (list) => {
              const { guard: _guard, ...rest } = list[at] as ChartTransition
              list[at] = rest
            }),
          )
        }
        for (const [nth, action] of listOf<ChartAction>(actions as ChartAction | ChartAction[]).entries()) {
          add(`${where} without the action ${typeof action === 'string' ? action : action.type}`, (config) =>
            change(config, (list) => {
              const rest = listOf<ChartAction>((list[at] as ChartTransition).actions as ChartAction[]).toSpliced(nth, 1)
              list[at] = { ...(list[at] as ChartTransition), actions: rest }
            }),
          )
        }
      }
    }
  }
  return found
}

describe('a fault', () => {
  it('the tables find nothing in a machine that is only copied', () => {
    expect(differing(decider(createMachine(copyOf() as never, taskMachine.implementations as never)) as never)).toEqual(
      [],
    )
  })

  it.each(faults())('the tables find $name', ({ config }) => {
    const faulty = createMachine(config as Config as never, taskMachine.implementations as never)
    expect(differing(decider(faulty) as never)).not.toEqual([])
  })
})
