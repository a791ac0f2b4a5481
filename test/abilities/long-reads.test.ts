// Requests that concern the whole ledger do not block the process.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, it, onTestFinished } from 'vitest'
import type { Engine } from '../../src/engine-api.ts'
import { createEngine } from '../../src/index.ts'
import type { NewTask } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { taskRow } from '../../src/testing/index.ts'
import { refusalOf } from '../engine/world.ts'

async function engineWith(rows: Iterable<NewTask>): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-long-reads-'))
  const file = join(folder, 'ledger.db')
  const ledger = await openLedger(file)
  await ledger.step({
    name: 'fill',
    *decide(tx) {
      for (const row of rows) yield* tx.task.insert(row)
    },
  })
  await ledger.close()
  const engine = await createEngine({ ledger: file, work: false })
  onTestFinished(async () => {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return engine
}

/** The longest time in milliseconds for which the event loop was blocked. */
async function maxBlockMs(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await work()
  // The second turn of the event loop begins with its timers, which include the measurement of the first.
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resume) => setImmediate(resume))
  delay.disable()
  return delay.max / 1e6
}

/** Far above the duration on a busy machine, and far below the 19 seconds that it once took. */
const tooLongMs = 1_000

it('V-07 a search for a long word in long goals does not block the process', async () => {
  const goal = 'a'.repeat(1024 * 1024)
  const engine = await engineWith(Array.from({ length: 10 }, (_, n) => taskRow({ id: `task-${n}`, goal })))
  const text = `${'a'.repeat(489)}b`
  let total: unknown
  const block = await maxBlockMs(async () => {
    ;({ total } = await engine.bus.call('task:list', { text }))
  })
  expect(total).toBe(0)
  expect(block).toBeLessThan(tooLongMs)
  expect((await engine.bus.call('task:list', { text: 'a'.repeat(490) })).total).toBe(10)
})

it('V-07 a search for many words in many tasks does not block the process', async () => {
  const words = Array.from({ length: 160 }, (_, n) => `w${n % 100}`)
  const goal = `${words.join(' ')} ${'x'.repeat(2_000)}`
  const engine = await engineWith(
    (function* () {
      for (let n = 0; n < 5_000; n++) yield taskRow({ id: `task-${n}`, goal: n % 100 === 0 ? goal : 'something else' })
    })(),
  )
  const block = await maxBlockMs(async () => {
    expect((await engine.bus.call('task:list', { text: words.slice(0, 100).join(' '), limit: 10 })).total).toBe(50)
  })
  expect(block).toBeLessThan(tooLongMs)
})

it('a search finds words at any position, in either case, and in texts of any length', async () => {
  const engine = await engineWith([
    taskRow({ id: 'task-a', name: 'Write', goal: `${'x'.repeat(2 * 1024 * 1024)}REPORT` }),
    taskRow({ id: 'task-b', name: 'report', description: 'to be written' }),
    taskRow({ id: 'task-c', name: 'report' }),
    taskRow({ id: 'task-d', name: 'write a report', deletedAt: 1 }),
  ])
  const found = async (text: string) =>
    (await engine.bus.call('task:list', { text })).tasks.map(({ id }) => id.replace('task-', ''))
  expect(await found('write report')).toEqual(['a'])
  expect(await found('WRIT rep')).toEqual(['a', 'b'])
  expect(await found('task-c')).toEqual(['c'])
  expect(await found('sk-c')).toEqual([])
  expect(await found('report report report')).toEqual(['a', 'b', 'c'])
})

it('a graph of too many open tasks is refused, and one of a part of them is not', async () => {
  const engine = await engineWith(
    (function* () {
      yield taskRow({ id: 'root', childCount: 1 })
      yield taskRow({ id: 'child', parentId: 'root', depth: 1 })
      for (let n = 0; n < 5_000; n++) yield taskRow({ id: `task-${n}` })
    })(),
  )
  expect((await refusalOf(engine.graph(), 'LIMIT_EXCEEDED')).details).toMatchObject({ limit: 5_000 })
  expect((await engine.graph({ parentId: 'root' })).order.map(({ id }) => id)).toEqual(['child'])
})
