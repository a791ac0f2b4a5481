// The task's table, cell by cell: which of the 64 pairs of states are joined, which of the 88 pairs of state and event are
// edges, and that the chart of XState says the same by itself.

import { describe, expect, it, vi } from 'vitest'
import { createActor, getInitialSnapshot, transition } from 'xstate'
import { ErrandError } from '../../src/core/errors.ts'
import { isSettled, isTerminal, type TaskStatus, taskStatuses } from '../../src/entities/task.ts'
import {
  acceptedEvents,
  eventBetween,
  nextStatus,
  refuseTransition,
  requireTransition,
  statesAccepting,
} from '../../src/machines/task-edges.ts'
import { type TaskEventName, taskEvents, taskMachine } from '../../src/machines/task-machine.ts'

/** Written from conformance 1.2, not from the source: from, event, to. */
const edges: ReadonlyArray<[TaskStatus, TaskEventName, TaskStatus]> = [
  ['submitted', 'start', 'working'],
  ['submitted', 'cancel', 'canceled'],
  ['working', 'pause', 'paused'],
  ['working', 'ask', 'input_required'],
  ['working', 'complete', 'completed'],
  ['working', 'fail', 'failed'],
  ['working', 'cancel', 'canceled'],
  ['working', 'wait', 'waiting'],
  ['paused', 'resume', 'working'],
  ['paused', 'cancel', 'canceled'],
  ['input_required', 'answer', 'working'],
  ['input_required', 'cancel', 'canceled'],
  ['waiting', 'unblock', 'working'],
  ['waiting', 'cancel', 'canceled'],
  ['failed', 'retry', 'submitted'],
]
const idOfRow: Record<TaskStatus, string> = {
  submitted: 'S3-002',
  working: 'S3-003',
  paused: 'S3-004',
  input_required: 'S3-005',
  waiting: 'S3-006',
  completed: 'S3-007',
  canceled: 'S3-007',
  failed: 'S3-008',
}
const pairs = taskStatuses.flatMap((from) => taskStatuses.map((to) => ({ from, to })))
const cells = taskStatuses.flatMap((from) => taskEvents.map((event) => ({ from, event })))
const task = (status: TaskStatus, statusReason: string | null = null) => ({ id: 'task-a', status, statusReason })
const inState = (status: TaskStatus) =>
  taskMachine.resolveState({ value: status, context: { taskId: 'task-a', name: 'a', attempt: 1, run: 0 } })

describe('the states', () => {
  it('S3-001 a task has eight states, spelled as in the seed', () => {
    expect([...taskStatuses].sort()).toEqual(
      ['submitted', 'working', 'paused', 'input_required', 'completed', 'canceled', 'failed', 'waiting'].sort(),
    )
  })

  it('S3-012 only completed and canceled are terminal', () => {
    expect(taskStatuses.filter(isTerminal)).toEqual(['completed', 'canceled'])
    expect(taskStatuses.filter(isSettled)).toEqual(['completed', 'failed', 'canceled'])
  })
})

