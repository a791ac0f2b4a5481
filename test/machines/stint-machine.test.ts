// The machine of a stint, cell by cell.
import { describe, expect, it } from 'vitest'
import { transition } from 'xstate'
import { stintStatuses } from '../../src/entities/team.ts'
import { decideStint, stintMachine } from '../../src/memory/team/stint-machine.ts'

const stintEvents = ['complete'] as const

const edges: Record<string, string> = { 'active complete': 'completed' }
const cells = stintStatuses.flatMap((from) => stintEvents.map((event) => ({ from, event })))

describe('a stint', () => {
  it.each(cells)('S2-014 a stint answers $event when $from as in its table', ({ from, event }) => {
    const to = edges[`${from} ${event}`]
    const snapshot = stintMachine.resolveState({ value: from })
    expect(decideStint(from, { type: event })?.[0]?.to).toBe(to)
    expect(snapshot.can({ type: event })).toBe(to !== undefined)
    expect(transition(stintMachine, snapshot, { type: event })[0].value).toBe(to ?? from)
  })

  it('S2-019 a completed stint is final', () => {
    expect(stintMachine.resolveState({ value: 'active' }).status).toBe('active')
    expect(stintMachine.resolveState({ value: 'completed' }).status).toBe('done')
  })
})
