// The family of a task as a table and on a time axis, and the tasks behind the error of a group.

import { expect, it } from 'vitest'
import { ApiClient } from '../../page/src/live/api-client.ts'
import { FamilyRuns } from '../../page/src/live/family-runs.ts'
import { causesOf, failedBehind } from '../../page/src/model/error-causes.ts'
import { childrenOf, familyOf, maxCounted, spanOf, workedMs } from '../../page/src/model/family.ts'
import { paramsText } from '../../page/src/model/params-text.ts'
import { TaskStore } from '../../page/src/model/task-store.ts'
import type { RunRecord, TaskRow } from '../../page/src/model/wire.ts'
import { rowOf } from './page-fixtures.ts'

function storeOf(...rows: TaskRow[]): TaskStore {
  const store = new TaskStore()
  store.applyRows(rows, 1)
  return store
}

const runOf = (given: Partial<RunRecord>) =>
  ({ number: 1, outcome: null, startedAt: 0, endedAt: null, ...given }) as RunRecord

it('a family is listed in the order of its tree, with its states and the failures below each child', () => {
  const root = rowOf({ id: 'root', seq: 1, group: true })
  const store = storeOf(
    root,
    rowOf({ id: 'b', seq: 3, parentId: 'root', status: 'completed' }),
    rowOf({ id: 'a', seq: 2, parentId: 'root', status: 'working' }),
    rowOf({ id: 'a2', seq: 5, parentId: 'a', status: 'failed' }),
    rowOf({ id: 'a1', seq: 4, parentId: 'a', status: 'working' }),
    rowOf({ id: 'a11', seq: 6, parentId: 'a1', status: 'failed' }),
    rowOf({ id: 'b1', seq: 7, parentId: 'b', openBlockers: 1 }),
  )
  const { lines, total, counts, failedBelow } = familyOf(store, root, 40)
  expect(lines.map(({ row, level }) => `${level} ${row.id}`)).toEqual([
    '0 root',
    '1 a',
    '2 a1',
    '3 a11',
    '2 a2',
    '1 b',
    '2 b1',
  ])
  expect(total).toBe(6)
  expect(Object.fromEntries(counts)).toEqual({ working: 2, failed: 2, completed: 1, blocked: 1 })
  expect([...failedBelow]).toEqual([['a', 2]])
})

it('of more children than fit, those that ask, failed or work come first', () => {
  const statuses = ['completed', 'working', 'completed', 'failed', 'input_required'] as const
  const root = rowOf({ id: 'root', seq: 0 })
  const store = storeOf(root, ...statuses.map((status, seq) => rowOf({ id: `c${seq}`, seq, parentId: 'root', status })))
  expect(childrenOf(store, 'root', 5).map(({ id }) => id)).toEqual(['c0', 'c1', 'c2', 'c3', 'c4'])
  expect(childrenOf(store, 'root', 3).map(({ id }) => id)).toEqual(['c4', 'c3', 'c1', 'c0', 'c2'])
  expect(familyOf(store, root, 3).lines.map(({ row }) => row.id)).toEqual(['root', 'c4', 'c3'])
})

it('in a family that does not fit, failures deep in it come first among their siblings', () => {
  const root = rowOf({ id: 'root', seq: 0 })
  const groups = ['a', 'b', 'c'].map((id, n) => rowOf({ id, seq: n + 1, parentId: 'root', status: 'working' }))
  const leaves = groups.flatMap(({ id, seq }) => [
    rowOf({ id: `${id}1`, seq: seq * 10, parentId: id, status: 'completed' }),
    rowOf({ id: `${id}2`, seq: seq * 10 + 1, parentId: id, status: 'failed' }),
  ])
  const { lines } = familyOf(storeOf(root, ...groups, ...leaves), root, 6)
  expect(lines.map(({ row }) => row.id)).toEqual(['root', 'a', 'a2', 'a1', 'b', 'b2'])
})

it('a family of tens of thousands is counted up to a limit', () => {
  const root = rowOf({ id: 'root', seq: 0 })
  const many = Array.from({ length: 2 * maxCounted }, (_, seq) => rowOf({ id: `c${seq}`, seq, parentId: 'root' }))
  const { lines, total } = familyOf(storeOf(root, ...many), root, 40)
  expect([lines.length, total]).toEqual([40, maxCounted])
})

