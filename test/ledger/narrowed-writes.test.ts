// What a step writes of a record that it has read: the fields that change, and nothing else, because each column costs its indexes.
import { expect, it } from 'vitest'
import type { Op } from '../../src/ledger/ledger.ts'
import { sqliteDialect } from '../../src/ledger/sqlite/dialect.ts'
import type { Request } from '../../src/ledger/statement.ts'
import { tablesOf } from '../../src/ledger/tables/tables.ts'
import { WriteBuffer } from '../../src/ledger/write-buffer.ts'
import { runRow, taskRow } from './factories.ts'

const tx = tablesOf(sqliteDialect)

/** The statement that an Op of one statement yields. */
const requestOf = (op: Op<unknown>): Request => op.next().value as Request
const columnsOf = ({ sql }: Request): string[] =>
  [...sql.matchAll(/"(\w+)" = \+?\?/g)].map(([, column]) => column as string)

function bufferAfter(read: Op<unknown>, record: object): WriteBuffer {
  const buffer = new WriteBuffer()
  buffer.noteReply(requestOf(read), [record])
  return buffer
}

it('a task that was read by its id is saved by the columns that change, with its new version', () => {
  const task = { seq: 1, ...taskRow({ id: 'a' }) }
  const buffer = bufferAfter(tx.task.get('a'), task)
  buffer.add(requestOf(tx.task.save({ ...task, status: 'working', run: 1, error: null })))
  const [write] = buffer.take() as [Request]
  expect(columnsOf(write)).toEqual(['status', 'run', 'id'])
  expect(write.sql).toMatch(/version"? = version \+ 1/)
  expect(write.parameters).toEqual(['working', 1, 'a'])
})

it('a task that was read in a list is saved by the columns that change', () => {
  const task = { seq: 1, ...taskRow({ id: 'a' }) }
  const buffer = bufferAfter(tx.task.ready('work', '', 10), task)
  buffer.add(requestOf(tx.task.save({ ...task, owner: 'me' })))
  expect(buffer.take().map(columnsOf)).toEqual([['owner', 'id']])
})

it('a second save is compared with the first, and a record that is not known is saved whole', () => {
  const task = { seq: 1, ...taskRow({ id: 'a' }) }
  const buffer = bufferAfter(tx.task.get('a'), task)
  const working = { ...task, status: 'working' as const }
  buffer.add(requestOf(tx.task.save(working)))
  buffer.add(requestOf(tx.task.save({ ...working, wakes: 2 })))
  buffer.add(requestOf(tx.task.save({ ...task, wakes: 2 })))
  buffer.add(requestOf(tx.task.save({ ...task, id: 'b' })))
  const [first, second, third, other] = buffer.take().map(columnsOf)
  expect([first, second, third]).toEqual([
    ['status', 'id'],
    ['wakes', 'id'],
    ['status', 'id'],
  ])
  expect(other?.length).toBeGreaterThan(20)
})

it('a save that changes nothing is not written, unless it counts as a new version', () => {
  const run = runRow({ taskId: 'a', number: 1 })
  const ofRun = bufferAfter(tx.run.get('a', 1), run)
  ofRun.add(requestOf(tx.run.save({ ...run })))
  expect(ofRun.take()).toEqual([])
  const task = { seq: 1, ...taskRow({ id: 'a' }) }
  const ofTask = bufferAfter(tx.task.get('a'), task)
  ofTask.add(requestOf(tx.task.save({ ...task })))
  expect(ofTask.take().map(columnsOf)).toEqual([['id']])
})

it('after a statement on a set of rows, a record is saved whole', () => {
  const task = { seq: 1, ...taskRow({ id: 'a' }) }
  const buffer = bufferAfter(tx.task.get('a'), task)
  buffer.add(requestOf(tx.task.setLanes('a', 'a')))
  buffer.add(requestOf(tx.task.save({ ...task, status: 'working' })))
  expect(columnsOf(buffer.take()[1] as Request).length).toBeGreaterThan(20)
})
