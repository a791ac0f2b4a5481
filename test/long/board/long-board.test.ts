import { describe, expect, it, onTestFinished } from 'vitest'
import { delegateLedger } from '../../../src/ledger/delegate-ledger.ts'
import type { Op } from '../../../src/ledger/op.ts'
import { openLedger } from '../../../src/testing/index.ts'
import { openBoard } from '../../board/world.ts'
import { refusalOf } from '../../engine/world.ts'

describe('A long board', () => {
  it('S4-033 a board of 3,000 dependent tasks is numbered, and is listed and ordered by statements whose number grows with that of the tasks', async () => {
    const short = await statements(300)
    const long = await statements(3_000)
    // If their number grew with the square of that of the tasks, there would be 100 times as many.
    expect(long.list / short.list).toBeLessThan(15)
    expect(long.order / short.order).toBeLessThan(15)
  })

  async function statements(count: number): Promise<{ list: number; order: number }> {
    const inner = await openLedger(':memory:')
    onTestFinished(() => inner.close())
    let sent = 0
    const ledger = delegateLedger(inner, {
      read: (query, reader) => inner.read((tx) => counted(query(tx)), reader),
    })
    function* counted<R>(op: Op<R>): Op<R> {
      let next = op.next()
      while (!next.done) {
        sent += [next.value].flat().length
        next = op.next(yield next.value)
      }
      return next.value
    }
    const sentBy = async (use: () => Promise<unknown>): Promise<number> => {
      const before = sent
      await use()
      return sent - before
    }
    const { engine, say } = await openBoard({ ledger })
    const specs = Array.from({ length: count }, (_, n) => ({
      name: `task ${n + 1}`,
      ...(n === 0 ? {} : { after: [`t${Math.floor(n / 2)}`] }),
    }))
    await engine.create({ name: 'all', tasks: Object.fromEntries(specs.map((spec, n) => [`t${n}`, spec])) })
    const lines = (await say('task_list')).split('\n')
    expect(lines).toHaveLength(count + 1)
    expect(lines[0]).toBe('[ ] #1: all')
    expect(lines.at(-1)).toBe(`[ ] #${count + 1}: task ${count} (blocked by: [${count / 2 + 1}])`)
    // A group has no work of its own; its children are worked on.
    const { order } = await engine.bus.call('board:graph', {})
    expect(order.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, n) => n + 2))
    const ready = (await engine.bus.call('board:ready', {})).tasks
    expect(ready.map(({ id }) => id)).toEqual([2])
    return {
      list: await sentBy(() => say('task_list')),
      order: await sentBy(() => engine.bus.call('board:graph', {})),
    }
  }

  it('S4-033 task_list returns at most 10,000 tasks and the number of the others', async () => {
    const { engine, say } = await openBoard()
    await engine.create(Array.from({ length: 10_002 }, (_, n) => ({ name: `t${n}` })))
    const lines = (await say('task_list')).split('\n')
    expect(lines).toHaveLength(10_001)
    expect(lines.at(-1)).toBe('… and 2 more')
    await refusalOf(engine.bus.call('board:list', { limit: 10_001 }), 'INVALID_INPUT')
  })
})
