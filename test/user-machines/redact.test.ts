// Secrets in what a machine makes itself: hidden in its situation, in what it emits, and from then on to the machine.
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { assign, createMachine, emit, fromPromise, log, raise, setup } from 'xstate'
import { SimulatedClock } from '../../src/testing/index.ts'
import { machine } from '../../src/user-machines/machine.ts'
import { ledgerFile, openEngine, reached } from '../engine/world.ts'

const secret = 'sk-4711'
const withSecret = (type: string): { type: string } => Object.assign({ type }, { key: secret })
const redact = (value: unknown) => (typeof value === 'string' ? value.replaceAll(secret, '[hidden]') : value)

it('redact hides what a machine makes itself, and the machine goes on with what is stored', async () => {
  const inner = createMachine({ id: 'inner', initial: 'a', states: { a: {} } })
  const definition = setup({ actors: { inner, ask: fromPromise(async () => secret) } }).createMachine({
    id: 'order',
    context: { key: secret, read: '' },
    initial: 'open',
    states: {
      open: {
        invoke: [
          { src: 'inner', input: { key: secret } },
          { src: 'ask', onDone: { actions: assign({ read: ({ context }) => context.key }) } },
        ],
        entry: [
          emit(() => withSecret('opened')),
          log(() => secret),
          raise(() => withSecret('LATER'), { delay: 1_000 }),
        ],
        on: { LATER: { actions: assign({ read: ({ event }) => `later ${String(event['key'])}` }) } },
      },
    },
  })
  const ledger = ledgerFile()
  const clock = new SimulatedClock(0)
  const engine = await openEngine({ ledger, clock, redact, executors: { order: machine(definition) } })
  const task = await engine.create({ executor: 'order' })
  await reached(engine, task, 'waiting')
  expect((await engine.machine(task))?.context).toEqual({ key: '[hidden]', read: '[hidden]' })
  await clock.advance(1_000)
  await engine.idle()
  expect((await engine.machine(task))?.context).toEqual({ key: '[hidden]', read: 'later [hidden]' })
  const database = new DatabaseSync(ledger, { readOnly: true })
  for (const table of ['call', 'event', 'task', 'signal']) {
    expect(JSON.stringify(database.prepare(`select * from ${table}`).all()), table).not.toContain(secret)
  }
  database.close()
})
