// Errors: known across copies, stored whatever was thrown, and with the nearest name for a slip.
import { describe, expect, it } from 'vitest'
import { ErrandError, Failure, nearestName, TaskCanceledError, TaskFailedError, toStoredError } from '../src/errors.ts'

describe('an error of the engine', () => {
  it('is known by its mark, also when it comes from another copy of the package', async () => {
    const path = '../src/errors.ts?another-copy'
    const other = (await import(/* @vite-ignore */ path)) as typeof import('../src/errors.ts')
    const foreign = new other.ErrandError('CYCLE', 'round and round')
    expect(foreign).not.toBeInstanceOf(ErrandError)
    expect(ErrandError.isInstance(foreign)).toBe(true)
    expect(ErrandError.isInstance(new TaskFailedError('a', { code: 'X', message: 'y' }))).toBe(true)
    for (const other of [new Error('x'), { code: 'CYCLE' }, null, undefined, 'CYCLE']) {
      expect(ErrandError.isInstance(other)).toBe(false)
    }
  })

  it('keeps its cause, and has none when none was given', () => {
    const cause = new Error('below')
    expect(new ErrandError('CYCLE', 'x', {}, cause).cause).toBe(cause)
    expect('cause' in new ErrandError('CYCLE', 'x')).toBe(false)
  })

  it('says what came of a task, with its id and why', () => {
    expect(new TaskFailedError('task-1', { code: 'TIMEOUT', message: 'too late' })).toMatchObject({
      name: 'TaskFailedError',
      code: 'TASK_FAILED',
      message: expect.stringContaining('task-1 failed: too late (TIMEOUT)'),
    })
    expect(new TaskCanceledError('task-1', 'no need').message).toContain('no need')
    expect(new TaskCanceledError('task-1', null).message).toBe('Task task-1 was canceled. A canceled task is final.')
  })
})

describe('whatever was thrown is stored:', () => {
  it.each<[string, unknown, object]>([
    ['undefined', undefined, { code: 'TASK_FAILED', message: 'undefined' }],
    ['null', null, { code: 'TASK_FAILED', message: 'null' }],
    ['a string', 'out of paper', { code: 'TASK_FAILED', message: 'out of paper' }],
    ['a number', 7, { code: 'TASK_FAILED', message: '7' }],
    ['a symbol', Symbol('s'), { code: 'TASK_FAILED', message: 'Symbol(s)' }],
    ['an object', { reason: 1 }, { code: 'TASK_FAILED', message: '[object Object]' }],
    ['an object without a text', Object.create(null), { code: 'TASK_FAILED', message: 'an object that has no text' }],
    [
      'an object that throws',
      {
        toString() {
          throw new Error('no')
        },
      },
      { code: 'TASK_FAILED', message: 'an object that has no text' },
    ],
    ['an error', new TypeError('bad'), { code: 'TASK_FAILED', message: 'bad' }],
    ['an error without a message', new TypeError(), { code: 'TASK_FAILED', message: 'TypeError' }],
    [
      'an error of the engine',
      new ErrandError('CYCLE', 'round', { path: ['a'] }),
      { code: 'CYCLE', message: 'round', details: { path: ['a'] } },
    ],
    ['a failure', new Failure('no'), { code: 'TASK_FAILED', message: 'no' }],
    [
      'a final failure with a code and details',
      new Failure('no', { code: 'MINE', retry: false, details: { at: 1 } }),
      { code: 'MINE', message: 'no', details: { at: 1 }, final: true },
    ],
    [
      'a failure whose details have no JSON image',
      new Failure('no', { details: 1n }),
      { code: 'TASK_FAILED', message: 'no', details: '1' },
    ],
  ])('%s', (_title, thrown, stored) => {
    expect(toStoredError(thrown)).toEqual(stored)
    expect(JSON.parse(JSON.stringify(toStoredError(thrown)))).toEqual(stored)
  })

  it('under the code that stands for those that carry none', () => {
    expect(toStoredError('late', 'TIMEOUT').code).toBe('TIMEOUT')
  })
})

describe('the nearest name', () => {
  const names = ['resize', 'report', 'ask', 'shell']

  it.each([
    ['resise', 'resize'],
    ['RESIZE', 'resize'],
    ['rport', 'report'],
    ['shel', 'shell'],
    ['aks', 'ask'],
    ['summarise', undefined],
    ['', undefined],
  ])('of "%s" is %s', (written, nearest) => {
    expect(nearestName(written, names)).toBe(nearest)
  })

  it('is none among none', () => {
    expect(nearestName('x', [])).toBe(undefined)
  })
})
