// The form of a fork: the points that it offers, and the request that it makes.

import { expect, it } from 'vitest'
import { canFork, emptyFork, forkBody, forkPoints } from '../../page/src/model/fork.ts'
import type { Call, Message } from '../../page/src/model/wire.ts'

const callOf = (id: string, given: Partial<Call>) => ({ id, name: id, attempt: 1, createdAt: 0, ...given }) as Call
const stepOf = (id: string, content: string, timestamp: number) =>
  ({ id, content, timestamp, step: { modelId: 'm' } }) as unknown as Message

it('a fork begins at a call or a model step, and by default where the task failed or at its last one', () => {
  const calls = [
    callOf('taken over', { attempt: 0 }),
    callOf('price', { status: 'completed', createdAt: 10 }),
    callOf('pay', { status: 'failed', createdAt: 30 }),
  ]
  const own = { goal: null, status: 'failed' } as const
  expect(forkPoints(own, calls, [])).toEqual([
    ['', 'the call that failed'],
    ['price', 'call 1: price (completed)'],
    ['pay', 'call 2: pay (failed)'],
  ])
  expect(forkPoints({ ...own, status: 'completed' }, calls, [])[0]).toEqual(['', 'the last completed call'])
  const agent = forkPoints({ goal: 'Pay', status: 'completed' }, calls, [stepOf('m1', 'I\npay', 20)])
  expect(agent.map(([, label]) => label)).toEqual([
    'the last step of its model',
    'call 1: price (completed)',
    'step 1: I pay',
    'call 2: pay (failed)',
  ])
})

it('a fork is requested with what was entered, and a result or an input that is no JSON is refused', () => {
  expect(forkBody(emptyFork)).toEqual({ body: {} })
  expect(forkBody({ ...emptyFork, at: 'pay', result: 'null', model: ' test:b ' })).toEqual({
    body: { at: 'pay', result: null, model: 'test:b' },
  })
  expect(forkBody({ ...emptyFork, input: '{' })).toEqual({ wrong: { input: expect.stringContaining('JSON') } })
})

it('only tasks with an executor can be forked', () => {
  expect(canFork({ executor: 'pays', group: false })).toBe(true)
  expect(canFork({ executor: null, group: false })).toBe(false)
  expect(canFork({ executor: 'pays', group: true })).toBe(false)
})
