// A stint's life: active → completed, and no way back. An agent that comes back begins another stint (conformance S2-014).
import { setup } from 'xstate'
import { type StintStatus, stintStatuses } from '../entities/team.ts'

export const stintEvents = ['complete'] as const
export type StintEventName = (typeof stintEvents)[number]

export const stintTransitions: Readonly<Record<StintStatus, Readonly<Partial<Record<StintEventName, StintStatus>>>>> = {
  active: { complete: 'completed' },
  completed: {},
}

/** The state that an event leads to, or undefined where the table has no such edge. */
export function nextStintStatus(from: StintStatus, event: StintEventName): StintStatus | undefined {
  return stintTransitions[from][event]
}

export const stintMachine = setup({ types: { events: {} as { type: StintEventName } } }).createMachine({
  id: 'stint',
  initial: 'active',
  states: Object.fromEntries(
    stintStatuses.map((status) => [
      status,
      Object.keys(stintTransitions[status]).length > 0
        ? { on: { ...stintTransitions[status] } }
        : { type: 'final' as const },
    ]),
  ) as Record<StintStatus, object>,
})
