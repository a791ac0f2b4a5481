// Families: children, descendants, ancestors, and what is known of the children of a parent.
import { someTime, taskRow } from '../factories.ts'
import { type Theme, write } from './contract-world.ts'

export const families: Theme = ({ describe, proves, expect }) => {
  describe('a family', () => {
    proves('is walked down below settled members too, by priority and age, and up to the root', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'root' }))
        yield* tx.task.insert(taskRow({ id: 'one', parentId: 'root', status: 'completed', completedAt: someTime }))
        yield* tx.task.insert(taskRow({ id: 'two', parentId: 'root', priority: 2 }))
        yield* tx.task.insert(taskRow({ id: 'gone', parentId: 'root', deletedAt: someTime }))
        yield* tx.task.insert(taskRow({ id: 'below-one', parentId: 'one' }))
        yield* tx.task.insert(taskRow({ id: 'below-gone', parentId: 'gone' }))
        yield* tx.task.insert(taskRow({ id: 'stranger' }))
      })
      const ids = (tasks: Array<{ id: string }>) => tasks.map((task) => task.id)
      expect(ids(await ledger.read((tx) => tx.task.children('root')))).toEqual(['two', 'one'])
      expect(ids(await ledger.read((tx) => tx.task.subtree('root')))).toEqual(['two', 'one', 'below-one', 'below-gone'])
      expect(ids(await ledger.read((tx) => tx.task.ancestors('below-one')))).toEqual(['one', 'root'])
      expect(ids(await ledger.read((tx) => tx.task.ancestors('root')))).toEqual([])
    })

    proves('of a thousand generations is walked whole', async (ledger) => {
      await write(ledger, function* (tx) {
        for (let n = 0; n < 1_000; n++) {
          yield* tx.task.insert(taskRow({ id: `task-${n}`, parentId: n === 0 ? null : `task-${n - 1}` }))
        }
      })
      expect((await ledger.read((tx) => tx.task.subtree('task-0'))).length).toBe(999)
      expect((await ledger.read((tx) => tx.task.ancestors('task-999')))[0]?.id).toBe('task-998')
    })

    proves(
      'that bites its own tail, as nothing should ever have written, is still walked to an end',
      async (ledger) => {
        await write(ledger, function* (tx) {
          yield* tx.task.insert(taskRow({ id: 'a' }))
          yield* tx.task.insert(taskRow({ id: 'b', parentId: 'a' }))
          yield* tx.task.saveDefinition({ ...taskRow({ id: 'a', parentId: 'b' }), seq: 1 })
        })
        expect((await ledger.read((tx) => tx.task.subtree('a'))).map((task) => task.id)).toEqual(['a', 'b'])
        expect((await ledger.read((tx) => tx.task.ancestors('a'))).map((task) => task.id).sort()).toEqual(['a', 'b'])
      },
    )

    proves('tells whether children are there, live, or broken; deleted ones do not count', async (ledger) => {
      const facts = (parent: string) => ledger.read((tx) => tx.task.childFacts(parent))
      await write(ledger, function* (tx) {
        for (const id of ['none', 'live', 'done', 'broken', 'deleted']) yield* tx.task.insert(taskRow({ id }))
        const settled = { completedAt: someTime }
        yield* tx.task.insert(taskRow({ id: 'l1', parentId: 'live' }))
        yield* tx.task.insert(taskRow({ id: 'l2', parentId: 'live', status: 'failed', ...settled }))
        yield* tx.task.insert(taskRow({ id: 'd1', parentId: 'done', status: 'completed', ...settled }))
        yield* tx.task.insert(taskRow({ id: 'b1', parentId: 'broken', status: 'canceled', ...settled }))
        yield* tx.task.insert(taskRow({ id: 'x1', parentId: 'deleted', deletedAt: someTime }))
      })
      expect(await facts('none')).toEqual({ any: false, live: false, broken: false })
      expect(await facts('live')).toEqual({ any: true, live: true, broken: true })
      expect(await facts('done')).toEqual({ any: true, live: false, broken: false })
      expect(await facts('broken')).toEqual({ any: true, live: false, broken: true })
      expect(await facts('deleted')).toEqual({ any: false, live: false, broken: false })
    })
  })
}
