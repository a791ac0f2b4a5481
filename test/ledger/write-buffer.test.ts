// The buffer of a step: its writes wait until it ends or reads more than a row by its id. Reads by id see it.
import type { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Op, Step, Tx } from '../../src/ledger/ledger.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/postgres-ledger.ts'
import { openLedger } from '../../src/testing/index.ts'
import { edgeRow, eventRow, runRow, someTime, taskRow } from './factories.ts'
import { createPglite } from './pglite.ts'

let server: Promise<PGlite> | undefined
let schemas = 0

const ledgers = {
  sqlite: () => openLedger(':memory:'),
  async postgres() {
    server ??= createPglite()
    const client = await server
    const schema = `buffer_${++schemas}`
    await client.exec(`create schema ${schema}; set search_path to ${schema}`)
    return openPostgresLedger(client)
  },
}

afterAll(async () => {
  await (await server)?.close()
})

function step<R>(name: string, decide: (tx: Tx) => Op<R>): Step<R> {
  return { name, decide }
}

describe.each(Object.entries(ledgers))('a step on %s', (_kind, open) => {
  async function setup() {
    const ledger = await open()
    onTestFinished(() => ledger.close())
    await ledger.step(
      step('setup', function* (tx) {
        for (const id of ['a', 'b']) yield* tx.task.insert(taskRow({ id }))
        yield* tx.run.insert(runRow({ taskId: 'a', number: 1 }))
      }),
    )
    return ledger
  }

  it('a step reads by id the whole row that it has written, with every kind of value', async () => {
    const ledger = await setup()
    const seen = await ledger.step(
      step('write and read', function* (tx) {
        const task = (yield* tx.task.get('a'))!
        yield* tx.task.saveDefinition({ ...task, name: 'new', tags: ['x'], input: { deep: [1] } })
        yield* tx.task.save({ ...task, status: 'working', held: true, error: { code: 'X', message: 'x' }, leaseMs: 5 })
        yield* tx.task.setStuck('a', 'b')
        yield* tx.task.saveProgress({ ...task, progress: { fraction: 0.5, note: null, at: 1 } })
        const run = (yield* tx.run.get('a', 1))!
        yield* tx.run.save({ ...run, status: 'ending', outcome: 'paused', endedAt: 5 })
        return [yield* tx.task.get('a'), yield* tx.run.get('a', 1)]
      }),
    )
    expect(seen[0]).toMatchObject({ name: 'new', tags: ['x'], held: true, status: 'working', stuckBy: 'b', version: 4 })
    expect(seen).toEqual([await ledger.read((tx) => tx.task.get('a')), await ledger.read((tx) => tx.run.get('a', 1))])
  })

  it('a step finds its own writes in sets, and by id the changes of set statements', async () => {
    const ledger = await setup()
    const seen = await ledger.step(
      step('sets', function* (tx) {
        const task = (yield* tx.task.get('a'))!
        yield* tx.task.save({ ...task, status: 'working', updatedAt: someTime + 1 })
        const working = (yield* tx.task.list({ statuses: ['working'] }, 9)).map(({ id }) => id)
        yield* tx.task.insert(taskRow({ id: 'c', parentId: 'a' }))
        const born = yield* tx.task.get('c')
        yield* tx.task.addChildren('a', 1)
        const parent = yield* tx.task.get('a')
        yield* tx.task.setLanes('a', 'a')
        yield* tx.cascade.cancel({ root: 'a', reason: null, at: someTime, instanceId: 'e' })
        return { working, born, parent, child: yield* tx.task.get('c') }
      }),
    )
    expect(seen).toMatchObject({
      working: ['a'],
      born: { id: 'c', seq: 3 },
      parent: { status: 'working', childCount: 1 },
      child: { status: 'canceled' },
    })
  })

  it('a refused step writes nothing of its buffer, and the other steps of its group run once', async () => {
    const ledger = await setup()
    const received: string[] = []
    ledger.observe(
      { committed: (events) => received.push(...events.map(({ taskId }) => taskId)), changed() {}, failed() {} },
      { watchOthers: false },
    )
    const runs = { before: 0, refused: 0 }
    const outcomes = await Promise.allSettled([
      ledger.step(
        step('before', function* (tx) {
          runs.before++
          yield* tx.event.append(eventRow({ taskId: 'a' }))
        }),
      ),
      ledger.step(
        step('refused', function* (tx) {
          runs.refused++
          const task = (yield* tx.task.get('b'))!
          yield* tx.task.save({ ...task, status: 'working' })
          yield* tx.event.append(eventRow({ taskId: 'b' }))
          yield* tx.task.get('b')
          throw new Error('no')
        }),
      ),
    ])
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { reason: { message: 'no' } }])
    expect(received).toEqual(['a'])
    expect(await ledger.read((tx) => tx.task.get('b'))).toMatchObject({ status: 'submitted', version: 1 })
    // Nothing was written before the refusal, so no step ran again.
    expect(runs).toEqual({ before: 1, refused: 1 })
  })

  it('only the refused step is rolled back after its buffer was written', async () => {
    const ledger = await setup()
    const outcomes = await Promise.allSettled([
      ledger.step(step('before', (tx) => tx.event.append(eventRow({ taskId: 'a' })))),
      ledger.step(
        step('refused', function* (tx) {
          yield* tx.event.append(eventRow({ taskId: 'b' }))
          yield* tx.task.list({}, 9)
          throw new Error('no')
        }),
      ),
      ledger.step(step('constraint', (tx) => tx.dependency.insert(edgeRow({ taskId: 'missing', blockerId: 'a' })))),
      ledger.step(step('after', (tx) => tx.event.append(eventRow({ taskId: 'a' })))),
    ])
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { reason: { message: 'no' } },
      { reason: { code: 'LEDGER_WRITE_FAILED', details: { step: 'constraint' } } },
      { status: 'fulfilled' },
    ])
    const events = await ledger.read((tx) => tx.event.after(0, 9))
    expect(events.map(({ taskId }) => taskId)).toEqual(['a', 'a'])
  })
})
