// Goal: the divergence guard never refuses a program that asks for the same things again, however it waits and whatever fails.
//
// Method: each program is killed at every point of its journal (each step that begins or ends a call), and a second engine takes it
// to its end on a clock that the test moves. Every effect completes once, and no run is refused.
import { describe, expect, it } from 'vitest'
import { defineExecutor, type Run } from '../../src/entities/executor.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { divergenceWaitMs, HoldingClock } from './holding-clock.ts'
import { watchPoints } from './points.ts'
import { createWorld } from './world.ts'

type Correct = (run: Run, io: (ms: number) => Promise<void>) => Promise<unknown>

/** Kills it at that point and runs it to its end; false when it has no such point. */
async function killedAt(at: number, program: Correct): Promise<boolean> {
  const inner = await openLedger(':memory:')
  const clock = new HoldingClock()
  const io = (ms: number) => new Promise<void>((resolve) => clock.setTimeout(() => resolve(), ms))
  const executor = defineExecutor({ divergenceWaitMs, run: (_task, run) => program(run, io) as never })
  const dead = Promise.withResolvers<boolean>()
  const die = async () => {
    first.die()
    dead.resolve(true)
    await new Promise(() => {})
  }
  const first = await createWorld(executor, { clock }, watchPoints(inner, at, die))
  let world = first
  try {
    const task = await first.engine.create({ executor: 'work', retry: { maxAttempts: 8 } })
    void first.engine.settled(task).then(
      () => dead.resolve(false),
      () => {},
    )
    const killed = await clock.until(dead.promise)
    if (killed) world = await createWorld(executor, { clock }, inner)
    const outcome = await clock.until(world.engine.settled(task))
    expect([at, outcome]).toMatchObject([at, { status: 'completed' }])
    const codes = (await world.engine.runs(task)).map((run) => run.error?.code)
    expect([at, codes.filter((code) => code === 'CALL_DIVERGED')]).toEqual([at, []])
    const completed = (await world.engine.calls(task)).filter(({ status }) => status === 'completed')
    const works = completed.map(({ name, params }) => `${name} ${JSON.stringify(params)}`)
    expect([at, works.filter((work, index) => works.indexOf(work) !== index)]).toEqual([at, []])
    return killed
  } finally {
    if (world !== first || !(await isDead(dead.promise))) await world.engine.close()
    await inner.close()
  }
}

const isDead = (dead: Promise<boolean>) => Promise.race([dead, Promise.resolve(false)])

/** At every point, until there is none. */
async function killedEverywhere(program: Correct): Promise<number> {
  let points = 0
  while (await killedAt(points + 1, program)) points++
  return points
}

const documents = Array.from({ length: 20 }, (_, index) => index)
/** Shorter than a run may request nothing, and different for each document and call. */
const ioMs = (document: number, step: number, run: number) =>
  (((document * 7 + step * 13 + run * 5) % 19) / 20) * divergenceWaitMs

const document =
  (run: Run, io: (ms: number) => Promise<void>) =>
  async (n: number): Promise<unknown> => {
    await io(ioMs(n, 1, run.number))
    const text = await run.call('read', { n }, () => `text ${n}`)
    await io(ioMs(n, 2, run.number))
    return run.call('sum', { text }, () => `sum ${n}`)
  }

describe('the divergence guard refuses no correct program that is killed at any point:', () => {
  it('twenty documents in flight, in another order in each run, with I/O before each call', async () => {
    const program: Correct = async (run, io) => {
      const order = documents.map((n) => (n * 7 + run.number * 3) % documents.length)
      await Promise.all(order.map(document(run, io)))
    }
    expect(await killedEverywhere(program)).toBe(80)
  }, 300_000)

  it('twenty documents, five at a time', async () => {
    const program: Correct = async (run, io) => {
      const left = [...documents]
      const worker = async () => {
        for (let n = left.shift(); n !== undefined; n = left.shift()) await document(run, io)(n)
      }
      await Promise.all(Array.from({ length: 5 }, worker))
    }
    expect(await killedEverywhere(program)).toBe(80)
  }, 300_000)

  it('a fallback for a failed call that the next attempt does not need', async () => {
    const program: Correct = async (run, io) => {
      await run.call('look', () => 1)
      try {
        await io(ioMs(3, 1, run.number))
        await run.call('card', () => {
          if (run.attempt === 1) throw new Error('declined')
        })
      } catch {
        await run.call('invoice', () => 2)
        await io(ioMs(4, 2, run.number))
        await run.call('letter', () => 3)
        throw new Error('paid otherwise')
      }
      await run.call('receipt', () => 4)
    }
    expect(await killedEverywhere(program)).toBeGreaterThanOrEqual(8)
  })

  it('nested calls, beside each other and equal to those around them', async () => {
    const program: Correct = async (run, io) => {
      const at = await run.now()
      const inner = (name: string) => async () => {
        await io(ioMs(name.length, 1, run.number))
        await Promise.all([1, 2].map((n) => run.call('step', { of: name, n, at }, () => n)))
        await run.call('close', { of: name, id: await run.uuid({ key: name }) }, () => name)
      }
      await run.call('one', inner('one'))
      await Promise.all([run.call('two', inner('two'), { onInterrupt: 'rerun' }), run.call('three', inner('three'))])
      await run.call('step', { of: 'all', at }, () => 'all')
    }
    expect(await killedEverywhere(program)).toBe(26)
  })
})
