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
  /** It waits in memory for other tasks: others may have its slot meanwhile. */
  lendSlot: () => {},
  /** It has a slot again, and looks which of its waits are over. */
  goOn: () => {},
}

export interface RunMachineEvent {
  type: 'end' | 'suspend' | 'close' | 'park' | 'wake' | 'admit'
}

const ends = {
  end: { target: 'ending', actions: 'abort' },
  suspend: { target: 'ending', actions: 'leaveFunction' },
  // Its executor has settled by itself, and nothing of it is in flight.
  close: { target: 'closed', actions: 'freeSlot' },
} as const

export const runMachine = setup({
  types: { events: {} as RunMachineEvent },
  actions,
}).createMachine({
  id: 'run',
  initial: 'live',
  states: {
    live: { on: { park: { target: 'parked', actions: 'lendSlot' }, ...ends } },
    /** What it waits for is not over. An admission that is reported before the end of the wait is one too. */
    parked: { on: { wake: 'queued', admit: { target: 'live', actions: 'goOn' }, park: 'parked', ...ends } },
    /** It is parked again when its function does not know of the end of a wait, or needs no slot any more. */
    queued: { on: { park: 'parked', admit: { target: 'live', actions: 'goOn' }, ...ends } },
    ending: { on: { close: { target: 'closed', actions: ['interruptCalls', 'freeSlot'] } } },
    closed: { type: 'final' },
  },
})

export const runEdges = edgesOf(runMachine)
export const decideRun = decider(runMachine)
