// The lifecycle of a run. Ending and closing are two steps: a run that has ended is closed when its executor and its calls have settled.
import { setup } from 'xstate'
import { decider, edgesOf } from './decide.ts'

/** The effects of transitions: `interruptCalls` is the ledger's, the others are those of the live run. */
const actions = {
  /** Its signal aborts, and it can start nothing more. */
  abort: () => {},
  /** It only waits: its function is left alone, and what it asks for never settles. */
  leaveFunction: () => {},
  /** Calls still in flight may have taken effect: they are recorded as interrupted, and later outcomes of them are refused. */
  interruptCalls: () => {},
  freeSlot: () => {},
}

export const runMachine = setup({
  types: { events: {} as { type: 'end' | 'suspend' | 'close' } },
  actions,
}).createMachine({
  id: 'run',
  initial: 'live',
  states: {
    live: {
      on: {
        end: { target: 'ending', actions: 'abort' },
        suspend: { target: 'ending', actions: 'leaveFunction' },
        // Its executor has settled by itself, and nothing of it is in flight.
        close: { target: 'closed', actions: 'freeSlot' },
      },
    },
    ending: { on: { close: { target: 'closed', actions: ['interruptCalls', 'freeSlot'] } } },
    closed: { type: 'final' },
  },
})

export const runEdges = edgesOf(runMachine)
export const decideRun = decider(runMachine)
