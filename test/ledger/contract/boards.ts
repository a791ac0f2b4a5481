// Boards: numbers that are assigned once, reads by number, and the dependencies between the tasks of a board.
import type { BoardRecord } from '../../../src/entities/board.ts'
import type { Op, Tx } from '../../../src/ledger/ledger.ts'
import { edgeRow, someTime, taskRow } from '../factories.ts'
import { idsIn, insertTasks, purged, type Theme, write } from './contract-world.ts'

const boardRow = (name: string, more: Partial<BoardRecord> = {}): BoardRecord => ({
  name,
  parentId: null,
  nextNumber: 1,
  seenSeq: 0,
  createdAt: someTime,
  ...more,
})

/** A board, and tasks with numbers from 1 on. */
function* numbered(tx: Tx, board: string, ids: readonly string[]): Op<void> {
  yield* tx.board.save(boardRow(board, { nextNumber: ids.length + 1 }))
  for (const [index, taskId] of ids.entries()) {
    yield* tx.board.insert({ board, number: index + 1, taskId, fields: {} })
  }
}

export const boards: Theme = ({ describe, proves, expect }) => {
  describe('a board', () => {
    proves('a board is stored with its counters, and its parent never changes', async (ledger) => {
      expect(await ledger.read((tx) => tx.board.get('main'))).toBe(undefined)
      await write(ledger, function* (tx) {
        yield* tx.board.save(boardRow('main'))
        yield* tx.board.save(boardRow('a "b" \'c\' — 漢', { parentId: 'task-x', nextNumber: 9 }))
        yield* tx.board.save(boardRow('main', { nextNumber: 2 ** 40, seenSeq: 7, parentId: 'other', createdAt: 1 }))
      })
      expect(await ledger.read((tx) => tx.board.get('main'))).toEqual(
        boardRow('main', { nextNumber: 2 ** 40, seenSeq: 7 }),
      )
      const changed = await ledger.step({
        name: 'number',
        *decide(tx) {
          return [yield* tx.board.toAdd('main'), yield* tx.board.toNumber('main'), yield* tx.board.toNumber('none')]
        },
      })
      expect(changed).toEqual([...Array(2).fill(boardRow('main', { nextNumber: 2 ** 40, seenSeq: 7 })), undefined])
      expect((await ledger.read((tx) => tx.board.list())).map(({ name, parentId }) => [name, parentId])).toEqual([
        ['a "b" \'c\' — 漢', 'task-x'],
        ['main', null],
      ])
    })

    proves('a board finds a task by its number and the number of a task, with its stored fields', async (ledger) => {
      await insertTasks(ledger, 'a', 'b')
      const fields = { activeForm: 'Doing "a"', workspace: "/tmp/it's", boundIn: '1/1', extra: { deep: [1, null] } }
      await write(ledger, function* (tx) {
        yield* numbered(tx, 'main', ['a', 'b'])
        yield* numbered(tx, 'part', ['b'])
        yield* tx.board.saveFields('main', 'a', fields)
      })
      expect(await ledger.read((tx) => tx.board.entry('main', 1))).toEqual({
        board: 'main',
        number: 1,
        taskId: 'a',
        fields,
      })
      expect(await ledger.read((tx) => tx.board.entryOf('part', 'b'))).toMatchObject({ number: 1, fields: {} })
      expect(await ledger.read((tx) => tx.board.entryOf('main', 'b'))).toMatchObject({ number: 2 })
      expect(await ledger.read((tx) => tx.board.entryOf('part', 'a'))).toBe(undefined)
      expect(await ledger.read((tx) => tx.board.entry('main', 3))).toBe(undefined)
      await write(ledger, (tx) => tx.board.saveFields('main', 'a', {}))
      expect(await ledger.read((tx) => tx.board.entry('main', 1))).toMatchObject({ fields: {} })
    })

    proves('a board assigns no number twice, one number per task, and none to unknown tasks', async (ledger) => {
      await insertTasks(ledger, 'a', 'b')
      await write(ledger, (tx) => numbered(tx, 'main', ['a']))
      for (const entry of [
        { board: 'main', number: 1, taskId: 'b' },
        { board: 'main', number: 2, taskId: 'a' },
        { board: 'main', number: 0, taskId: 'b' },
        { board: 'main', number: 2, taskId: 'missing' },
        { board: 'nowhere', number: 1, taskId: 'b' },
      ]) {
        const refused = write(ledger, (tx) => tx.board.insert({ ...entry, fields: {} }))
        await expect(refused).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
      }
      expect((await ledger.read((tx) => tx.board.page('main', 0, 9))).length).toBe(1)
    })

    proves('a board is read page by page in the order of numbers, without deleted tasks', async (ledger) => {
      const ids = Array.from({ length: 12 }, (_, n) => `t${n + 1}`)
      await insertTasks(ledger, ...ids)
      await write(ledger, function* (tx) {
        yield* numbered(tx, 'main', ids)
        yield* numbered(tx, 'part', ['t2'])
        yield* tx.task.saveDefinition({ ...(yield* tx.task.get('t3'))!, deletedAt: someTime })
      })
      const page = async (after: number, limit: number) =>
        (await ledger.read((tx) => tx.board.page('main', after, limit))).map(({ entry, task }) => [
          entry.number,
          task.id,
        ])
      expect(await page(0, 3)).toEqual([
        [1, 't1'],
        [2, 't2'],
        [4, 't4'],
      ])
      expect(await page(8, 2)).toEqual([
        [9, 't9'],
        [10, 't10'],
      ])
      expect(await page(12, 9)).toEqual([])
      const [first] = await ledger.read((tx) => tx.board.page('main', 1, 1))
      expect(first?.task).toEqual(await ledger.read((tx) => tx.task.get('t2')))
    })

    proves('a board returns its tasks without a number by age', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'root' }))
        yield* tx.task.insert(taskRow({ id: 'child', parentId: 'root' }))
        yield* tx.task.insert(taskRow({ id: 'beside' }))
        yield* tx.task.insert(taskRow({ id: 'grandchild', parentId: 'child' }))
        yield* tx.task.insert(taskRow({ id: 'gone', parentId: 'root', deletedAt: someTime }))
        yield* tx.task.insert(taskRow({ id: 'late', parentId: 'root' }))
        yield* numbered(tx, 'main', ['child'])
        yield* numbered(tx, 'part', ['grandchild'])
      })
      const unnumbered = (board: string, seq: number, limit = 9) =>
        idsIn(ledger, (tx) => tx.board.unnumbered(board, seq, limit))
      const seq = (await ledger.read((tx) => tx.task.get('beside')))?.seq ?? 0
      expect(await unnumbered('main', 0)).toEqual(['root', 'beside', 'grandchild', 'late'])
      expect(await unnumbered('main', 0, 2)).toEqual(['root', 'beside'])
      expect(await unnumbered('main', seq)).toEqual(['grandchild', 'late'])
      expect(await unnumbered('part', 0)).toEqual(['root', 'child', 'beside', 'late'])
      expect(await ledger.read((tx) => tx.board.lastSeq())).toBe((await ledger.read((tx) => tx.task.get('late')))?.seq)
    })

    proves('a board returns blockers and dependents, satisfied or not, with their numbers if any', async (ledger) => {
      await insertTasks(ledger, 'a', 'b', 'c', 'beside')
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'gone', deletedAt: someTime }))
        yield* numbered(tx, 'main', ['a', 'b', 'c', 'gone'])
        yield* tx.dependency.insert(edgeRow({ taskId: 'c', blockerId: 'b' }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'c', blockerId: 'beside' }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'c', blockerId: 'a', satisfiedAt: someTime }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'c', blockerId: 'gone' }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'b', blockerId: 'a', satisfiedAt: someTime }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'beside', blockerId: 'a' }))
        yield* tx.dependency.insert(edgeRow({ taskId: 'gone', blockerId: 'a' }))
      })
      expect(await ledger.read((tx) => tx.board.blockersOf('main', 'c'))).toEqual([
        { taskId: 'b', number: 2, open: true },
        { taskId: 'beside', number: null, open: true },
        { taskId: 'a', number: 1, open: false },
      ])
      expect(await ledger.read((tx) => tx.board.dependentsOf('main', 'a'))).toEqual([
        { taskId: 'b', number: 2, open: false },
        { taskId: 'c', number: 3, open: false },
        { taskId: 'beside', number: null, open: true },
      ])
      expect(await ledger.read((tx) => tx.board.blockersOf('nowhere', 'b'))).toEqual([
        { taskId: 'a', number: null, open: false },
      ])
    })

    proves('a board returns the task that a workspace is or was bound to', async (ledger) => {
      await insertTasks(ledger, 'a', 'b')
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'over', status: 'completed', completedAt: someTime }))
        yield* numbered(tx, 'main', ['a', 'b', 'over'])
        yield* numbered(tx, 'part', ['a'])
        yield* tx.board.saveFields('main', 'a', { workspace: '/tmp/100%_"quoted"' })
        yield* tx.board.saveFields('main', 'over', { workspace: '/tmp/over' })
        yield* tx.board.saveFields('main', 'b', { activeForm: '"workspace":"/tmp/over"' })
      })
      const bound = async (board: string, workspace: string) =>
        (await ledger.read((tx) => tx.board.boundTo(board, workspace)))?.number
      expect(await bound('main', '/tmp/100%_"quoted"')).toBe(1)
      expect(await bound('main', '/tmp/100')).toBe(undefined)
      expect(await bound('main', '/tmp/over')).toBe(3)
      expect(await bound('main', 'over')).toBe(undefined)
      expect(await bound('part', '/tmp/100%_"quoted"')).toBe(undefined)
    })

    proves('loses the numbers of what is purged, on every board, and its counters go on', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.task.insert(taskRow({ id: 'old', status: 'completed', completedAt: 10 }))
        yield* tx.task.insert(taskRow({ id: 'old-child', parentId: 'old', status: 'completed', completedAt: 10 }))
        yield* tx.task.insert(taskRow({ id: 'kept' }))
        yield* numbered(tx, 'main', ['old', 'old-child', 'kept'])
        yield* numbered(tx, 'part', ['old-child'])
      })
      expect((await purged(ledger, 50)).tasks).toBe(2)
      expect((await ledger.read((tx) => tx.board.page('main', 0, 9))).map(({ entry }) => entry.number)).toEqual([3])
      expect(await ledger.read((tx) => tx.board.entryOf('part', 'old-child'))).toBe(undefined)
      expect(await ledger.read((tx) => tx.board.entry('main', 1))).toBe(undefined)
      expect(await ledger.read((tx) => tx.board.get('main'))).toMatchObject({ nextNumber: 4 })
    })
  })
}
