// The errors of handlers as they leave the bus.
import { describe, expect, it } from 'vitest'
import { createBus } from '../../src/bus/bus.ts'
import { ErrandError, Failure } from '../../src/core/errors.ts'
import { refusalOf, register } from './world.ts'

function throwing(thrown: unknown) {
  const bus = createBus()
  register(bus, 'a:b', () => {
    throw thrown
  })
  return bus
}

describe('the error of a handler', () => {
  it('S1-085 the error of a handler keeps its message, and has code, abilityId and cause', async () => {
    const original = new TypeError('disk on fire')
    const error = await refusalOf(throwing(original).invoke('a:b')('{}'), 'EXECUTION_ERROR')
    expect(error.message).toBe('disk on fire')
    expect(error.details).toEqual({ abilityId: 'a:b', error: { code: 'EXECUTION_ERROR', message: 'disk on fire' } })
    expect(error.cause).toBe(original)
  })

  it('S1-085 the error of a rejected handler is the same, and so is that of `call`', async () => {
    const bus = createBus()
    register(bus, 'a:b', () => Promise.reject(new Error('later')))
    for (const work of [bus.invoke('a:b')('{}'), bus.call('a:b', {})]) {
      expect((await refusalOf(work, 'EXECUTION_ERROR')).message).toBe('later')
    }
  })

  it('S1-085 the error of a handler keeps the code of a system error', async () => {
    const original = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
    const error = await refusalOf(throwing(original).invoke('a:b')('{}'), 'EXECUTION_ERROR')
    expect(error.details['error']).toEqual({ code: 'ECONNRESET', message: 'socket hang up' })
  })

  it('S1-085 a Failure stays reachable as the cause, with its retry options', async () => {
    const original = new Failure('slow down', { code: 'rate_limited', retryAfterMs: 1500, details: { status: 429 } })
    const error = await refusalOf(throwing(original).invoke('a:b')('{}'), 'EXECUTION_ERROR')
    expect(error.cause).toBe(original)
    expect(error.details['error']).toEqual({ code: 'rate_limited', message: 'slow down', details: { status: 429 } })
  })

  it('S1-085 a refusal of the engine keeps its code, and its details gain the ability', async () => {
    const original = new ErrandError('NOT_FOUND', 'Task task-x is unknown.', { taskId: 'task-x' })
    const error = await refusalOf(throwing(original).invoke('a:b')('{}'), 'NOT_FOUND')
    expect(error.message).toBe('Task task-x is unknown.')
    expect(error.details).toEqual({ taskId: 'task-x', abilityId: 'a:b' })
    expect(error.cause).toBe(original)
    expect(original.details).toEqual({ taskId: 'task-x' })
  })

  it('S1-085 the error of a nested call names the ability that failed', async () => {
    const bus = throwing(new Error('inner'))
    register(bus, 'c:d', () => bus.call('a:b', {}))
    const error = await refusalOf(bus.call('c:d', {}), 'EXECUTION_ERROR')
    expect(error.details['abilityId']).toBe('a:b')
    expect(bus.log().map(({ abilityId, code }) => [abilityId, code])).toEqual([
      ['a:b', 'EXECUTION_ERROR'],
      ['c:d', 'EXECUTION_ERROR'],
    ])
  })

  it.each([
    ['a string', 'no', 'no'],
    ['undefined', undefined, 'undefined'],
    ['an object without text', Object.create(null) as unknown, 'an object that has no text'],
  ])('S1-085 a handler may throw %s', async (_title, thrown, message) => {
    const error = await refusalOf(throwing(thrown).invoke('a:b')('{}'), 'EXECUTION_ERROR')
    expect(error.message).toBe(message)
    expect(error.details['abilityId']).toBe('a:b')
  })

  it('S1-085 the error of a stream is the same, after the chunks before it', async () => {
    const bus = createBus()
    const original = new Error('cut')
    bus.register(
      { id: 'a:b', description: 'Breaks.', isStream: true, inputSchema: {}, outputSchema: {} },
      async function* () {
        yield '1'
        throw original
      },
    )
    const chunks: string[] = []
    const reading = (async () => {
      for await (const chunk of bus.invokeStream('a:b')('{}')) chunks.push(chunk)
    })()
    const error = await refusalOf(reading, 'EXECUTION_ERROR')
    expect(chunks).toEqual(['1'])
    expect([error.message, error.cause, error.details['abilityId']]).toEqual(['cut', original, 'a:b'])
  })
})
