// The lifecycle of a stint, the work of one agent in a team. A completed stint is final: an agent that joins again begins another one.
import { setup } from 'xstate'
import { decider } from '../../machines/decide.ts'

export const stintMachine = setup({ types: { events: {} as { type: 'complete' } } }).createMachine({
  id: 'stint',
  initial: 'active',
  states: { active: { on: { complete: 'completed' } }, completed: { type: 'final' } },
})

export const decideStint = decider(stintMachine)
