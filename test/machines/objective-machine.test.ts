// The table of an objective, cell by cell, and that the chart agrees.
import { describe, expect, it } from 'vitest'
import { createMachine, transition } from 'xstate'
import { objectiveStatuses } from '../../src/entities/team.ts'
import { machines } from '../../src/machines/charts.ts'
import { objectiveEventBetween, objectiveTransitions } from '../../src/machines/lifecycles.ts'

const objectiveMachine = createMachine(machines.objective.config)
const objectiveEvents = ['reopen', 'start', 'finish', 'block'] as const

const leadsTo = { reopen: 'todo', start: 'active', finish: 'done', block: 'blocked' } as const
const cells = objectiveStatuses.flatMap((from) => objectiveEvents.map((event) => ({ from, event })))
const pairs = objectiveStatuses.flatMap((from) => objectiveStatuses.map((to) => ({ from, to })))

describe('an objective', () => {
  it.each(cells)(
    'S2-024 an objective answers $event when $from as in its table, and so does its chart',
    ({ from, event }) => {
      const to = leadsTo[event] === from ? undefined : leadsTo[event]
      const snapshot = objectiveMachine.resolveState({ value: from })
      expect(objectiveTransitions[from][event]).toBe(to)
      expect(snapshot.can({ type: event })).toBe(to !== undefined)
      expect(transition(objectiveMachine, snapshot, { type: event })[0].value).toBe(to ?? from)
    },
  )

  it.each(pairs)(
    'C-65 S2-026 S2-029 an objective goes from $from to $to by one event, if they differ',
    ({ from, to }) => {
      const event = objectiveEventBetween(from, to)
      expect(event === undefined).toBe(from === to)
      if (event !== undefined) expect(objectiveTransitions[from][event]).toBe(to)
    },
  )

  it('S2-025 an objective begins as todo and has no final state', () => {
    expect(objectiveMachine.config.initial).toBe('todo')
    for (const status of objectiveStatuses) {
      expect(objectiveMachine.resolveState({ value: status }).status).toBe('active')
    }
  })
})
