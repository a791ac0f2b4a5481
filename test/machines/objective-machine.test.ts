// The machine of an objective, cell by cell.
import { describe, expect, it } from 'vitest'
import { transition } from 'xstate'
import { objectiveStatuses } from '../../src/entities/team.ts'
import { objectiveEventBetween, objectiveMachine } from '../../src/memory/team/objective-machine.ts'

const objectiveEvents = ['reopen', 'start', 'finish', 'block'] as const

const leadsTo = { reopen: 'todo', start: 'active', finish: 'done', block: 'blocked' } as const
const cells = objectiveStatuses.flatMap((from) => objectiveEvents.map((event) => ({ from, event })))
const pairs = objectiveStatuses.flatMap((from) => objectiveStatuses.map((to) => ({ from, to })))

describe('an objective', () => {
  it.each(cells)('S2-024 an objective answers $event when $from as in its table', ({ from, event }) => {
    const to = leadsTo[event] === from ? undefined : leadsTo[event]
    const snapshot = objectiveMachine.resolveState({ value: from })
    expect(snapshot.can({ type: event })).toBe(to !== undefined)
    expect(transition(objectiveMachine, snapshot, { type: event })[0].value).toBe(to ?? from)
  })

  it.each(pairs)(
    'C-65 S2-026 S2-029 an objective goes from $from to $to by one event, if they differ',
    ({ from, to }) => {
      const event = objectiveEventBetween(from, to)
      expect(event === undefined).toBe(from === to)
      if (event !== undefined) expect(leadsTo[event]).toBe(to)
    },
  )

  it('S2-025 an objective begins as todo and has no final state', () => {
    expect(objectiveMachine.config.initial).toBe('todo')
    for (const status of objectiveStatuses) {
      expect(objectiveMachine.resolveState({ value: status }).status).toBe('active')
    }
  })
})
