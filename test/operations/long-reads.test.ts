import { expect, it } from 'vitest'
import { refusalOf } from '../engine/world.ts'
import { taskRow } from '../ledger/factories.ts'
import { engineWith } from './engine-with-rows.ts'

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
