// A ledger that fails under a run: an error means unknown, not refused. Whatever step fails, and whether it was stored
// or not, the task reaches its end, and nothing is executed twice without a failed call that says so.
import { describe, expect, it } from 'vitest'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createFaultyLedger, type FaultKind } from '../../src/testing/faulty-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { createWorld, gate, type WorkFunction, type World } from './world.ts'

const kinds: FaultKind[] = ['refused', 'lost', 'kept']

/** Two calls, a message, a child, a sleep: every step that a run can take. Executions are recorded by call id. */
function scenario() {
  const executed: string[] = []
  const work: WorkFunction = async (_task, run) => {
    await run.call('one', (_params, { callId }) => executed.push(callId))
    await run.message('assistant', 'between')
    const child = await run.spawn({ executor: 'other' })
    await run.wait(child)
    await run.sleep(20)
    await run.call('two', (_params, { callId }) => executed.push(callId))
    return 'done'
  }
  return { executed, work }
}

const retry = { maxAttempts: 6 }

async function faultyWorld() {
  const { executed, work } = scenario()
  const ledger = createFaultyLedger(await openLedger(':memory:'))
  const world = await createWorld(work, { shutdownTimeoutMs: 1_000 }, ledger)
  return { executed, ledger, world }
}

async function stepsOfTheStory(): Promise<number> {
  const { ledger, world } = await faultyWorld()
  const before = ledger.steps.length
  const task = await world.engine.create({ executor: 'work' })
  await world.engine.result(task)
  await world.engine.idle()
  return ledger.steps.length - before
}

describe.each(kinds)('when one step of a run is %s', (how) => {
  it('the task still reaches its end, whichever step it is', async () => {
    const steps = await stepsOfTheStory()
    expect(steps).toBeGreaterThan(10)
    for (let nth = 2; nth <= steps; nth++) {
      const { executed, ledger, world } = await faultyWorld()
      ledger.fail(nth, how)
      const task = await world.engine.create({ executor: 'work', retry })
      const outcome = await world.engine.settled(task, { timeoutMs: 10_000 }).catch(async () => {
        const events = []
        for await (const { type, data } of world.engine.events({ follow: false })) {
          events.push(`${type} ${String(data['run'])}`)
        }
        throw new Error(`stuck after ${ledger.steps[nth]}, step ${nth} (${how}): ${events.join(', ')}`)
      })
      expect(outcome, `step ${nth}`).toEqual({ status: 'completed', result: 'done' })
      expect(new Set(executed).size).toBe(executed.length)
      const calls = await world.engine.calls(task)
      const doubles = executed.length - 2
      expect(calls.filter((call) => call.status === 'failed').length, `step ${nth}`).toBeGreaterThanOrEqual(doubles)
      expect(calls.filter((call) => call.status === 'in_progress')).toEqual([])
      await slotsFree(world)
    }
  })
})

it.each(kinds)(
  'a call whose outcome is %s is not made again: its outcome is recorded when the ledger writes again',
  async (how) => {
    const ledger = createFaultyLedger(await openLedger(':memory:'))
    const clock = new SimulatedClock()
    let charges = 0
    const world = await createWorld((_task, run) => run.call('charge', () => ++charges), { clock }, ledger)
    const reported = gate()
    world.onError(reported.resolve)
    ledger.fail((name) => name === 'finish call', how)
    const task = await world.engine.create({ executor: 'work', retry })
    await reported.promise
    await new Promise(setImmediate)
    clock.increment(200)
    expect(await world.engine.result(task)).toBe(1)
    expect(charges).toBe(1)
    expect((await world.engine.calls(task)).map(({ status }) => status)).toEqual(['completed'])
  },
)

it('a step that is refused repeatedly is retried, and its task is not lost meanwhile', async () => {
  const ledger = createFaultyLedger(await openLedger(':memory:'))
  const world = await createWorld(async () => 'done', {}, ledger)
  const held = gate()
  ledger.fail('settle run', 'refused', { persistent: true })
  const task = await world.engine.create({ executor: 'work' })
  world.onError(() => {
    if (world.errors.length === 2) held.resolve()
  })
  await held.promise
  expect((await world.engine.get(task))?.status).toBe('working')
  ledger.mend()
  expect(await world.engine.result(task)).toBe('done')
})

it('an engine that closes while its ledger refuses leaves its tasks to the next one', async () => {
  const ledger = createFaultyLedger(await openLedger(':memory:'))
  const refused = gate()
  const world = await createWorld(async () => 'done', {}, ledger)
  world.onError(() => refused.resolve())
  ledger.fail((name) => name === 'settle run' || name.endsWith('of a lost engine'), 'refused', { persistent: true })
  const task = await world.engine.create({ executor: 'work' })
  await refused.promise
  await world.engine.close()
  ledger.mend()
  const second = await world.another()
  expect(await second.engine.result(task)).toBe('done')
})

/** The outcome is durable before its slot is free: a step of unknown outcome is retried once. */
function slotsFree({ engine }: World): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (engine.status.get().context.slots.used > 0) return
      watching.unsubscribe()
      resolve()
    }
    const watching = engine.status.subscribe(look)
    look()
  })
}
