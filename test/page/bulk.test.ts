// Actions on several tasks: which of them are requested, how the requests are sent, and which questions need no dialog.

import { expect, it } from 'vitest'
import { ApiClient } from '../../page/src/live/api-client.ts'
import { changeTasks } from '../../page/src/live/batch.ts'
import { offeredFor, planBulk } from '../../page/src/model/bulk.ts'
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

interface PartOfBatch {
  action: string
  filter: { ids: string[]; before?: number }
  dryRun?: boolean
}

/** A server that answers batches, and the requests that it got. */
function batchServer(answer: (part: PartOfBatch, request: number) => Response) {
  const asked: PartOfBatch[] = []
  const api = new ApiClient({
    base: 'http://engine.test/',
    fetch: (async (_url: unknown, { body }: RequestInit) => {
      const part = JSON.parse(body as string) as PartOfBatch
      asked.push(part)
      return answer(part, asked.length)
    }) as typeof fetch,
    token: () => null,
    signedOut: () => {},
  })
  return { api, asked }
}

const many = Array.from({ length: 250 }, (_, n) => `task-${n}`)
const noClock = { later: (callback: () => void) => callback() }
const changed = ({ filter: { ids: part } }: PartOfBatch, refused: object[] = []) =>
  Response.json({ done: part.length - refused.length, refused, before: 77 })

it('many tasks are changed in parts, all as of the time of the first one, and refusals name tasks by their numbers', async () => {
  const { api, asked } = batchServer((part, request) =>
    changed(part, request === 2 ? [{ taskId: 'task-150', seq: 150, name: 'Late', message: 'task-150 is done.' }] : []),
  )
  const seen: number[] = []
  const request = { action: 'retry' as const, ids: many }
  const outcome = await changeTasks(api, noClock, request, new AbortController().signal, (upTo) => seen.push(upTo))
  expect(asked.map(({ filter }) => [filter.ids.length, filter.before])).toEqual([
    [100, undefined],
    [100, 77],
    [50, 77],
  ])
  expect(seen).toEqual([100, 200, 250])
  expect(outcome).toMatchObject({ done: 249, refused: [{ message: '#150 is done.' }], before: 77 })
})

it('a change of many tasks stops between two parts', async () => {
  const { api, asked } = batchServer((part) => changed(part))
  const stop = new AbortController()
  const { done } = await changeTasks(api, noClock, { action: 'cancel', ids: many }, stop.signal, () => stop.abort())
  expect([done, asked.length]).toEqual([100, 1])
})

it('a request that comes too soon for the server is sent again after a rest', async () => {
  const rests: number[] = []
  const { api } = batchServer((part, request) =>
    request < 3 ? Response.json({ code: 'RATE_LIMITED', detail: 'Wait.' }, { status: 429 }) : changed(part),
  )
  const later = (callback: () => void, ms: number) => {
    rests.push(ms)
    callback()
  }
  const { done } = await changeTasks(api, { later }, { action: 'pause', ids: ['a'] }, new AbortController().signal)
  expect([done, rests]).toEqual([1, [1_000, 1_000]])
})

it('the actions that some tasks accept are offered with the number of these', () => {
  const rows = [
    rowOf({ id: 'failed', status: 'failed' }),
    rowOf({ id: 'other', status: 'failed' }),
    rowOf({ id: 'done', status: 'completed' }),
  ]
  expect(offeredFor(rows)).toEqual([
    { action: 'retry', accepting: 2 },
    { action: 'delete', accepting: 3 },
  ])
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
