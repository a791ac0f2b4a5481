// The machines of calls, questions, runs and the engine, cell by cell.

import { describe, expect, it } from 'vitest'
import { transition } from 'xstate'
import { callStatuses } from '../../src/entities/call.ts'
import { runStatuses } from '../../src/entities/run.ts'
import { callMachine, decideCall, openCallStatuses } from '../../src/machines/call-machine.ts'
import { decideQuestion } from '../../src/machines/question-machine.ts'
import { decideRun } from '../../src/machines/run-machine.ts'
import { type SupervisorEvent, supervisorMachine } from '../../src/machines/supervisor-machine.ts'

const callEvents = ['begin', 'complete', 'fail'] as const

const callEdges: Record<string, string> = {
  'pending begin': 'in_progress',
  'pending fail': 'failed',
  'in_progress complete': 'completed',
  'in_progress fail': 'failed',
}
const cells = callStatuses.flatMap((from) => callEvents.map((event) => ({ from, event })))

describe('a call', () => {
  it.each(cells)('X-005 a call answers $event when $from as in its table', ({ from, event }) => {
    const to = callEdges[`${from} ${event}`]
    const snapshot = callMachine.resolveState({ value: from })
    expect(decideCall(from, { type: event })?.[0]?.to).toBe(to)
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

describe('a question', () => {
  const lapse = (hasDefault: boolean) => decideQuestion('pending', { type: 'lapse', hasDefault })?.[0]?.to

  it('an open question is answered, takes its default in time or fails without one, or is withdrawn, once', () => {
    expect(decideQuestion('pending', { type: 'answer' })?.[0]?.to).toBe('completed')
    expect([lapse(true), lapse(false)]).toEqual(['completed', 'failed'])
    expect(decideQuestion('pending', { type: 'withdraw' })?.[0]?.to).toBe('failed')
    for (const status of ['completed', 'failed'] as const) {
      for (const type of ['answer', 'withdraw'] as const) expect(decideQuestion(status, { type })).toBeUndefined()
    }
  })

  it('a question is published once', () => {
    expect(decideQuestion('pending', { type: 'publish', published: false })?.[0]?.actions).toMatchObject([
      { type: 'publish' },
    ])
    expect(decideQuestion('pending', { type: 'publish', published: true })).toBeUndefined()
  })
})

describe('a run', () => {
  it('X-005 a run ends, then is closed, and is never live again', () => {
    const reached = runStatuses.map((from) => [
      from,
      decideRun(from, { type: 'end' })?.[0]?.to,
      decideRun(from, { type: 'close' })?.[0]?.to,
    ])
    expect(reached).toEqual([
      ['live', 'ending', 'closed'],
      ['parked', 'ending', 'closed'],
      ['queued', 'ending', 'closed'],
      ['ending', undefined, 'closed'],
      ['closed', undefined, undefined],
    ])
  })

  it('a live run is parked, waits for a slot when its wait is over, and is live again when it has one', () => {
    const reached = (['park', 'wake', 'admit'] as const).map((type) =>
      runStatuses.map((from) => decideRun(from, { type })?.[0]?.to ?? null),
    )
    expect(reached).toEqual([
      ['parked', 'parked', 'parked', null, null],
      [null, 'queued', null, null, null],
      [null, 'live', 'live', null, null],
    ])
  })
})

describe('the supervisor', () => {
  const cells = ['standby', 'recovering', 'opening', 'resting', 'looking', 'admitting', 'draining', 'stopped'] as const
  const working = ['opening', 'resting', 'looking', 'admitting']
  const stateOf = (name: string) => (working.includes(name) ? { working: name } : name)
  const nameOf = (value: unknown) => (typeof value === 'string' ? value : (value as { working: string }).working)
  const answer = (event: SupervisorEvent) =>
    cells.map((name) => {
      const from = supervisorMachine.resolveState({ value: stateOf(name) as never })
      const [to, actions] = transition(supervisorMachine, from, event)
      return [nameOf(to.value), ...actions.map(({ type }) => type)].join(' ')
    })
  const unchanged = (changes: Record<string, string>) => cells.map((name) => changes[name] ?? name)

  it('X-005 the supervisor stands by, recovers, works, drains and is stopped, in this order only', () => {
    expect(answer({ type: 'work' })).toEqual(unchanged({ standby: 'recovering recover' }))
    expect(answer({ type: 'recovered' })).toEqual(unchanged({ recovering: 'opening' }))
    expect(answer({ type: 'begin' })).toEqual(unchanged({ opening: 'resting' }))
    const drained = {
      recovering: 'draining drain',
      opening: 'draining drain',
      resting: 'draining drain',
      looking: 'draining drain',
    }
    expect(answer({ type: 'drain' })).toEqual(unchanged({ ...drained, admitting: 'draining drain' }))
    expect(answer({ type: 'close' })).toEqual(unchanged({ standby: 'stopped', draining: 'stopped' }))
  })

  it('X-002 while it works, the supervisor looks when it is woken, and admits when there is room', () => {
    expect(answer({ type: 'look' })).toEqual(unchanged({ resting: 'looking look', admitting: 'looking look' }))
    expect(answer({ type: 'looked' })).toEqual(unchanged({ looking: 'resting' }))
    const admits = { resting: 'admitting admit', looking: 'admitting admit', admitting: 'admitting admit' }
    expect(answer({ type: 'admit', room: 1 })).toEqual(unchanged(admits))
    expect(answer({ type: 'admit', room: 0 })).toEqual(unchanged({}))
    expect(answer({ type: 'admitted' })).toEqual(unchanged({ admitting: 'resting' }))
  })
})
