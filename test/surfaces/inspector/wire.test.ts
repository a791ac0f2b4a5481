// The messages of the relay compared with those of Stately's own adapter, for the same events of the same actors.
import { createInspector } from '@statelyai/inspect'
import { expect, it, vi } from 'vitest'
import { type AnyActorRef, createActor, createMachine, fromPromise } from 'xstate'
import type { InspectionEvent } from '../../../src/actors/inspection-event.ts'
import { createRedactor } from '../../../src/surfaces/inspector/redact.ts'
import { toWire } from '../../../src/surfaces/inspector/wire.ts'
import { openEngine, puppet, turns } from '../../engine/world.ts'

type Json = Record<string, unknown> & { definition?: string }

/** Without the time, and with the definition parsed, because the order of its keys means nothing. */
function comparable(message: object): Json {
  const { createdAt, definition, ...rest } = JSON.parse(JSON.stringify(message)) as Json
  expect(createdAt).toMatch(/^\d{13}$/)
  return { ...rest, ...(definition === undefined ? {} : { definition: JSON.parse(definition) }) }
}

const messageTypes = ['@xstate.actor', '@xstate.event', '@xstate.snapshot']

/** Converts both ways at the same moment: messages of Stately's adapter arrive late, when an actor may have changed. */
function sideBySide() {
  const redacted = createRedactor()
  const events: InspectionEvent[] = []
  const ours: Json[] = []
  const theirs: Json[] = []
  const stately = createInspector({
    send(message) {
      theirs.push(comparable(message))
      const made = toWire(events.shift() as InspectionEvent, Date.now())
      if (made !== undefined) ours.push(comparable(redacted(made).message))
    },
  })
  return {
    events,
    ours,
    theirs,
    inspect(event: InspectionEvent) {
      if (messageTypes.includes(event.type)) events.push(event)
      stately.inspect.next?.(event as never)
    },
  }
}

it("messages about the engine's own actors are equal to those of Stately's adapter", async () => {
  const hands = puppet()
  const { events, ours, theirs, inspect } = sideBySide()
  const engine = await openEngine({ executors: { work: hands.executor }, inspect })
  const task = await engine.create({ executor: 'work', name: 'a' })
  await hands.started(0)
  await engine.pause(task)
  await turns()
  await engine.cancel(task)
  await engine.close()
  await vi.waitFor(() => expect(events).toEqual([]))
  expect(theirs).toEqual(ours)
  expect(new Set(ours.map(({ type }) => type))).toEqual(new Set(messageTypes))
  expect(ours.length).toBeGreaterThan(10)
})

it("messages about a machine with functions, children, promises and no name are equal to those of Stately's adapter", async () => {
  const { events, ours, theirs, inspect } = sideBySide()
  const machine = createMachine({
    id: 'parent',
    context: () => ({ list: [1, { deep: true }] }),
    initial: 'asking',
    entry: () => {},
    states: {
      asking: {
        invoke: { src: fromPromise(async () => 'answer'), input: { question: 1 }, onDone: 'answered' },
      },
      answered: { type: 'final' },
    },
    output: { done: true },
  })
  const actor: AnyActorRef = createActor(machine, { inspect: inspect as never }).start()
  await vi.waitFor(() => expect(actor.getSnapshot()).toMatchObject({ status: 'done' }))
  await vi.waitFor(() => expect(events).toEqual([]))
  expect(ours).toEqual(theirs)
  expect(ours.some(({ name }) => name === 'parent')).toBe(true)
})

it('inspection events outside the format are not converted', () => {
  const event = { type: '@xstate.microstep', rootId: 'x:0', actorRef: createActor(createMachine({})) }
  expect(toWire(event as never, 0)).toBeUndefined()
})
