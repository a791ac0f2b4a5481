// Depth is stored with each task, so that a limit costs no walk: it must stay right whatever changes above.
import { describe, expect, it } from 'vitest'
import { openLedger } from '../../src/testing/index.ts'
import { openEngine, refusalOf } from './world.ts'

async function chain(levels: number, maxDepth: number) {
  const ledger = await openLedger(':memory:')
  const engine = await openEngine({ ledger, maxDepth, work: false })
  const ids: string[] = []
  for (let n = 0; n < levels; n++) {
    ids.push((await engine.create({ name: `t${n}`, ...(n === 0 ? {} : { parentId: ids[n - 1] as string }) })).id)
  }
  const depths = () =>
    ledger.read(function* (tx) {
      const found: Array<number | undefined> = []
      for (const id of ids) found.push((yield* tx.task.get(id))?.depth)
      return found
    })
  return { engine, ids, depths }
}

const range = (count: number) => Array.from({ length: count }, (_, n) => n)

describe('the depth of a task', () => {
  it('the depth of a task is right for all descendants of a promoted child, however deep the tree', async () => {
    const { engine, ids, depths } = await chain(300, 10_000)
    expect(await depths()).toEqual(range(300))
    await engine.delete(ids[99] as string)
    expect(await depths()).toEqual([...range(100), ...range(200)])
    await engine.delete(ids[0] as string)
    expect(await depths()).toEqual([0, ...range(99), ...range(200)])
  })

  it('reduced by a promotion allows new levels below', async () => {
    const { engine, ids } = await chain(4, 3)
    const below = { name: 'deeper', parentId: ids[3] as string }
    await refusalOf(engine.create(below), 'LIMIT_EXCEEDED')
    await engine.delete(ids[0] as string)
    expect((await engine.create(below)).parentId).toBe(ids[3])
    await refusalOf(engine.create({ ...below, tasks: { one: { name: 'one' } } }), 'LIMIT_EXCEEDED')
  })
})
