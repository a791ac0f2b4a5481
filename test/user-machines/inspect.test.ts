// The machine of a task as an actor that inspectors see: below its run, in the situations that have been written.
import { expect, it } from 'vitest'
import { assign, createMachine, fromPromise, setup } from 'xstate'
import type { InspectionEvent } from '../../src/actors/inspection-event.ts'
import { machine } from '../../src/user-machines/machine.ts'
import { deferred, openEngine, reached } from '../engine/world.ts'

const order = createMachine({
  id: 'order',
  context: { card: null },
  initial: 'open',
  states: {
    // With an action that is a function, so that it needs a run.
    open: { on: { PAY: { target: 'paid', actions: [assign({ card: ({ event }) => event.card }), () => {}] } } },
    paid: { on: { SHIP: 'shipped' } },
    shipped: { type: 'final' },
  },
})

/** What an observer sees of the actors of machines, in a line each. */
function observer() {
  const lines: string[] = []
  const actors: InspectionEvent['actorRef'][] = []
  const observe = ({ type, actorRef, event, snapshot }: InspectionEvent) => {
    if (!actorRef.id.startsWith('machine:')) return
    if (type === '@xstate.actor') actors.push(actorRef)
    const shown = snapshot === undefined ? '' : ` ${snapshot.status} ${JSON.stringify(snapshot.value)}`
    lines.push(`${type.slice('@xstate.'.length)} ${actorRef.id.split('#')[1]}${event ? ` ${event.type}` : ''}${shown}`)
  }
  return { lines, actors, observe }
}

it('an inspector sees a machine below each of its runs, with the events and situations that were written', async () => {
  const { lines, actors, observe } = observer()
  const engine = await openEngine({ executors: { order: machine(order) }, inspect: observe })
  const task = await engine.create({ executor: 'order' })
  await reached(engine, task, 'waiting')
  await engine.sendEvent(task, { type: 'PAY', card: 'tok_1' })
  await engine.sendEvent(task, { type: 'SHIP' })
  await engine.settled(task)
  await engine.close()
  const seen = lines.filter((line) => /^(actor|event|snapshot)/.test(line))
  expect(seen.slice(0, 3)).toEqual(['actor 1', 'event 1 xstate.init', 'snapshot 1 xstate.init active "open"'])
  expect(seen).toContain('event 2 PAY')
  expect(seen).toContain('snapshot 2 PAY active "paid"')
  expect(seen.filter((line) => line.includes(' SHIP'))).toEqual([
    expect.stringMatching(/^event \d SHIP$/),
    expect.stringMatching(/^snapshot \d SHIP done "shipped"$/),
  ])
  const [first] = actors as unknown as Array<{ id: string; logic: { config: unknown }; _parent: { id: string } }>
  expect(first?.id).toBe(`machine:${task.id}#1`)
  expect(first?._parent.id).toBe(`run:${task.id}#1`)
  expect(first?.logic.config).toBe(order.config)
  expect(actors[1]?.getSnapshot()).toMatchObject({ context: { card: 'tok_1' } })
})

it('an inspector that is attached while a machine works sees its actor, which stops with its run', async () => {
  const answer = deferred<string>()
  const asked = deferred()
  const asking = setup({
    actors: {
      ask: fromPromise(async () => {
        asked.resolve()
        return answer.promise
      }),
    },
  }).createMachine({
    id: 'asking',
    initial: 'calling',
    states: { calling: { invoke: { src: 'ask', onDone: 'rest' } }, rest: {} },
  })
  const engine = await openEngine({ executors: { asking: machine(asking) } })
  const task = await engine.create({ executor: 'asking' })
  await asked.promise
  const { lines, actors, observe } = observer()
  engine.inspect(observe)
  expect(lines).toEqual(['actor 1'])
  expect(actors[0]?.getSnapshot()).toMatchObject({ status: 'active', value: 'calling' })
  answer.resolve('yes')
  await reached(engine, task, 'waiting')
  await engine.close()
  expect(lines).toContain('snapshot 1 xstate.done.actor.0.asking.calling active "rest"')
  expect(actors[0]?.getSnapshot()).toMatchObject({ status: 'stopped' })
})
