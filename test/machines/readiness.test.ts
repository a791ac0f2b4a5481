// Readiness: the obstacles between a task and a slot, one at a time, and that every change of a row derives it.
import { describe, expect, it } from 'vitest'
import { type TaskStatus, taskStatuses } from '../../src/entities/task.ts'
import { derive, moved, touched } from '../../src/machines/changed-task.ts'
import { isClaimable, isFree, isQueued, isReady, isReleased, obstacleOf } from '../../src/machines/readiness.ts'
import { acceptedEvents, nextStatus } from '../../src/machines/task-edges.ts'
import { taskOf } from './task-of.ts'

describe('obstacleOf', () => {
  it.each([
    [{ status: 'submitted' }, null],
    [{ status: 'submitted', deletedAt: 5 }, 'settled'],
    [{ status: 'completed' }, 'settled'],
    [{ status: 'failed' }, 'settled'],
    [{ status: 'canceled' }, 'settled'],
    [{ status: 'working' }, 'running'],
    [{ status: 'submitted', executor: null }, null],
    [{ status: 'submitted', executor: null, group: true }, 'group'],
    [{ status: 'submitted', executor: null, openBlockers: 1 }, 'blocked'],
    [{ status: 'working', executor: null }, 'running'],
    [{ status: 'waiting', executor: null }, 'children'],
    [{ status: 'waiting', executor: null, statusReason: 'released' }, null],
    [{ status: 'submitted', held: true }, 'held'],
    [{ status: 'submitted', runOpen: true }, 'closing'],
    [{ status: 'submitted', openBlockers: 1 }, 'blocked'],
    [{ status: 'submitted', notBefore: 9 }, 'timer'],
    [{ status: 'paused' }, null],
    [{ status: 'paused', held: true }, 'held'],
    [{ status: 'paused', runOpen: true }, 'closing'],
    [{ status: 'input_required' }, 'answer'],
    [{ status: 'input_required', wakes: 1 }, null],
    [{ status: 'waiting' }, 'children'],
    [{ status: 'waiting', wakes: 1 }, null],
    [{ status: 'waiting', statusReason: 'interrupted' }, null],
    [{ status: 'waiting', statusReason: 'released' }, null],
    [{ status: 'waiting', statusReason: 'children' }, 'children'],
    [{ status: 'waiting', statusReason: 'interrupted', runOpen: true }, 'closing'],
  ] as const)('obstacleOf(%j) is %s', (changes, obstacle) => {
    expect(obstacleOf(taskOf(changes))).toBe(obstacle)
    const task = taskOf(changes)
    expect(isReady(task)).toBe(obstacle === null && task.executor !== null)
    expect(isClaimable(task)).toBe(obstacle === null && task.executor === null)
    expect(isQueued(task)).toBe((obstacle === null || obstacle === 'closing') && task.executor !== null)
    expect(isFree(task)).toBe(isQueued(task) || isClaimable(task))
  })

  it('obstacleOf returns the most relevant of several obstacles', () => {
    const all = { held: true, runOpen: true, openBlockers: 1, notBefore: 9 }
    expect(obstacleOf(taskOf(all))).toBe('held')
    expect(obstacleOf(taskOf({ ...all, held: false }))).toBe('blocked')
    expect(obstacleOf(taskOf({ ...all, held: false, openBlockers: 0 }))).toBe('timer')
    expect(obstacleOf(taskOf({ status: 'input_required', runOpen: true }))).toBe('answer')
    expect(obstacleOf(taskOf({ status: 'input_required', runOpen: true, wakes: 1 }))).toBe('closing')
    expect(obstacleOf(taskOf({ status: 'waiting', runOpen: true }))).toBe('children')
  })

  it('isReleased is true for waiting tasks only', () => {
    expect(isReleased({ status: 'waiting', statusReason: 'released' })).toBe(true)
    expect(isReleased({ status: 'canceled', statusReason: 'released' })).toBe(false)
  })
})

describe('a change of a row', () => {
  it.each(taskStatuses.flatMap((status) => acceptedEvents(status).map((event) => ({ status, event }))))(
    'a change of a row moves $status by $event, with time, readiness and image derived',
    ({ status, event }) => {
      const before = taskOf({ status, statusReason: 'before', ...(status === 'failed' ? { completedAt: 1_000 } : {}) })
      const after = moved(before, nextStatus(status, event) as TaskStatus, 2_000, { attempt: 7 })
      derive(after, 2_000)
      expect(after.status).toBe(nextStatus(status, event))
      expect(after).toMatchObject({ attempt: 7, updatedAt: 2_000, createdAt: 1_000, statusReason: null })
      expect(after.completedAt).toBe(['completed', 'failed', 'canceled'].includes(after.status) ? 2_000 : null)
      expect(after.ready).toBe(isReady(after))
      expect(JSON.parse(after.snapshot)).toMatchObject({ value: after.status, context: { attempt: 7 } })
      expect(before.status).toBe(status)
    },
  )

  it('touched keeps the state and derives the rest of the row', () => {
    const after = touched(taskOf({ openBlockers: 1 }), 2_000, { openBlockers: 0 })
    expect(after).toMatchObject({ status: 'submitted', ready: true, updatedAt: 2_000 })
    expect(touched(after, 3_000, { name: 'b' }).snapshot).toContain('"name":"b"')
  })
})
