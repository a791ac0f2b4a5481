// The life of an engine: it stands by or works, drains when it is closed, and is closed.
import { setup } from 'xstate'

export type SupervisorStatus = 'standby' | 'working' | 'draining' | 'closed'
export type SupervisorEventName = 'work' | 'drain' | 'close'

type Exits = Readonly<Partial<Record<SupervisorEventName, SupervisorStatus>>>

export const supervisorTransitions: Readonly<Record<SupervisorStatus, Exits>> = {
  standby: { work: 'working', close: 'closed' },
  working: { drain: 'draining' },
  draining: { close: 'closed' },
  closed: {},
}

export const supervisorMachine = setup({
  types: { events: {} as { type: SupervisorEventName } },
}).createMachine({
  id: 'supervisor',
  initial: 'standby',
  states: {
    standby: { on: supervisorTransitions.standby },
    working: { on: supervisorTransitions.working },
    draining: { on: supervisorTransitions.draining },
    closed: { type: 'final' },
  },
})
