// The verdicts on relatives: when a parent ends, when a wait is over and what it gives, when there is another attempt.
import { describe, expect, it } from 'vitest'
import type { Outcome, TaskRecord } from '../../src/entities/task.ts'
import { awaitsChildren } from '../../src/entities/task.ts'
import {
  endsWait,
  failedWaitOf,
  isWaitOver,
  resolveRetry,
  resultsOf,
  retryDelay,
  waitFailure,
} from '../../src/machines/family.ts'
import { taskOf } from './task-of.ts'
import { parentVerdict } from './verdicts.ts'

const none = { any: false, live: false, movable: false, stuck: null, broken: null }
const done = { ...none, any: true }
const broken = { ...done, broken: 'task-1' }
const live = { ...done, live: true, movable: true }
const stuck = { ...done, live: true, stuck: 'task-2' }

describe('a group', () => {
  const group = taskOf({ status: 'working', group: true, executor: null })

  it.each([
    ['a group completes when all its children have', done, 'complete'],
    ['a group fails once all children are settled and one is broken', broken, 'fail'],
    ['a group continues while one child is open, with any outcome of the others', live, null],
    ['a group fails when none of its open children can move', stuck, 'fail'],
    ['a group fails when its open children wait for one that failed', { ...stuck, broken: 'task-1' }, 'fail'],
    ['a group completes when the last of its children was deleted', none, 'complete'],
  ] as const)('%s', (_title, facts, verdict) => {
    expect(parentVerdict(group, facts)).toBe(verdict)
  })

  it('a settled or deleted group is not changed by its children', () => {
    expect(parentVerdict({ ...group, status: 'failed' }, done)).toBeNull()
    expect(parentVerdict({ ...group, deletedAt: 5 }, done)).toBeNull()
  })
})

describe('another parent', () => {
  const parent = (changes: Partial<TaskRecord>) =>
    taskOf({ status: 'working', policy: { autoComplete: true }, ...changes })

  it.each([
    ['a parent is completed by its children when its own work is done', { runOpen: false }, done, 'complete'],
    ['a parent is not completed while its own run is open', { runOpen: true }, done, null],
    ['a parent is not completed when a child failed or was canceled', {}, broken, null],
    [
      'C-43 a parent with all-settled is completed when a child failed',
      { policy: { autoComplete: 'all-settled' } },
      broken,
      'complete',
    ],
    [
      'a parent with all-settled is not completed before the last child',
      { policy: { autoComplete: 'all-settled' } },
      live,
      null,
    ],
    ['a parent is not completed before the last child', {}, live, null],
    ['S3-089 S3-091 a parent does not fail when no child can move', {}, stuck, null],
    ['S3-088 a parent without children is not completed by them', {}, none, null],
    [
      'a parent is completed when the children that it waited for were deleted',
      { status: 'waiting', statusReason: 'children' },
      none,
      'complete',
    ],
    ['a parent is not completed while its owner is at work', { executor: null, owner: 'ada' }, done, null],
    ['a parent without autoComplete is not completed', { policy: {} }, done, null],
    [
      'a parent that only waits for its children is completed',
      { status: 'waiting', statusReason: 'children' },
      done,
      'complete',
    ],
    ['a parent that waits for something else is not completed', { status: 'waiting', statusReason: null }, done, null],
    ['a parent is not completed before it has started', { status: 'submitted' }, done, null],
    ['a paused parent is not completed', { status: 'paused' }, done, null],
    ['a waiting parent without an executor is completed', { status: 'waiting', executor: null }, done, 'complete'],
  ] as const)('%s', (_title, changes, facts, verdict) => {
    expect(parentVerdict(parent(changes), facts)).toBe(verdict)
  })

  it('awaitsChildren is true only for the reason `children`', () => {
    expect(awaitsChildren({ status: 'waiting', statusReason: 'children' })).toBe(true)
    expect(awaitsChildren({ status: 'waiting', statusReason: 'released' })).toBe(false)
    expect(awaitsChildren({ status: 'working', statusReason: 'children' })).toBe(false)
  })
})

