// Actions on several tasks: which of them are requested, how the requests are sent, and which questions need no dialog.

import { expect, it } from 'vitest'
import { ApiError } from '../../page/src/live/api-client.ts'
import { requestForEach } from '../../page/src/live/bulk-requests.ts'
import { planBulk } from '../../page/src/model/bulk.ts'
import { fieldOf } from '../../page/src/model/question-form.ts'
import { simpleAnswerOf } from '../../page/src/model/simple-answers.ts'
import { TaskStore } from '../../page/src/model/task-store.ts'
import type { TaskRow } from '../../page/src/model/wire.ts'
import { rowOf } from './page-fixtures.ts'

const ids = (rows: TaskRow[]) => rows.map(({ id }) => id)

function storeOf(rows: TaskRow[]): TaskStore {
  const store = new TaskStore()
  store.applyRows(rows, 1)
  return store
}

it('an action is requested for the tasks that accept it, and the others are left', () => {
  const rows = [
    rowOf({ id: 'working', status: 'working' }),
    rowOf({ id: 'failed', status: 'failed' }),
    rowOf({ id: 'paused', status: 'paused' }),
    rowOf({ id: 'resumed', status: 'paused', executor: 'counts', ready: true }),
  ]
  const accepting = (action: 'pause' | 'resume' | 'retry') => ids(planBulk(action, rows, storeOf(rows)).rows)
  expect(accepting('pause')).toEqual(['working'])
  expect(accepting('retry')).toEqual(['failed'])
  expect(accepting('resume')).toEqual(['paused'])
  expect(ids(planBulk('resume', rows, storeOf(rows)).left)).toEqual(['working', 'failed', 'resumed'])
})

it('a cancel is requested for the topmost of the chosen tasks, and counts the open tasks that go along', () => {
  const rows = [
    rowOf({ id: 'root', status: 'working' }),
    rowOf({ id: 'child', parentId: 'root', status: 'working' }),
    rowOf({ id: 'leaf', parentId: 'child', status: 'submitted' }),
    rowOf({ id: 'done', parentId: 'root', status: 'completed' }),
  ]
  const plan = planBulk('cancel', rows, storeOf(rows))
  expect([ids(plan.rows), ids(plan.left), plan.below]).toEqual([['root'], ['done'], 2])
})

const refusal = (status: number) => new ApiError({ status, code: 'NO', title: '', detail: 'No.', details: {} })

it('requests for many tasks are sent four at a time, and each refusal is returned with its task', async () => {
  let [open, most] = [0, 0]
  const seen: number[] = []
  const refused = await requestForEach(
    Array.from({ length: 20 }, (_, n) => n),
    async (n) => {
      most = Math.max(most, ++open)
      await Promise.resolve()
      open--
      if (n % 7 === 0) throw refusal(409)
    },
    { later: (callback) => callback() },
    (done) => seen.push(done),
  )
  expect(refused.map(({ item, problem }) => [item, problem.status])).toEqual([
    [0, 409],
    [7, 409],
    [14, 409],
  ])
  expect(most).toBe(4)
  expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
})

it('a request that comes too soon for the server is sent again after a rest', async () => {
  const rests: number[] = []
  let tries = 0
  const refused = await requestForEach(
    ['task'],
    async () => {
      if (++tries < 3) throw refusal(429)
    },
    {
      later: (callback, ms) => {
        rests.push(ms)
        callback()
      },
    },
  )
  expect([refused, tries, rests.length]).toEqual([[], 3, 2])
})

it('a question with few short answers has a button for each, one for a text or a number has an input, others have neither', () => {
  const simple = (schema: unknown) => simpleAnswerOf(fieldOf(schema))
  expect(simple({ type: 'boolean' })).toEqual({
    kind: 'buttons',
    answers: [
      { label: 'Yes', value: true },
      { label: 'No', value: false },
    ],
  })
  expect(simple({ enum: ['red', 2, ''] })).toMatchObject({
    answers: [
      { label: 'red', value: 'red' },
      { label: '2', value: 2 },
      { label: '""', value: '' },
    ],
  })
  expect(simple(null)).toMatchObject({ kind: 'input' })
  expect(simple({ type: 'integer' })).toMatchObject({ kind: 'input' })
  expect(simple({ enum: ['a', 'b', 'c', 'd', 'e', 'f'] })).toBe(null)
  expect(simple({ enum: ['x'.repeat(25)] })).toBe(null)
  expect(simple({ type: 'object', properties: { name: { type: 'string' } } })).toBe(null)
})
