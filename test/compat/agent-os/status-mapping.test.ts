// The mapping of task statuses to those of Agent OS, and back.
import { describe, expect, it } from 'vitest'
import {
  completionStatusOf,
  filterByCompletion,
  filterByProcessStatus,
  parseCompletionStatus,
  processStatuses,
  processStatusOf,
} from '../../../src/compat/agent-os/views/status-mapping.ts'
import { statusWordSchema } from '../../../src/entities/status-filter.ts'
import { isSettled, openStatuses, type TaskRecord, taskStatuses } from '../../../src/entities/task.ts'
import { waysTo } from '../../engine/world.ts'
import { openManager } from './world.ts'

type Standing = Pick<TaskRecord, 'status' | 'statusReason' | 'error'>
const error = (message: string) => ({ code: 'TASK_FAILED', message })

/** Every status, and those for which the reason makes a difference. */
const standings: Standing[] = [
  ...taskStatuses.map((status) => ({ status, statusReason: null, error: status === 'failed' ? error('broke') : null })),
  { status: 'waiting', statusReason: 'interrupted', error: null },
  { status: 'waiting', statusReason: 'released', error: null },
  { status: 'waiting', statusReason: 'children', error: null },
  { status: 'failed', statusReason: null, error: error('failed') },
  { status: 'failed', statusReason: null, error: error('success') },
]

describe('Process statuses', () => {
  it('S1-002 C-09 there are six process statuses, one for every state', () => {
    expect(Object.fromEntries(standings.slice(0, 8).map((task) => [task.status, processStatusOf(task)]))).toEqual({
      submitted: 'pending',
      working: 'running',
      paused: 'waiting',
      input_required: 'waiting',
      waiting: 'waiting',
      completed: 'completed',
      failed: 'failed',
      canceled: 'killed',
    })
    expect(standings.slice(8, 11).map(processStatusOf)).toEqual(['pending', 'pending', 'waiting'])
  })

  it('X-019 S1-037 filtering by a process status finds exactly its states', () => {
    for (const word of processStatuses) {
      const { statuses = [], released } = filterByProcessStatus(word)
      for (const task of standings) {
        const isReleased = task.statusReason === 'interrupted' || task.statusReason === 'released'
        const matches =
          statuses.includes(task.status) &&
          (task.status !== 'waiting' || released === undefined || released === isReleased)
        expect([word, task, matches]).toEqual([word, task, processStatusOf(task) === word])
      }
    }
  })

  it('C-05 filters accept three spellings of canceled, and the canonical statuses', () => {
    for (const word of ['killed', 'cancelled', 'canceled'] as const) {
      expect(filterByProcessStatus(word)).toEqual({ statuses: ['canceled'] })
    }
    for (const status of taskStatuses) expect(statusWordSchema.safeParse(status).success).toBe(true)
    expect(filterByProcessStatus('paused')).toEqual({ statuses: ['paused'] })
    expect(statusWordSchema.safeParse('done').success).toBe(false)
  })
})

describe('Completion statuses', () => {
  it('S0-003 S0-004 S0-005 S0-006 the completion status is absent until a task settles, then a word or the reason of its failure', () => {
    expect(standings.slice(0, 8).map((task) => [task.status, completionStatusOf(task)])).toEqual([
      ['submitted', undefined],
      ['working', undefined],
      ['paused', undefined],
      ['input_required', undefined],
      ['waiting', undefined],
      ['completed', 'success'],
      ['failed', 'failed: broke'],
      ['canceled', 'cancelled'],
    ])
    expect(completionStatusOf({ status: 'failed', statusReason: null, error: error('failed') })).toBe('failed')
  })

  it('X-019 C-04 a completion status is parsed to the outcome it was written for, also if the reason resembles a word', () => {
    for (const task of standings) {
      const read = parseCompletionStatus(completionStatusOf(task))
      expect(read.status).toBe(isSettled(task.status) ? task.status : 'open')
      if (read.status === 'failed') expect(read.reason ?? 'failed').toBe(task.error?.message)
    }
  })

  it('S0-009 any other completion status is the reason of a failure', () => {
    expect(parseCompletionStatus('the disk is full')).toEqual({ status: 'failed', reason: 'the disk is full' })
    expect(parseCompletionStatus('failed: ')).toEqual({ status: 'failed', reason: '' })
    expect(parseCompletionStatus('Success')).toEqual({ status: 'failed', reason: 'Success' })
    for (const spelling of ['cancelled', 'canceled', 'killed']) {
      expect(parseCompletionStatus(spelling)).toEqual({ status: 'canceled' })
    }
  })

  it('C-02 the completion filter null finds unsettled tasks, as text and as JSON; without a filter all are found', () => {
    expect(filterByCompletion('null')).toEqual({ statuses: openStatuses })
    expect(filterByCompletion(null)).toEqual({ statuses: openStatuses })
    expect(filterByCompletion(undefined)).toEqual({})
    expect(filterByCompletion('failed')).toEqual({ statuses: ['failed'] })
    expect(filterByCompletion('failed: broke')).toEqual({ statuses: ['failed'], failedWith: 'broke' })
  })
})

describe('A task in any state', () => {
  it.each(taskStatuses)(
    'X-019 a task that is %s is shown with its canonical status and every other status',
    async (status) => {
      const { engine, call } = await openManager()
      const task = await engine.create({ name: 'by hand' })
      for (const next of waysTo[status]) await engine.update(task, { status: next })
      const { task: shown } = await call('task:get', { taskId: task.id })
      const { task: record } = await call('ldg:task:get', { taskId: task.id })
      expect(shown).toMatchObject({ canonicalStatus: status })
      expect(record).toMatchObject({ canonicalStatus: status })
      const { status: word } = shown as { status: string }
      for (const each of [word, status]) {
        expect((await call('task:list', { status: each }))['total']).toBe(1)
      }
      const completionStatus = (record as { completionStatus?: string }).completionStatus ?? null
      expect((await call('ldg:task:query', { completionStatus }))['total']).toBe(1)
      expect((await call('ldg:task:query', { status }))['total']).toBe(1)
      expect((await call('task:active'))['tasks']).toHaveLength(isSettled(status) ? 0 : 1)
    },
  )
})
