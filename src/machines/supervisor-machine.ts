// The lifecycle of an engine, and what its supervisor does while it works: it rests, looks at what is due and ready, and admits.
import { setup } from 'xstate'

export type SupervisorEvent =
  | { type: 'work' | 'recovered' | 'begin' | 'look' | 'looked' | 'admitted' | 'drain' | 'close' }
  /** Tasks may be ready. `room`: how many may start. */
  | { type: 'admit'; room: number }

const nothing = (): void => {}

/** What the supervisor does, by name. */
export const supervisorActions = {
  /** Takes over what lost engines left, and begins to watch the ledger. */
  recover: nothing,
  /** Reads what is due and what is ready, and compares the runs of this engine with their rows. */
  look: nothing,
  /** Fills the free slots. */
  admit: nothing,
  /** Ends the runs of this engine. */
  drain: nothing,
}

const admit = { guard: 'hasRoom', target: 'admitting', actions: 'admit' } as const

export const supervisorMachine = setup({
  types: { events: {} as SupervisorEvent },
  guards: { hasRoom: ({ event }) => event.type === 'admit' && event.room > 0 },
  actions: supervisorActions,
}).createMachine({
  id: 'supervisor',
  initial: 'standby',
  states: {
    standby: { on: { work: { target: 'recovering', actions: 'recover' }, close: 'stopped' } },
    recovering: { on: { recovered: 'working', drain: { target: 'draining', actions: 'drain' } } },
    working: {
      initial: 'opening',
      states: {
        /** Its program does not have the engine yet, and executors may use it. */
        opening: { on: { begin: 'resting' } },
        resting: { on: { look: { target: 'looking', actions: 'look' }, admit } },
        // The steps of this engine ask for admissions at any time; one that is under way needs no attention.
        looking: { on: { looked: 'resting', admit } },
        admitting: { on: { look: { target: 'looking', actions: 'look' }, admit, admitted: 'resting' } },
      },
      on: { drain: { target: 'draining', actions: 'drain' } },
    },
    draining: { on: { close: 'stopped' } },
    stopped: { type: 'final' },
  },
})
