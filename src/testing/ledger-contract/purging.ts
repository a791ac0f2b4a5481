// Purge: whole families are deleted, with all that belongs to them, when all of it has been settled for long enough.
import type { Ledger } from '../../ledger/ledger.ts'
import { callRow, edgeRow, eventRow, messageRow, runRow, taskRow } from '../factories.ts'
import { appended, inserted, type Theme, write } from './contract-world.ts'

const done = (id: string, completedAt: number, more: Partial<ReturnType<typeof taskRow>> = {}) =>
  taskRow({ id, status: 'completed', completedAt, ...more })

const there = async (ledger: Ledger, ...ids: string[]) => {
  const found = await Promise.all(ids.map((id) => ledger.read((tx) => tx.task.get(id))))
  return ids.filter((_, index) => found[index] !== undefined)
}

export const purging: Theme = ({ describe, proves, expect }) => {
  describe('a purge', () => {
    proves('removes a settled family with all that belongs to it, and nothing of others', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const root of ['old', 'kept']) {
          const child = `${root}-child`
          yield* tx.task.insert(done(root, root === 'old' ? 10 : 90))
          yield* tx.task.insert(done(child, 9, { parentId: root, deletedAt: 9 }))
          for (const taskId of [root, child]) {
            const run = { ...runRow({ taskId }), status: 'closed' as const, outcome: 'completed' as const }
            yield* tx.run.insert(runRow({ taskId }))
            yield* tx.run.save({ ...run, endedAt: 1, closedAt: 1 })
            yield* tx.call.insert(callRow({ id: `call-${taskId}`, taskId, status: 'completed' }))
            yield* tx.message.append(messageRow({ id: `message-${taskId}`, taskId }))
            yield* tx.event.append(eventRow({ taskId }))
          }
          yield* tx.dependency.insert(edgeRow({ taskId: root, blockerId: child, satisfiedAt: 1 }))
        }
        // A settled dependent: its edge is deleted, the task stays.
        yield* tx.dependency.insert(edgeRow({ taskId: 'kept', blockerId: 'old-child' }))
      })
      const purged = await write(ledger, (tx) => tx.cascade.purge(50, 100))
      expect(purged).toEqual({ families: 1, tasks: 2, events: 2, through: 2, next: undefined })
      expect(await there(ledger, 'old', 'old-child', 'kept', 'kept-child')).toEqual(['kept', 'kept-child'])
      const left = async (taskId: string) => [
        (await ledger.read((tx) => tx.run.list(taskId))).length,
        (await ledger.read((tx) => tx.call.list(taskId))).length,
        (await ledger.read((tx) => tx.message.list(taskId))).length,
        (await ledger.read((tx) => tx.event.after(0, 9, taskId))).length,
      ]
      for (const id of ['old', 'old-child']) expect([id, ...(await left(id))]).toEqual([id, 0, 0, 0, 0])
      for (const id of ['kept', 'kept-child']) expect([id, ...(await left(id))]).toEqual([id, 1, 1, 1, 1])
      expect(await ledger.read((tx) => tx.dependency.blockers('kept'))).toEqual(['kept-child'])
    })

    proves('leaves a family that is not settled, or not for long enough, somewhere in it', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(done('live-below', 1))
        yield* tx.task.insert(done('settled-between', 1, { parentId: 'live-below' }))
        yield* tx.task.insert(taskRow({ id: 'live', parentId: 'settled-between' }))
        yield* tx.task.insert(done('late-below', 1))
        yield* tx.task.insert(done('late', 50, { parentId: 'late-below' }))
        yield* tx.task.insert(taskRow({ id: 'open-root' }))
        yield* tx.task.insert(done('below-open', 1, { parentId: 'open-root' }))
        yield* tx.task.insert(done('at-the-edge', 50))
      })
      const purged = await write(ledger, (tx) => tx.cascade.purge(50, 100))
      expect(purged).toEqual({ families: 0, tasks: 0, events: 0, through: 0, next: undefined })
      expect(await ledger.read((tx) => tx.task.count({}))).toBe(8)
    })

    proves('keeps a family as long as a live task comes after one of its tasks', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(done('root', 1))
        yield* tx.task.insert(done('child', 1, { parentId: 'root', status: 'failed' }))
        yield* tx.task.insert(taskRow({ id: 'blocked', openBlockers: 1 }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'blocked', blockerId: 'child' }))
      })
      expect((await write(ledger, (tx) => tx.cascade.purge(50, 9))).families).toBe(0)
      await write(ledger, (tx) => tx.dependency.remove('blocked', 'child'))
      expect((await write(ledger, (tx) => tx.cascade.purge(50, 9))).tasks).toBe(2)
      expect(await there(ledger, 'root', 'child', 'blocked')).toEqual(['blocked'])
    })

    proves(
      'looks at so many roots at once, and says where to go on; what stays is not looked at again',
      async (ledger) => {
        await write(ledger, function* (tx) {
          for (let n = 0; n < 5; n++) yield* tx.task.insert(done(`task-${n}`, 10))
          yield* tx.task.insert(taskRow({ id: 'live', parentId: 'task-1' }))
        })
        const first = await write(ledger, (tx) => tx.cascade.purge(50, 2))
        expect([first.families, first.next]).toEqual([1, { completedAt: 10, seq: 2 }])
        const second = await write(ledger, (tx) => tx.cascade.purge(50, 2, first.next))
        expect([second.families, second.next]).toEqual([2, { completedAt: 10, seq: 4 }])
        const third = await write(ledger, (tx) => tx.cascade.purge(50, 2, second.next))
        expect([third.families, third.next]).toEqual([1, undefined])
        expect(await there(ledger, 'task-0', 'task-1', 'task-2', 'task-3', 'task-4', 'live')).toEqual([
          'task-1',
          'live',
        ])
      },
    )

    proves('never gives a number twice: what comes later is after what left', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(done('old', 1))
        yield* tx.event.append(eventRow({ taskId: 'old' }))
      })
      const { through } = await write(ledger, (tx) => tx.cascade.purge(50, 9))
      const { task, event } = await write(ledger, function* (tx) {
        const seq = yield* inserted(tx, taskRow({ id: 'new' }))
        return { task: seq, event: yield* appended(tx, eventRow({ taskId: 'new' })) }
      })
      expect([through, task, event]).toEqual([1, 2, 2])
    })
  })
}
