// Families: children, descendants, ancestors, and facts about the children of a parent.
import type { TaskRecord } from '../../../src/entities/task.ts'
import { someTime, taskRow } from '../factories.ts'
import { idsIn, type Theme, write } from './contract-world.ts'

export const families: Theme = ({ describe, proves, expect }) => {
  describe('a family', () => {
    proves(
      'a family is read downwards by priority and age, also below settled tasks, and upwards to the root',
      async (ledger) => {
        await write(ledger, function* (tx) {
          yield* tx.task.insert(taskRow({ id: 'root' }))
          yield* tx.task.insert(taskRow({ id: 'one', parentId: 'root', status: 'completed', completedAt: someTime }))
          yield* tx.task.insert(taskRow({ id: 'two', parentId: 'root', priority: 2 }))
          yield* tx.task.insert(taskRow({ id: 'gone', parentId: 'root', deletedAt: someTime }))
          yield* tx.task.insert(taskRow({ id: 'below-one', parentId: 'one' }))
          yield* tx.task.insert(taskRow({ id: 'below-gone', parentId: 'gone' }))
          yield* tx.task.insert(taskRow({ id: 'stranger' }))
        })
        expect(await idsIn(ledger, (tx) => tx.task.children('root'))).toEqual(['two', 'one'])
        expect(await idsIn(ledger, (tx) => tx.task.subtree('root'))).toEqual(['two', 'one', 'below-one', 'below-gone'])
        expect(await idsIn(ledger, (tx) => tx.task.ancestors('below-one'))).toEqual(['one', 'root'])
        expect(await idsIn(ledger, (tx) => tx.task.ancestors('root'))).toEqual([])
      },
    )

    proves('a family of a thousand generations is read completely', async (ledger) => {
      await write(ledger, function* (tx) {
        for (let n = 0; n < 1_000; n++) {
          yield* tx.task.insert(taskRow({ id: `task-${n}`, parentId: n === 0 ? null : `task-${n - 1}` }))
        }
      })
      expect((await ledger.read((tx) => tx.task.subtree('task-0'))).length).toBe(999)
      expect((await ledger.read((tx) => tx.task.ancestors('task-999')))[0]?.id).toBe('task-998')
    })

    proves('a family whose parents form a cycle, which no valid write creates, is read to an end', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'a' }))
        yield* tx.task.insert(taskRow({ id: 'b', parentId: 'a' }))
        yield* tx.task.saveDefinition({ ...taskRow({ id: 'a', parentId: 'b' }), seq: 1 })
      })
      expect(await idsIn(ledger, (tx) => tx.task.subtree('a'))).toEqual(['a', 'b'])
      expect((await idsIn(ledger, (tx) => tx.task.ancestors('a'))).sort()).toEqual(['a', 'b'])
    })

    proves('childFacts reports whether undeleted children exist, can move, are stuck, or broken', async (ledger) => {
      const facts = (parent: string) => ledger.read((tx) => tx.task.childFacts(parent))
      await write(ledger, function* (tx) {
        for (const id of ['none', 'live', 'stuck', 'done', 'broken', 'deleted']) yield* tx.task.insert(taskRow({ id }))
        const settled = { completedAt: someTime }
        yield* tx.task.insert(taskRow({ id: 'l1', parentId: 'live' }))
        yield* tx.task.insert(taskRow({ id: 'l2', parentId: 'live', status: 'failed', ...settled }))
        yield* tx.task.insert(taskRow({ id: 's1', parentId: 'stuck' }))
        yield* tx.task.insert(taskRow({ id: 's2', parentId: 'stuck', status: 'failed', ...settled }))
        yield* tx.task.setStuck('s1', 's2')
        yield* tx.task.insert(taskRow({ id: 'd1', parentId: 'done', status: 'completed', ...settled }))
        yield* tx.task.insert(taskRow({ id: 'b1', parentId: 'broken', status: 'canceled', ...settled }))
        yield* tx.task.insert(taskRow({ id: 'x1', parentId: 'deleted', deletedAt: someTime }))
      })
      const none = { any: false, live: false, movable: false, stuck: null, broken: null }
      expect(await facts('none')).toEqual(none)
      expect(await facts('live')).toEqual({ ...none, any: true, live: true, movable: true })
      expect(await facts('stuck')).toEqual({ ...none, any: true, live: true, stuck: 's1', broken: 's2' })
      expect(await facts('done')).toEqual({ ...none, any: true })
      expect(await facts('broken')).toEqual({ ...none, any: true, broken: 'b1' })
      expect(await facts('deleted')).toEqual(none)
      // `stuckBy` has a write of its own: other writes of the row do not change it.
      const version = (id: string) => ledger.read((tx) => tx.task.get(id)).then((task) => task?.version)
      expect(await version('s1')).toBe(1)
      await write(ledger, function* (tx) {
        yield* tx.task.save((yield* tx.task.get('s1')) as TaskRecord)
      })
      expect(await facts('stuck')).toMatchObject({ stuck: 's1' })
    })
  })
}
