// The arguments of `run.*`: validated before anything of them is recorded, and refused with the reason.
import { describe, expect, it } from 'vitest'
import { ErrandError } from '../../src/core/errors.ts'
import type { Run } from '../../src/entities/executor.ts'
import { createWorld } from './world.ts'

/** The refusal of an invalid request; the run continues, and nothing of it may be in the journal. */
async function refusalIn(work: (run: Run) => unknown): Promise<ErrandError> {
  let refusal: unknown
  const world = await createWorld(async (_task, run) => {
    try {
      await work(run)
    } catch (error) {
      refusal = error
    }
    return 'went on'
  })
  const task = await world.engine.create({ executor: 'work' })
  expect(await world.engine.result(task, { timeoutMs: 5_000 })).toBe('went on')
  expect(ErrandError.isInstance(refusal), String(refusal)).toBe(true)
  expect(await world.ledger.read((tx) => tx.call.list(task.id))).toEqual([])
  expect(await world.engine.messages(task)).toEqual([])
  return refusal as ErrandError
}

const noop = () => 1

describe('an unknown option of a run', () => {
  const attempts: Array<[string, (run: Run) => unknown, string | undefined]> = [
    ['ask', (run) => run.ask('Well?', null, { timeout: 3 } as never), 'timeoutMs'],
    ['call', (run) => run.call('x', noop, { retries: 3 } as never), undefined],
    ['call with params', (run) => run.call('x', {}, noop, { onInterupt: 'fail' } as never), 'onInterrupt'],
    ['the retry of a call', (run) => run.call('x', noop, { retry: { maxAttempt: 3 } as never }), 'maxAttempts'],
    ['wait', (run) => run.wait([], { modus: 'any' } as never), 'mode'],
    ['sleep', (run) => run.sleep(1, { kee: 'k' } as never), 'key'],
    ['spawn', (run) => run.spawn({ executor: 'other' }, { kye: 'k' } as never), 'key'],
    ['message', (run) => run.message('user', 'hello', { kye: 'k' } as never), 'key'],
    ['emit', (run) => run.emit('hello', { stroe: true } as never), 'store'],
  ]
  it.each(attempts)(
    'an unknown option of a run is refused with the nearest name, if one is near: %s',
    async (_what, work, nearest) => {
      const refusal = await refusalIn(work)
      expect([refusal.code, refusal.details['nearest']]).toEqual(['UNKNOWN_OPTION', nearest])
      expect(refusal.message).toContain('It takes: ')
    },
  )
})

describe('an invalid argument of a run', () => {
  const attempts: Array<[string, (run: Run) => unknown, string]> = [
    ['attempts in words', (run) => run.call('x', noop, { retry: { maxAttempts: 'a' } as never }), 'retry.maxAttempts'],
    ['a negative time-out of a call', (run) => run.call('x', noop, { timeoutMs: -5 }), 'timeoutMs'],
    ['a policy that is none', (run) => run.call('x', noop, { onInterrupt: 'maybe' as never }), 'onInterrupt'],
    ['a key that is not text', (run) => run.call('x', noop, { key: 5 as never }), 'key'],
    ['a call without a function', (run) => run.call('x', {}, undefined as never), 'expects a function to call'],
    ['a call with nothing at all', (run) => (run.call as (name: string) => unknown)('x'), 'expects a function to call'],
    ['a call without a name', (run) => run.call(5 as never, noop), 'the name of a call'],
    ['a question that is none', (run) => run.ask(5 as never), 'the question'],
    ['a negative time-out of a question', (run) => run.ask('Well?', null, { timeoutMs: -5 }), 'timeoutMs'],
    ['options that are none', (run) => run.ask('Well?', null, 5 as never), 'run.ask'],
    ['a mode that is none', (run) => run.wait([], { mode: 'some' as never }), 'mode'],
    ['a wait for null', (run) => run.wait(null as never), 'got null'],
    ['a wait for numbers', (run) => run.wait([5] as never), 'got number'],
    ['a role that is none', (run) => run.message('robot' as never, 'hello'), 'The roles are: system, user'],
    ['a message of a number', (run) => run.message('user', 5 as never), 'got number'],
    ['a message of null', (run) => run.message('user', null as never), 'got null'],
    ['a sleep in words', (run) => run.sleep('5' as never), 'run.sleep expects'],
    ['progress in words', (run) => run.progress('0.5' as never), 'between 0 and 1, got string'],
    ['a note that is not text', (run) => run.progress(0.5, 5 as never), 'the note'],
    ['a task that is null', (run) => run.spawn(null as never), 'run.spawn'],
  ]
  it.each(attempts)(
    'an invalid argument of a run is refused at once and records nothing: %s',
    async (_what, work, words) => {
      const refusal = await refusalIn(work)
      expect(refusal.code).toBe('INVALID_INPUT')
      expect(refusal.message).toContain(words)
    },
  )
})

it('an option set to undefined counts as absent, except for a default, which is then null', async () => {
  const world = await createWorld(async (_task, run) => [
    await run.call('x', { n: 1 }, ({ n }) => n, { key: undefined, timeoutMs: undefined, retry: undefined } as never),
    await run.message('user', 'hello', undefined),
    await run.ask('Well?', null, { default: undefined, timeoutMs: 1 }),
  ])
  const task = await world.engine.create({ executor: 'work' })
  expect(await world.engine.result(task, { timeoutMs: 5_000 })).toEqual([1, expect.any(String), null])
})
