// A machine run by XState itself: what every other runner is compared with.

import { type AnyActor, type AnyMachineSnapshot, createActor, type EventObject } from 'xstate'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { asJson, type MachineRunner, type Shape, type View, viewsOf } from './machine-runner.ts'
import { withRecordedActions } from './recorded-actions.ts'

/** The views of a shape after its start and after each entry of its script, as XState has them. */
export const runLive = (shape: Shape): Promise<View[]> => viewsOf(liveRunner(shape), shape.script)

/**
 * Runs a machine as an actor of XState. The clock stops at each time that something is due, so a timer that another sets counts from there, also
 * within one advance; the SimulatedClock of XState would count it from the end of the advance.
 */
export function liveRunner({ machine, input }: Pick<Shape, 'machine' | 'input'>): MachineRunner {
  const clock = new SimulatedClock()
  const actions: string[] = []
  const emitted: unknown[] = []
  const actor: AnyActor = createActor(
    withRecordedActions(machine, (name) => actions.push(name)),
    { input, clock, logger: () => {} },
  )
  // Without it, XState throws the error of a machine into the process.
  actor.subscribe({ error: () => {} })
  actor.on('*', (event: EventObject) => emitted.push(asJson(event)))

  const view = async (): Promise<View> => {
    // A turn of the event loop begins when all microtasks have run, those of promises in the machine included.
    await clock.rest()
    return viewOf(actor.getSnapshot(), actions.splice(0), emitted.splice(0))
  }
  return {
    start() {
      actor.start()
      return view()
    },
    send(event) {
      // XState drops an event to an actor that has ended, with a warning.
      if (actor.getSnapshot().status === 'active') actor.send(event)
      return view()
    },
    async advance(ms) {
      await clock.advance(ms)
      return view()
    },
    async end() {
      actor.stop()
    },
  }
}

function viewOf(snapshot: AnyMachineSnapshot, actions: string[], emitted: unknown[]): View {
  const { status, value, context, output, error, children } = snapshot
  const isActive = (id: string) => children[id]?.getSnapshot()?.status === 'active'
  return {
    status,
    value: asJson(value),
    context: asJson(context),
    output: asJson(output),
    error: status === 'error' ? messageOf(error) : null,
    children: status === 'active' ? Object.keys(children).filter(isActive).sort() : [],
    actions,
    emitted,
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