describe('the table', () => {
  it('S3-009 the transition table has exactly fifteen edges', () => {
    const joined = pairs.filter(({ from, to }) => eventBetween(from, to) !== undefined)
    expect(joined).toHaveLength(15)
    expect(pairs).toHaveLength(64)
  })

  it.each(pairs)(
    'S3-002…S3-009 S3-011 the table joins $from and $to exactly if conformance 1.2 does',
    ({ from, to }) => {
      const edge = edges.find(([source, , target]) => source === from && target === to)
      expect(eventBetween(from, to), idOfRow[from]).toBe(edge?.[1])
    },
  )

  it.each(cells)(
    'X-005 the table answers $event in $from with its edge, or with an error that names the accepted events',
    (cell) => {
      const { from, event } = cell
      const edge = edges.find(([source, name]) => source === from && name === event)
      expect(nextStatus(from, event)).toBe(edge?.[2])
      if (edge) {
        expect(requireTransition(task(from), event)).toBe(edge[2])
        return
      }
      const allowed = edges.filter(([source]) => source === from).map(([, name]) => name)
      const refusal = refusalOf(() => requireTransition(task(from), event))
      expect(refusal.code).toBe('INVALID_TRANSITION')
      expect(refusal.details).toMatchObject({ taskId: 'task-a', from, event })
      expect([...(refusal.details.allowed as string[])].sort()).toEqual([...allowed].sort())
      expect(refusal.message).toContain(`it is ${from}`)
      for (const name of allowed) expect(refusal.message).toContain(name)
    },
  )

  it('S3-009 the error names both states when a state was requested by name', () => {
    const refusal = refusalOf(() => refuseTransition(task('paused'), 'update', 'completed'))
    expect(refusal.details).toMatchObject({ from: 'paused', to: 'completed' })
    expect(refusal.message).toBe(
      'Cannot move to completed task-a: it is paused. From paused a task accepts: resume (→ working), cancel (→ canceled).',
    )
  })

  it.each(['submitted', 'input_required', 'waiting'] as const)(
    'the error says how a task that is %s is held back instead of paused',
    (status) => {
      const how = 'Only a working task can be paused. To hold it back, `block` it by another task.'
      expect(refusalOf(() => requireTransition(task(status), 'pause')).message).toContain(how)
      expect(refusalOf(() => refuseTransition(task(status), 'update', 'paused')).message).toContain(how)
      expect(refusalOf(() => requireTransition(task(status), 'retry')).message).not.toContain(how)
    },
  )

  it('a task that only waits for its children is not advised to be held back', () => {
    const { message } = refusalOf(() => requireTransition(task('waiting', 'children'), 'pause'))
    expect(message).toBe(
      'Cannot pause task-a: it is waiting. From waiting a task accepts: unblock (→ working), cancel (→ canceled).',
    )
  })

  it('the error says that a final state is final', () => {
    expect(refusalOf(() => requireTransition(task('canceled'), 'retry')).message).toBe(
      'Cannot retry task-a: it is canceled. canceled is final.',
    )
  })

  it('statesAccepting and acceptedEvents agree with the table', () => {
    for (const event of taskEvents) {
      expect(statesAccepting(event)).toEqual(
        taskStatuses.filter((from) => edges.some(([source, name]) => source === from && name === event)),
      )
    }
    for (const from of taskStatuses) {
      expect(acceptedEvents(from).sort()).toEqual(
        edges.flatMap(([source, name]) => (source === from ? [name] : [])).sort(),
      )
    }
  })
})

describe('the chart', () => {
  it.each(cells)('S3-013 the chart can $event in $from exactly if the table can', ({ from, event }) => {
    expect(inState(from).can({ type: event })).toBe(nextStatus(from, event) !== undefined)
  })

  it.each(cells)('S3-013 X-005 the chart goes where the table goes on $event in $from, or stays', ({ from, event }) => {
    const [next] = transition(taskMachine, inState(from), { type: event })
    expect(next.value).toBe(nextStatus(from, event) ?? from)
  })

  it('the chart begins submitted, with its input as context', () => {
    const snapshot = getInitialSnapshot(taskMachine, { taskId: 'task-a', name: 'a' })
    expect(snapshot.value).toBe('submitted')
    expect(snapshot.context).toEqual({ taskId: 'task-a', name: 'a', attempt: 1, run: 0 })
  })

  it('the chart is done in a terminal state, and not when failed (conformance 1.2)', () => {
    for (const status of taskStatuses) {
      expect(inState(status).status).toBe(isTerminal(status) ? 'done' : 'active')
      expect(taskMachine.states[status]?.type).toBe(isTerminal(status) ? 'final' : 'atomic')
    }
  })

  it('X-006 a stopped actor ignores late events', () => {
    // XState's development build warns of each; its production build does not.
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const actor = createActor(taskMachine, { snapshot: inState('working'), input: {} }).start()
    actor.send({ type: 'complete' })
    for (const event of taskEvents) actor.send({ type: event })
    expect(actor.getSnapshot().value).toBe('completed')
    warn.mockRestore()
  })
})

function refusalOf(work: () => unknown): ErrandError {
  try {
    work()
  } catch (error) {
    if (ErrandError.isInstance(error)) return error
    throw error
  }
  throw new Error('nothing was refused')
}
