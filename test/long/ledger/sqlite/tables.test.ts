// Reads of a ledger with many rows. `npm run bench -- listing` measures how long they take.
import { describe, expect, it } from 'vitest'
import { messageRow, taskRow } from '../../../ledger/factories.ts'
import { migrated } from '../../../ledger/sqlite/migrated.ts'

describe('reads of a ledger with many rows', () => {
  const trees = { rootKeys: ['k'], rootKeyPrefixes: ['k+'] }

  it('V-02 the ready tasks of one tree are found at once among 20,000 tasks of other trees', async () => {
    const { connection, tx, drive } = await migrated()
    connection.execute('begin immediate')
    drive(tx.task.insert(taskRow({ id: 'foreign', group: true })))
    for (let n = 0; n < 20_000; n++) {
      const work = { parentId: 'foreign', executor: 'x', ready: true, priority: 9 }
      drive(tx.task.insert(taskRow({ id: `foreign-${n}`, lane: n % 2 === 0 ? 'foreign' : '', ...work })))
    }
    drive(tx.task.insert(taskRow({ id: 'a', key: 'k', group: true })))
    drive(tx.task.insert(taskRow({ id: 'b', parentId: 'a', executor: 'x', ready: true })))
    drive(tx.task.insert(taskRow({ id: 'c', parentId: 'a', executor: 'x', ready: true, lane: 'a' })))
    connection.execute('commit')
    for (let look = 0; look < 20; look++) {
      expect(drive(tx.task.ready('x', '', 4, 9, { trees })).map(({ id }) => id)).toEqual(['b'])
      expect(drive(tx.task.lanes('x', 4, { trees }))).toEqual(['a'])
      expect(drive(tx.task.anyReady(['x'], [], trees))).toBe(true)
    }
  })

  it('X-016 1,000 tasks with 100 messages each are listed and loaded whole', async () => {
    const { connection, tx, drive } = await migrated()
    connection.execute('begin immediate')
    for (let n = 0; n < 1_000; n++) {
      drive(tx.task.insert(taskRow({ id: `task-${n}`, priority: n % 10 })))
      for (let m = 0; m < 100; m++) {
        drive(
          tx.message.append(messageRow({ id: `message-${n}-${m}`, taskId: `task-${n}`, content: 'hello '.repeat(20) })),
        )
      }
    }
    connection.execute('commit')
    let messages = 0
    const tasks = drive(tx.task.list({}, 1_000))
    for (const task of tasks) messages += drive(tx.message.list(task.id)).length
    expect([tasks.length, messages]).toEqual([1_000, 100_000])
  })
})
