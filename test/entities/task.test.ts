// The public views of rows, the outcome of a task, and the identity of a journal entry.
import { describe, expect, it } from 'vitest'
import { type CallRecord, identOf, interruptedError, toCall } from '../../src/entities/call.ts'
import { toMessage } from '../../src/entities/message.ts'
import { toQuestion } from '../../src/entities/question.ts'
import { outcomeOf } from '../../src/entities/task.ts'
import { toTask } from '../../src/operations/steps/views.ts'
import { taskOf } from '../machines/task-of.ts'

describe('a task', () => {
  it('S3-015 toTask shows public fields only', () => {
    expect(toTask(taskOf(), ['task-b'], [])).toEqual({
      id: 'task-a',
      seq: 1,
      name: 'a',
      goal: null,
      description: '',
      status: 'submitted',
      ready: true,
      statusReason: null,
      priority: 0,
      parentId: null,
      executor: 'work',
      input: null,
      result: null,
      error: null,
      owner: null,
      fence: 0,
      leaseUntil: null,
      role: null,
      tags: [],
      group: false,
      forkedFrom: null,
      system: false,
      startedAt: null,
      blockedBy: ['task-b'],
      questions: [],
      progress: null,
      generation: 1,
      attempt: 1,
      run: 0,
      notBefore: null,
      deadline: null,
      key: null,
      metadata: {},
      createdBy: null,
      mayRunCommands: true,
      version: 1,
      createdAt: 1_000,
      updatedAt: 1_000,
      completedAt: null,
    })
  })

  it('outcomeOf returns the outcome of a settled task, and undefined before', () => {
    expect(outcomeOf(taskOf({ status: 'completed', result: 7 }))).toEqual({ status: 'completed', result: 7 })
    expect(outcomeOf(taskOf({ status: 'canceled', statusReason: 'why' }))).toEqual({
      status: 'canceled',
      statusReason: 'why',
    })
    const error = { code: 'TIMEOUT', message: 'late' }
    expect(outcomeOf(taskOf({ status: 'failed', error }))).toEqual({ status: 'failed', error })
    expect(outcomeOf(taskOf({ status: 'failed' }))).toEqual({
      status: 'failed',
      error: { code: 'TASK_FAILED', message: 'failed' },
    })
    for (const status of ['submitted', 'working', 'paused', 'input_required', 'waiting'] as const)
      expect(outcomeOf(taskOf({ status }))).toBeUndefined()
  })
})

const call: CallRecord = {
  seq: 1,
  id: 'call-a',
  taskId: 'task-a',
  run: 1,
  generation: 1,
  attempt: 1,
  kind: 'call',
  name: 'fetch',
  ident: 'p:null',
  ordinal: 0,
  params: null,
  status: 'pending',
  onInterrupt: 'fail',
  parentId: null,
  details: null,
  result: null,
  error: null,
  startMessageId: null,
  resultLost: null,
  endMessageId: null,
  dueAt: null,
  createdAt: 1,
  updatedAt: 1,
}

describe('an entry of the journal', () => {
  it('identOf uses the key, or the params in any order of their keys', () => {
    expect(identOf('k', { a: 1 })).toBe('k:k')
    expect(identOf(undefined, { a: 1, b: [2] })).toBe(identOf(undefined, { b: [2], a: 1 }))
    expect(identOf(undefined, { a: 1 })).not.toBe(identOf(undefined, { a: 2 }))
    expect(identOf(undefined, undefined)).toBe(identOf(undefined, null))
  })

  it('identOf distinguishes keys from params, and hashes long ones', () => {
    expect(identOf('null', null)).not.toBe(identOf(undefined, null))
    const long = 'x'.repeat(10_000)
    expect(identOf(undefined, long).length).toBeLessThan(80)
    expect(identOf(long, null).length).toBeLessThan(80)
    expect(identOf(long, null)).not.toBe(identOf(undefined, long))
    expect(identOf(undefined, long)).not.toBe(identOf(undefined, `${long}y`))
  })

  it('toCall omits the identity of a journal entry', () => {
    const { kind: _kind, ident: _ident, ordinal: _ordinal, parentId: _parent, ...shown } = call
    expect(toCall(call)).toEqual(shown)
  })

  it('interruptedError says that the call may have happened', () => {
    expect(interruptedError('fetch')).toEqual({
      code: 'CALL_INTERRUPTED',
      message: 'Process crashed during execution',
      details: { call: 'fetch' },
    })
  })

  it('toQuestion shows a question, with a default only if it has one', () => {
    const question = { ...call, params: { question: 'Go?', for: 'anyone', schema: { type: 'boolean' } }, dueAt: 9 }
    expect(toQuestion(question)).toEqual({
      id: 'call-a',
      question: 'Go?',
      for: 'anyone',
      schema: { type: 'boolean' },
      askedAt: 1,
      dueAt: 9,
    })
    expect(toQuestion({ ...call, params: { question: 'Go?', default: null } })).toMatchObject({
      schema: null,
      default: null,
    })
  })
})

describe('a message', () => {
  it('toMessage omits the identity of a message', () => {
    const shown = {
      id: 'msg-a',
      taskId: 'task-a',
      n: 1,
      role: 'user' as const,
      content: 'hello',
      announcement: false,
      step: null,
      delivery: null,
      run: 1,
      timestamp: 1,
    }
    expect(toMessage({ ...shown, generation: 1, ident: 'p:hello', ordinal: 0 })).toEqual(shown)
  })
})