describe('a wait', () => {
  const over = (mode: 'all' | 'any', settled: boolean, ...statuses: Array<TaskRecord['status']>) =>
    isWaitOver({ tasks: statuses.map((_, index) => `task-${index}`), mode, settled }, statuses)

  it('a wait for all is over when all have completed, or as soon as one cannot', () => {
    expect(over('all', false, 'completed', 'working')).toBe(false)
    expect(over('all', false, 'completed', 'completed')).toBe(true)
    expect(over('all', false, 'working', 'failed')).toBe(true)
    expect(over('all', false, 'working', 'canceled')).toBe(true)
  })

  it('a wait for all outcomes continues after a failure', () => {
    expect(over('all', true, 'working', 'failed')).toBe(false)
    expect(over('all', true, 'canceled', 'failed')).toBe(true)
  })

  it('a wait for any is over with the first that completes, or when none is left that could', () => {
    expect(over('any', false, 'working', 'failed')).toBe(false)
    expect(over('any', false, 'working', 'completed')).toBe(true)
    expect(over('any', false, 'canceled', 'failed')).toBe(true)
    expect(over('any', true, 'working', 'failed')).toBe(true)
    expect(over('any', true, 'working', 'submitted')).toBe(false)
  })

  it('a wait for no tasks is over in every mode', () => {
    for (const mode of ['all', 'any'] as const)
      for (const settled of [true, false]) expect(over(mode, settled)).toBe(true)
  })

  const one: Outcome = { status: 'completed', result: 1 }
  const failed: Outcome = { status: 'failed', error: { code: 'TASK_FAILED', message: 'broke' } }
  const canceled: Outcome = { status: 'canceled', statusReason: null }
  const given = (mode: 'all' | 'any', settled: boolean, ...outcomes: Array<Outcome | null>) =>
    resultsOf({ tasks: outcomes.map((_, index) => `task-${index}`), mode, settled }, outcomes)

  it('resultsOf returns results in order, and null for tasks that `any` did not need', () => {
    expect(given('all', false, one, { status: 'completed', result: 2 })).toEqual([1, 2])
    expect(given('any', false, null, one)).toEqual([null, 1])
    expect(given('any', false, failed, one)).toEqual([null, 1])
  })

  it('resultsOf returns outcomes with `settled`', () => {
    expect(given('all', true, one, failed, canceled)).toEqual([one, failed, canceled])
  })

  it('failedWaitOf finds the first task that did not complete, unless the wait returns a value', () => {
    const found = (mode: 'all' | 'any', settled: boolean, ...outcomes: Array<Outcome | null>) =>
      failedWaitOf({ tasks: outcomes.map((_, index) => `task-${index}`), mode, settled }, outcomes)
    for (const outcome of [failed, canceled]) {
      expect(found('all', false, one, outcome, failed)).toEqual({ taskId: 'task-1', outcome })
      expect(found('any', false, null, outcome)).toEqual({ taskId: 'task-1', outcome })
      expect(found('any', false, one, outcome)).toBeUndefined()
      expect(found('all', true, outcome)).toBeUndefined()
    }
  })

  it('waitFailure names the task by number and title, or by its id when it has been purged', () => {
    const task = taskOf({ seq: 7, name: 'print', error: { code: 'PAPER', message: 'broke', name: 'TypeError' } })
    expect(waitFailure({ taskId: 'task-1', outcome: failed }, task)).toMatchObject({
      code: 'CHILD_FAILED',
      message: expect.stringMatching(/^Task #7 \(print\), which this task waits for, failed: broke\. /),
      details: { taskId: 'task-1', outcome: failed },
      cause: { name: 'TypeError', code: 'PAPER', message: 'broke' },
    })
    expect(waitFailure({ taskId: 'task-1', outcome: canceled }, undefined).message).toMatch(
      /^Task task-1, which this task waits for, was canceled\. /,
    )
  })
})

describe('a retry', () => {
  const failedAt = (attempt: number, code = 'TASK_FAILED') => ({ attempt, code })

  it('S3-058 retryDelay is constant, or doubles each time', () => {
    const fixed = resolveRetry({ maxAttempts: 4, backoffMs: 100 })
    expect([1, 2, 3, 4].map((attempt) => retryDelay(fixed, failedAt(attempt), 0))).toEqual([100, 100, 100, undefined])
    const doubling = resolveRetry({ maxAttempts: 5, backoffMs: 100, backoff: 'exponential' })
    expect([1, 2, 3, 4, 5].map((attempt) => retryDelay(doubling, failedAt(attempt), 0))).toEqual([
      100,
      200,
      400,
      800,
      undefined,
    ])
  })

  it('retryDelay stays finite after very many attempts', () => {
    const endless = resolveRetry({ maxAttempts: 1_000_000, backoffMs: 1, backoff: 'exponential' })
    expect(retryDelay(endless, failedAt(5_000), 0)).toBe(2 ** 30)
  })

  it('retryDelay is the `retryAfterMs` of the failure, if there is an attempt left', () => {
    const policy = resolveRetry({ maxAttempts: 2, backoffMs: 100 })
    expect(retryDelay(policy, { ...failedAt(1), retryAfterMs: 7 }, 0)).toBe(7)
    expect(retryDelay(policy, { ...failedAt(2), retryAfterMs: 7 }, 0)).toBeUndefined()
  })

  it('resolveRetry defaults to one attempt, and uses the first policy only', () => {
    expect(resolveRetry()).toMatchObject({ maxAttempts: 1, backoffMs: 0, backoff: 'fixed', jitter: 0, on: [] })
    expect(resolveRetry(undefined, null, { maxAttempts: 3 }, { maxAttempts: 9, backoffMs: 9 })).toMatchObject({
      maxAttempts: 3,
      backoffMs: 0,
      backoff: 'fixed',
    })
  })
})

describe('the end of one awaited task', () => {
  const states = ['working', 'completed', 'failed', 'canceled'] as const

  it('endsWait agrees with isWaitOver for every state of the other tasks', () => {
    let weighed = 0
    for (const mode of ['all', 'any'] as const) {
      for (const settled of [true, false]) {
        for (const others of states.flatMap((a) => states.map((b) => [a, b]))) {
          const params = { tasks: ['a', 'b', 'c'], mode, settled }
          // A wait that was over before is not asked again.
          if (isWaitOver(params, [...others, 'working'])) continue
          for (const ended of ['completed', 'failed', 'canceled'] as const) {
            const over = isWaitOver(params, [...others, ended])
            expect(
              endsWait(params, ended, others.includes('working')),
              `${mode} ${String(settled)} ${others.join(' ')} ${ended}`,
            ).toBe(over)
            weighed += 1
          }
        }
      }
    }
    expect(weighed).toBeGreaterThan(50)
  })
})
