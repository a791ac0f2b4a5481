// The lifecycle of an engine: it stands by or works, and drains before it is closed.
import { setup } from 'xstate'

export const supervisorMachine = setup({ types: { events: {} as { type: 'work' | 'drain' | 'close' } } }).createMachine(
  {
    id: 'supervisor',
    initial: 'standby',
    states: {
      standby: { on: { work: 'working', close: 'closed' } },
      working: { on: { drain: 'draining' } },
      draining: { on: { close: 'closed' } },
      closed: { type: 'final' },
    },
  },
)
