// What needs a person: which questions and failures are listed, in which order families come, and which executors are missing.

import { expect, it } from 'vitest'
import { attentionOf, failureOf, missingExecutors } from '../../page/src/model/attention.ts'
import { everything } from '../../page/src/model/filters.ts'
import { TaskStore } from '../../page/src/model/task-store.ts'
import { flattenTree } from '../../page/src/model/tree.ts'
import type { TaskRow } from '../../page/src/model/wire.ts'
import { rowOf } from './page-fixtures.ts'

function forestOf(rows: TaskRow[]): TaskStore {
  const store = new TaskStore()
  store.applyRows(rows, 1)
  return store
}

const ids = (rows: TaskRow[]) => rows.map(({ id }) => id)
const nothing = new Set<string>()

it('questions are listed from the longest waiting one on, and an answered one is not listed', () => {
  const { questions } = attentionOf(
    forestOf([
      rowOf({ id: 'late', seq: 1, status: 'input_required', executor: 'asks', updatedAt: 20 }),
      rowOf({ id: 'early', seq: 2, status: 'input_required', executor: 'asks', updatedAt: 10 }),
      rowOf({ id: 'answered', seq: 3, status: 'input_required', executor: 'asks', ready: true }),
    ]),
    nothing,
  )
  expect(ids(questions)).toEqual(['early', 'late'])
})

it('a failure is listed unless an executor above it learns of it, or what is above it is completed or canceled', () => {
  const { failures } = attentionOf(
    forestOf([
      rowOf({ id: 'alone', seq: 1, status: 'failed', updatedAt: 1 }),
      rowOf({ id: 'group', seq: 2, status: 'working', group: true }),
      rowOf({ id: 'inGroup', seq: 3, parentId: 'group', status: 'failed', updatedAt: 2 }),
      rowOf({ id: 'lead', seq: 4, status: 'working', executor: 'lead' }),
      rowOf({ id: 'team', seq: 5, parentId: 'lead', status: 'working', group: true }),
      rowOf({ id: 'known', seq: 6, parentId: 'team', status: 'failed' }),
      rowOf({ id: 'over', seq: 7, status: 'canceled', group: true }),
      rowOf({ id: 'past', seq: 8, parentId: 'over', status: 'failed' }),
    ]),
    nothing,
  )
  expect(ids(failures)).toEqual(['inGroup', 'alone'])
})

it('a failed group is listed by the failed tasks below it, and itself when none of these has failed any more', () => {
  const group = rowOf({ id: 'group', seq: 1, status: 'failed', group: true })
  const child = rowOf({ id: 'child', seq: 2, parentId: 'group', status: 'failed', executor: 'builds' })
  expect(ids(attentionOf(forestOf([group, child]), nothing).failures)).toEqual(['child'])
  const mended = forestOf([group, { ...child, status: 'completed' }])
  expect(ids(attentionOf(mended, nothing).failures)).toEqual(['group'])
})

it('a dismissed failure is not listed, and the failure of a later attempt, or of a later generation, is', () => {
  const row = rowOf({ id: 'task', status: 'failed' })
  const dismissed = new Set([failureOf(row)])
  expect(ids(attentionOf(forestOf([row]), dismissed).failures)).toEqual([])
  for (const later of [{ attempt: 2 }, { run: 3 }])
    expect(ids(attentionOf(forestOf([{ ...row, ...later }]), dismissed).failures)).toEqual(['task'])
})

it('families come in the order question, failure, working, open, settled, and count what failed and what asks below them', () => {
  const { lines } = flattenTree(
    forestOf([
      rowOf({ id: 'done', seq: 1, status: 'completed' }),
      rowOf({ id: 'queued', seq: 2 }),
      rowOf({ id: 'busy', seq: 3, status: 'working' }),
      rowOf({ id: 'broken', seq: 4, status: 'failed' }),
      rowOf({ id: 'plan', seq: 5, status: 'working', group: true }),
      rowOf({ id: 'first', seq: 6, parentId: 'plan', status: 'completed' }),
      rowOf({ id: 'inner', seq: 7, parentId: 'plan', status: 'working', group: true }),
      rowOf({ id: 'wrong', seq: 8, parentId: 'inner', status: 'failed' }),
      rowOf({ id: 'asks', seq: 9, parentId: 'inner', status: 'input_required' }),
      rowOf({ id: 'newest', seq: 10, status: 'completed' }),
    ]),
    everything,
    () => true,
  )
  expect(lines.map(({ row, failed, asking }) => [row.id, failed, asking])).toEqual([
    ['plan', 1, 1],
    ['inner', 1, 1],
    ['asks', 0, 0],
    ['wrong', 0, 0],
    ['first', 0, 0],
    ['broken', 0, 0],
    ['busy', 0, 0],
    ['queued', 0, 0],
    ['newest', 0, 0],
    ['done', 0, 0],
  ])
})

it('an executor is missing when tasks have been queued for it for a while, and no engine is known to run it', () => {
  const status = { working: true, executors: ['here'] }
  const queued = (id: string, executor: string, updatedAt = 0) => rowOf({ id, executor, ready: true, updatedAt })
  const rows = [
    queued('a', 'here'),
    queued('b', 'deploy'),
    queued('c', 'deploy'),
    queued('d', 'elsewhere'),
    rowOf({ id: 'e', executor: 'elsewhere', status: 'working' }),
    queued('f', 'soon', 9_000),
    queued('g', 'print'),
  ]
  expect(missingExecutors(rows, status, 10_000)).toEqual([
    { executor: 'deploy', queued: 2 },
    { executor: 'print', queued: 1 },
  ])
  expect(missingExecutors(rows, { ...status, working: false }, 10_000)).toEqual([])
})
