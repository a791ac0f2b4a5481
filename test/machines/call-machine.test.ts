// The call's table and the run's, cell by cell, and that the charts agree.

import { describe, expect, it } from 'vitest'
import { createMachine, transition } from 'xstate'
import { callStatuses } from '../../src/entities/call.ts'
import { runStatuses } from '../../src/entities/run.ts'
import { machines } from '../../src/machines/charts.ts'
import { callTransitions, openCallStatuses, runTransitions } from '../../src/machines/lifecycles.ts'

const callMachine = createMachine(machines.call.config)
const supervisorMachine = createMachine(machines.supervisor.config)
const callEvents = ['begin', 'complete', 'fail'] as const

const callEdges: Record<string, string> = {
  'pending begin': 'in_progress',
  'pending fail': 'failed',
  'in_progress complete': 'completed',
  'in_progress fail': 'failed',
}
const cells = callStatuses.flatMap((from) => callEvents.map((event) => ({ from, event })))

describe('a call', () => {
  it.each(cells)('X-005 a call answers $event when $from as in its table, and so does its chart', ({ from, event }) => {
    const to = callEdges[`${from} ${event}`]
    const snapshot = callMachine.resolveState({ value: from })
    expect(callTransitions[from][event]).toBe(to)
    expect(snapshot.can({ type: event })).toBe(to !== undefined)
    expect(transition(callMachine, snapshot, { type: event })[0].value).toBe(to ?? from)
  })

  it('a call is open until it has completed or failed', () => {
    expect(openCallStatuses).toEqual(['pending', 'in_progress'])
    for (const status of callStatuses) {
      expect(callMachine.resolveState({ value: status }).status).toBe(
        openCallStatuses.includes(status) ? 'active' : 'done',
      )
    }
  })
})

describe('a run', () => {
  it('X-005 a run ends, then is closed, and is never live again', () => {
    const reached = runStatuses.map((from) => [from, runTransitions[from].end, runTransitions[from].close])
    expect(reached).toEqual([
      ['live', 'ending', 'closed'],
      ['ending', undefined, 'closed'],
      ['closed', undefined, undefined],
    ])
  })
})

describe('the supervisor', () => {
  it('X-005 the supervisor stands by, works, drains and is closed, in this order only', () => {
    const cellsOf = ['standby', 'working', 'draining', 'closed'] as const
    const events = ['work', 'drain', 'close'] as const
    const reached = cellsOf.map((value) =>
      events.map((type) => transition(supervisorMachine, supervisorMachine.resolveState({ value }), { type })[0].value),
    )
    expect(reached).toEqual([
      ['working', 'standby', 'closed'],
      ['working', 'draining', 'working'],
      ['draining', 'draining', 'closed'],
      ['closed', 'closed', 'closed'],
    ])
  })
})