it('the duration of a task is the time of its runs, and grows while one is open', () => {
  const row = rowOf({ id: 'a', createdAt: 100, run: 2, status: 'working' })
  const runs = [
    runOf({ number: 1, startedAt: 200, endedAt: 250, outcome: 'waiting' }),
    runOf({ number: 2, startedAt: 400 }),
  ]
  const span = spanOf(row, runs, null)
  expect(span).toMatchObject({ from: 100, to: null, work: [{ outcome: 'waiting' }, { outcome: 'live', to: null }] })
  expect([workedMs(row, span, 500), workedMs(row, span, 600)]).toEqual([150, 250])
  expect(workedMs(row, spanOf(row, [], null), 600)).toBeNull()
  const group = rowOf({ id: 'g', group: true, createdAt: 100, status: 'working' })
  expect(workedMs(group, spanOf(group, [], null), 600)).toBe(500)
  expect(workedMs({ ...group, status: 'submitted' }, spanOf(group, [], null), 600)).toBeNull()
})

it('in the past a task shows no run and no end that came later', () => {
  const row = rowOf({ id: 'a', createdAt: 100, completedAt: 500, run: 2, status: 'completed' })
  const runs = [runOf({ startedAt: 200, endedAt: 400, outcome: 'completed' }), runOf({ number: 2, startedAt: 450 })]
  expect(spanOf(row, runs, 300)).toEqual({
    from: 100,
    to: null,
    work: [{ number: 1, outcome: 'live', from: 200, to: null }],
  })
})

it('the runs of a family are read once for each change, and not for tasks that have never run', async () => {
  const asked: string[] = []
  const fetch = async (url: unknown) => {
    asked.push((url as URL).pathname + (url as URL).search)
    return Response.json({ runs: [runOf({ number: asked.length })], next: null })
  }
  const family = new FamilyRuns(
    new ApiClient({ base: 'http://engine.test/', fetch: fetch as never, token: () => null, signedOut: () => {} }),
  )
  const row = rowOf({ id: 'a/b', run: 120, status: 'working' })
  family.want([row, rowOf({ id: 'new' })])
  family.want([row])
  await expect.poll(() => family.runs.value.get('a/b')).toMatchObject([{ number: 1 }])
  family.want([{ ...row, status: 'completed' }])
  await expect.poll(() => family.runs.value.get('a/b')).toMatchObject([{ number: 2 }])
  expect(asked).toEqual(Array(2).fill('/tasks/a%2Fb/runs?after=70&limit=50'))
  family.close()
})

it('the tasks behind the error of a group are those that it names, then its failed children', () => {
  const store = storeOf(
    rowOf({ id: 'group', status: 'failed' }),
    rowOf({ id: 'ok', seq: 2, parentId: 'group', status: 'completed' }),
    rowOf({ id: 'x', seq: 3, parentId: 'group', status: 'failed' }),
    rowOf({ id: 'y', seq: 4, parentId: 'group', status: 'failed' }),
    rowOf({ id: 'far', seq: 5, status: 'canceled' }),
  )
  const stuck = { code: 'GROUP_STUCK', details: { cause: 'far', task: 'ok', number: 3 } }
  expect(failedBehind(store, 'group', stuck, 2)).toMatchObject({ tasks: [{ id: 'far' }, { id: 'x' }], more: 1 })
  expect(failedBehind(store, 'group', { code: 'CHILD_FAILED' }, 5).tasks.map(({ id }) => id)).toEqual(['x', 'y'])
  expect(failedBehind(store, 'group', { code: 'TASK_FAILED', details: { child: 'x' } }, 5).tasks).toEqual([])
})

it('the causes of an error are listed from the nearest, and a long chain ends', () => {
  expect(
    causesOf({ message: 'a', cause: { message: 'b', cause: { message: 'c' } } }).map(({ message }) => message),
  ).toEqual(['b', 'c'])
  const endless: { message: string; cause?: unknown } = { message: 'again' }
  endless.cause = endless
  expect(causesOf(endless as never)).toHaveLength(10)
})

it.each([
  [{}, ''],
  [null, ''],
  ['Oslo', 'Oslo'],
  [{ city: 'Oslo', days: 3, deep: { a: 1 }, list: [1, 2] }, 'city: Oslo, days: 3, deep: {…}, list: [2]'],
  [{ a: 1, b: 2, c: 3, d: 4, e: 5 }, 'a: 1, b: 2, c: 3, d: 4, …'],
  [{ text: `two\nlines ${'x'.repeat(1_000)}` }, `text: two lines ${'x'.repeat(30)}…`],
])('the parameters %j are %j in a label', (params, expected) => {
  expect(paramsText(params)).toBe(expected)
})
