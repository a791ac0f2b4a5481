// Hostile values, clocks that jump, and ten thousand tasks.
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { createFaultyLedger, openLedger } from '../../src/testing/index.ts'
import { collect, history, ledgerFile, openEngine, refusalOf, turns } from './world.ts'

const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

describe('hostile input', () => {
  it.each([
    ['NUL', 'a\u0000b'],
    ['half a surrogate pair', 'a\ud800b'],
  ])('X-037 hostile input with %s is refused wherever it comes in, and nothing is stored', async (_title, text) => {
    const engine = await openEngine({
      executors: { work: (_task: ExecutorTask, run: Run) => run.call(text, () => 1) },
    })
    for (const options of [
      { name: text },
      { name: 'a', goal: text },
      { name: 'a', description: text },
      { name: 'a', key: text },
      { name: 'a', metadata: { [text]: 1 } },
      { name: 'a', input: { deep: [text] } },
    ])
      await refusalOf(engine.create(options), 'INVALID_INPUT')
    await refusalOf(engine.get(text), 'INVALID_INPUT')
    const task = await engine.create({ name: 'a' })
    await refusalOf(engine.update(task, { metadata: { a: text } }), 'INVALID_INPUT')
    expect(await engine.settled(await engine.create({ executor: 'work' }))).toMatchObject({
      error: { code: 'INVALID_INPUT' },
    })
    expect((await engine.list()).total).toBe(2)
  })

  it('X-037 hostile input with unbounded depth or length, or a cycle is refused', async () => {
    const engine = await openEngine()
    const circle: Record<string, unknown> = {}
    circle.self = circle
    for (const input of [deep(100), circle, 1n, 'x'.repeat(5_000_000)])
      await refusalOf(engine.create({ name: 'a', input }), 'INVALID_INPUT')
    expect((await engine.list()).total).toBe(0)
  })

  it('X-037 X-043 hostile input that is only unusual is stored and returned character by character', async () => {
    const engine = await openEngine({ executors: { work: (task: ExecutorTask) => task.input } })
    for (const text of [
      '👩‍👩‍👧‍👦 ñ 漢字 \u202Eright to left',
      `'; drop table task; -- " \\ \n\r\t`,
      '${process.exit(1)} %s %00 \u2028',
      '[[[[',
      'x'.repeat(1_000_000),
    ]) {
      const input = { [text.slice(0, 100)]: text }
      const task = await engine.create({
        executor: 'work',
        name: text.slice(0, 100).trim(),
        input,
        metadata: { text: text.slice(0, 100) },
      })
      expect(await engine.result(task)).toEqual(input)
      const found = await engine.list({ metadata: { text: text.slice(0, 100) } })
      expect(found.tasks.map(({ id }) => id)).toEqual([task.id])
    }
    expect((await engine.create({ name: 'deep', input: deep(60) })).input).toEqual(deep(60))
  })
})

describe('a clock', () => {
  it('X-041 a clock that stands still or runs backwards does not change any order', async () => {
    let now = 1_000_000
    const clock = {
      now: () => (now -= 7),
      setTimeout: (fn: () => void, ms: number) => setTimeout(fn, ms),
      clearTimeout: (id: unknown) => clearTimeout(id as NodeJS.Timeout),
    }
    const order: string[] = []
    const engine = await openEngine({
      clock,
      maxConcurrent: 1,
      executors: { work: (task: ExecutorTask) => void order.push(task.name) },
    })
    const names = Array.from({ length: 20 }, (_, index) => `${index}`)
    await engine.create(names.map((name) => ({ executor: 'work', name })))
    await engine.idle()
    expect(order).toEqual(names)
    const events = await history(engine)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect((await engine.list()).tasks.map(({ name }) => name)).toEqual(names)
  })
})

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  gc()
}

describe('a full disk', () => {
  it.each(['lost', 'refused'] as const)(
    'a full disk lets no engine begin: LEDGER_UNAVAILABLE, with what would help and nothing left behind (a commit that is %s)',
    async (how) => {
      const file = ledgerFile()
      const ledger = createFaultyLedger(await openLedger(file))
      const beside = readdirSync(dirname(file))
      ledger.fail(() => true, how, { persistent: true })
      const options = { ledger, onError: () => {} }
      const refused = await refusalOf(createEngine(options), 'LEDGER_UNAVAILABLE')
      expect(refused.message).toMatch(/cannot be written.*free space/)
      expect(readdirSync(dirname(file)).sort()).toEqual(beside.sort())
      ledger.mend()
      const engine = await createEngine({ ...options, executors: { n: () => 1 } })
      expect(await engine.result((await engine.create({ executor: 'n' })).id)).toBe(1)
      await engine.close()
      await ledger.close()
    },
  )
})

/** Reads all events and keeps none. */
async function follow(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _event of events);
}

describe('ten thousand tasks', () => {
  it('X-040 ten thousand tasks leave no actor, no listener and no memory behind', async () => {
    const warnings: Error[] = []
    const warn = (warning: Error) => warnings.push(warning)
    process.on('warning', warn)
    let systems: { getAll(): object } | undefined
    const engine = await openEngine({
      maxConcurrent: 100,
      executors: { work: (task: ExecutorTask<number>, run: Run) => run.call('work', () => task.input) },
      inspect: (event: { actorRef?: { system: { getAll(): object } } }) => {
        systems = event.actorRef?.system
      },
    })
    const lasting = new AbortController()
    const following = follow(engine.events({ signal: lasting.signal }))
    const round = async (count: number): Promise<number> => {
      const tasks = await engine.create(Array.from({ length: count }, (_, input) => ({ executor: 'work', input })))
      await Promise.all([
        ...tasks.map((task) => engine.settled(task)),
        ...tasks.slice(0, 200).map((task) => collect(engine.stream(task))),
      ])
      await engine.idle()
      await turns()
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    await round(1_000)
    const early = await round(1_000)
    for (let index = 0; index < 7; index++) await round(1_000)
    const late = await round(1_000)
    expect((await engine.list({ status: 'completed', limit: 0 })).total).toBe(10_000)
    expect(Object.keys(systems!.getAll())).toEqual(['supervisor'])
    expect(engine.status.get().context).toMatchObject({ slots: { used: 0 }, running: [] })
    lasting.abort()
    await following
    process.off('warning', warn)
    expect(warnings).toEqual([])
    // 8,000 tasks later. SQLite's pages lie outside of this heap.
    expect(late - early).toBeLessThan(2_000_000)
  })
})
