// What a repeated run does with what it finds: one row for each case of design section 2.
import { describe, expect, it } from 'vitest'
import { ErrandError, Failure, type StoredError } from '../../src/core/errors.ts'
import type { CallKind, CallRecord, CallStatus } from '../../src/entities/call.ts'
import { replayedError, replayOf } from '../../src/machines/replay.ts'

const entry = (status: CallStatus, attempt = 1, code: string | null = null, kind: CallKind = 'call') => ({
  kind,
  status,
  attempt,
  error: code === null ? null : { code, message: '' },
})

describe('replayOf', () => {
  it.each([
    ['does what was never done', undefined, 1, 'fail', 'anew'],
    ['returns a completed result, in a later attempt too', entry('completed'), 3, 'fail', 'result'],
    ['throws the failure again within the attempt', entry('failed', 1, 'CALL_FAILED'), 1, 'rerun', 'error'],
    ['repeats a failed call in the next attempt', entry('failed', 1, 'CALL_FAILED'), 2, 'fail', 'anew'],
    ['repeats an entry that only ended with its run', entry('failed', 1, 'RUN_ENDED', 'ask'), 1, 'fail', 'anew'],
    ['throws an error for an interrupted call by default', entry('failed', 1, 'CALL_INTERRUPTED'), 1, 'fail', 'error'],
    ['repeats an interrupted call with rerun', entry('failed', 1, 'CALL_INTERRUPTED'), 1, 'rerun', 'anew'],
    ['asks a person about an interrupted call with ask', entry('failed', 1, 'CALL_INTERRUPTED'), 1, 'ask', 'ask'],
    [
      'repeats an interrupted call in the next attempt, without asking',
      entry('failed', 1, 'CALL_INTERRUPTED'),
      2,
      'ask',
      'anew',
    ],
    ['throws the error of a failed wait', entry('failed', 1, 'TIMEOUT', 'wait'), 1, 'rerun', 'error'],
    ['continues to wait for an open question', entry('pending', 1, null, 'ask'), 1, 'fail', 'resume'],
    ['continues an open sleep', entry('pending', 1, null, 'sleep'), 2, 'fail', 'resume'],
    ['repeats a call that was never closed', entry('in_progress'), 1, 'fail', 'anew'],
  ] as const)('replayOf %s', (_title, found, attempt, onInterrupt, expected) => {
    expect(replayOf(found, attempt, onInterrupt)).toBe(expected)
  })
})

describe('A wait that a failed task ended', () => {
  const wait = (attempt: number, statuses: string[]) => ({
    status: 'completed' as const,
    kind: 'wait' as const,
    attempt,
    error: null,
    result: statuses.map((status) => ({ status })),
  })

  it('a broken wait is repeated by a new attempt, because the task may have been retried', () => {
    expect(replayOf(wait(1, ['completed', 'failed']), 2, 'fail')).toBe('anew')
    expect(replayOf(wait(1, ['canceled']), 2, 'fail')).toBe('anew')
  })

  it('a broken wait is replayed within its attempt, and a completed one by every attempt', () => {
    expect(replayOf(wait(1, ['completed', 'failed']), 1, 'fail')).toBe('result')
    expect(replayOf(wait(1, ['completed']), 2, 'fail')).toBe('result')
    expect(replayOf({ ...wait(1, []), result: [null, { status: 'completed' }] }, 2, 'fail')).toBe('result')
  })
})

describe('replayedError', () => {
  const thrown = (error: StoredError): unknown => replayedError({ id: 'call-a', name: 'fetch', error } as CallRecord)

  it('replayedError keeps a final failure final', () => {
    const error = thrown({ code: 'NO_MONEY', message: 'broke', details: { balance: 0 }, final: true })
    expect(error).toBeInstanceOf(Failure)
    expect(error).toMatchObject({ code: 'NO_MONEY', message: 'broke', retry: false, details: { balance: 0 } })
  })

  it('replayedError says what to do about an interrupted call', () => {
    const error = thrown({ code: 'CALL_INTERRUPTED', message: 'Process crashed during execution' })
    expect(ErrandError.isInstance(error) && error.code).toBe('CALL_INTERRUPTED')
    expect((error as Error).message).toContain("onInterrupt: 'rerun'")
  })

  it('replayedError restores an error that the engine recorded, and the class, code and fields of any other', () => {
    const late = thrown({ code: 'TIMEOUT', message: 'late', details: { timeoutMs: 7 } })
    expect(ErrandError.isInstance(late) && late).toMatchObject({
      code: 'TIMEOUT',
      message: 'late',
      details: { timeoutMs: 7 },
    })
    const error = thrown({ code: 'CALL_FAILED', message: 'broke', name: 'HttpError', fields: { status: 404 } })
    expect(error).toMatchObject({ name: 'HttpError', message: 'broke', status: 404 })
    expect(error).not.toHaveProperty('code')
    expect(thrown({ code: 'CALL_FAILED', message: 'no', name: 'TypeError' })).toBeInstanceOf(TypeError)
    expect(thrown({ code: 'CALL_FAILED', message: 'text', thrown: { value: 'text' } })).toBe('text')
  })

  it('replayedError of a call whose result is lost says that it was made, and is final', () => {
    const lost = replayedError({ id: 'call-a', name: 'pay', status: 'completed', resultLost: 'too long' } as CallRecord)
    expect(lost).toBeInstanceOf(Failure)
    expect(lost).toMatchObject({
      code: 'INVALID_RESULT',
      retry: false,
      details: { callId: 'call-a', reason: 'too long' },
    })
  })

  it('replayedError keeps the code of a thrown failure', () => {
    const error = thrown({ code: 'NO_MONEY', message: 'broke', brand: 'Failure', details: { balance: 0 } })
    expect(error).toBeInstanceOf(Failure)
    expect(error).toMatchObject({ code: 'NO_MONEY', message: 'broke', retry: true, details: { balance: 0 } })
  })
})
