// ErrandError across copies of the package, and the nearest name for a typo.
import { describe, expect, it } from 'vitest'
import { ErrandError, nearestName, TaskCanceledError, TaskFailedError } from '../../src/core/errors.ts'

describe('an error of the engine', () => {
  it('ErrandError.isInstance recognizes errors of another copy of the package', async () => {
    const path = '../../src/core/errors.ts?another-copy'
    const other = (await import(/* @vite-ignore */ path)) as typeof import('../../src/core/errors.ts')
    const foreign = new other.ErrandError('CYCLE', 'round and round')
    expect(foreign).not.toBeInstanceOf(ErrandError)
    expect(ErrandError.isInstance(foreign)).toBe(true)
    expect(ErrandError.isInstance(new TaskFailedError('a', { code: 'X', message: 'y' }))).toBe(true)
    for (const other of [new Error('x'), { code: 'CYCLE' }, null, undefined, 'CYCLE']) {
      expect(ErrandError.isInstance(other)).toBe(false)
    }
  })

  it('ErrandError keeps its cause, and has no cause by default', () => {
    const cause = new Error('below')
    expect(new ErrandError('CYCLE', 'x', {}, cause).cause).toBe(cause)
    expect('cause' in new ErrandError('CYCLE', 'x')).toBe(false)
  })

  it('TaskFailedError and TaskCanceledError name the task and the reason', () => {
    expect(new TaskFailedError('task-1', { code: 'TIMEOUT', message: 'too late' })).toMatchObject({
      name: 'TaskFailedError',
      code: 'TASK_FAILED',
      message: expect.stringContaining('task-1 failed: too late (TIMEOUT)'),
    })
    expect(new TaskCanceledError('task-1', 'no need').message).toContain('no need')
    expect(new TaskCanceledError('task-1', null).message).toBe('Task task-1 was canceled. A canceled task is final.')
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
  ])('nearestName finds for "%s" %s', (written, nearest) => {
    expect(nearestName(written, names)).toBe(nearest)
  })

  it('nearestName returns undefined without candidates', () => {
    expect(nearestName('x', [])).toBe(undefined)
  })
})
