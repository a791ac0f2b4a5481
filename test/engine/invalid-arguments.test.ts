// Invalid arguments of the engine: each refusal is typed, shows what was passed, and comes before anything is written.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { maxTaskDepth } from '../../src/core/input-gate.ts'
import { defineExecutor } from '../../src/entities/executor.ts'
import { openEngine, refusalOf } from './world.ts'

const noop = (): null => null

/** Nested groups, with so many levels of tasks in all. */
function nested(levels: number): Record<string, unknown> {
  let tree: Record<string, unknown> = { name: 'innermost' }
  for (let level = 1; level < levels; level++) tree = { name: `level ${level}`, tasks: { inner: tree } }
  return tree
}

describe('a tree passed to create', () => {
  it('create accepts a tree of 128 levels, and refuses a deeper one before it reads it, as a method and on the bus', async () => {
    const engine = await openEngine()
    await engine.create(nested(maxTaskDepth) as never)
    for (const levels of [maxTaskDepth + 1, 500, 100_000]) {
      for (const refused of [engine.create(nested(levels) as never), engine.bus.call('task:create', nested(levels))]) {
        expect((await refusalOf(refused, 'INVALID_INPUT')).message).toContain('deeper than 128 levels')
      }
    }
    const round: Record<string, unknown> = { name: 'round' }
    round['tasks'] = { a: round, b: round }
    await refusalOf(engine.create(round as never), 'INVALID_INPUT')
    await engine.bus.call('task:create', nested(maxTaskDepth))
    expect((await engine.list()).total).toBe(2 * maxTaskDepth)
  })

  it('create accepts a chain of 10,000 siblings, each after the next', async () => {
    const engine = await openEngine({ executors: { work: () => null }, autoStart: false })
    const last = 10_000
    const tasks = Object.fromEntries(
      Array.from({ length: last }, (_, n) => [
        `t${n}`,
        n === last - 1 ? { executor: 'work' } : { executor: 'work', after: `t${n + 1}` },
      ]),
    )
    const group = await engine.create({ name: 'chain', tasks })
    expect((await engine.list({ parentId: group.id, limit: 1 })).total).toBe(last)
  })

  it('create refuses a tree with a cycle and names the path of the cycle, however long it is', async () => {
    const engine = await openEngine({ executors: { work: () => null } })
    const tasks = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, n) => [`t${n}`, { executor: 'work', after: `t${n + 1}` }]),
    )
    const cycle = { x: { name: 'x', after: ['y'] }, y: { name: 'y', after: ['t0', 'x'] } }
    for (const end of [{ t10000: { name: 'end', after: 't9998' } }, { t10000: { name: 'end' }, ...cycle }]) {
      const refusal = await refusalOf(engine.create({ name: 'round', tasks: { ...tasks, ...end } }), 'CYCLE')
      const path = refusal.details['path']
      expect(path).toEqual('x' in end ? ['x', 'y', 'x'] : ['t9998', 't9999', 't10000', 't9998'])
    }
    expect((await engine.list()).total).toBe(0)
  })
})

describe('an option without effect', () => {
  it.each([
    [{ name: 'by hand', timeoutMs: 5 }, 'timeoutMs', 'Name an executor'],
    [{ goal: 'tidy up', role: 'cleaner', retry: { maxAttempts: 2 } }, 'retry', 'Name an executor'],
    [{ name: 'all', timeoutMs: 5, tasks: { a: { executor: 'work' } } }, 'timeoutMs', 'tasks in the group'],
    [{ name: 'all', tasks: { a: { name: 'by hand', retry: { maxAttempts: 2 } } } }, 'retry', 'Name an executor'],
  ])('create refuses an option that has no effect on a task without an executor: %j', async (spec, option, hint) => {
    const engine = await openEngine({ executors: { work: () => null } })
    const refusal = await refusalOf(engine.create(spec as never), 'INVALID_INPUT')
    expect(refusal.details).toMatchObject({ option })
    expect(refusal.message).toContain(hint)
    expect((await engine.list()).total).toBe(0)
  })
})

describe('the definition of an executor', () => {
  it('defineExecutor refuses an unknown option and names the nearest one', async () => {
    const wrong = { run: noop, retyr: { maxAttempts: 2 } } as never
    expect((await refusalOf(() => defineExecutor(wrong), 'UNKNOWN_OPTION')).details).toMatchObject({
      option: 'retyr',
      nearest: 'retry',
    })
    const inside = { run: noop, retry: { maxAttemps: 2 } } as never
    expect((await refusalOf(() => defineExecutor(inside), 'UNKNOWN_OPTION')).details['nearest']).toBe('maxAttempts')
  })

  it.each([
    [{ run: 'shell' }, 'run'],
    [{ run: noop, input: {} }, 'input'],
    [{ run: noop, result: z.object({}), timeoutMs: -1 }, 'timeoutMs'],
    [null, ''],
  ])('defineExecutor refuses an invalid value and names its path: %j', async (definition, path) => {
    const refusal = await refusalOf(() => defineExecutor(definition as never), 'INVALID_INPUT')
    expect((refusal.details['issues'] as Array<{ path: string }>)[0]?.path).toBe(path)
  })
})

describe('the arguments of a verb', () => {
  it('cancel and fail refuse a reason that is not a text', async () => {
    const engine = await openEngine()
    const task = await engine.create({ name: 'a' })
    await engine.start(task)
    const refusal = await refusalOf(engine.cancel(task, { reason: 'x' } as never), 'INVALID_INPUT')
    expect(refusal.message).toBe('cancel is not valid: reason: expected a string, got an object.')
    await refusalOf(engine.cancel(task, null as never), 'INVALID_INPUT')
    await refusalOf(engine.fail(task, 5 as never), 'INVALID_INPUT')
    await refusalOf(engine.fail(task, undefined as never), 'INVALID_INPUT')
    expect((await engine.get(task))?.status).toBe('working')
  })

  it('a verb of the engine takes its arguments by position, and its options as they are', async () => {
    const engine = await openEngine()
    const task = await engine.create({ name: 'a' })
    await engine.claim(task, { owner: 'ada', leaseMs: 60_000 })
    // Options may be inherited, as those of an instance of a class.
    await engine.heartbeat(task.id, Object.create({ owner: 'ada', fence: 1 }) as never)
    const unknown = await refusalOf(engine.fail(task.id, 'r', { reason: 'other' } as never), 'UNKNOWN_OPTION')
    expect(unknown.message).toBe('fail has no option "reason". It takes: code, owner, fence.')
    await refusalOf(engine.fail(task.id, undefined as never, { reason: 'r' } as never), 'INVALID_INPUT')
    await refusalOf(engine.retry(task, null as never), 'INVALID_INPUT')
    expect((await engine.get(task))?.status).toBe('working')
    expect([engine.pause.name, engine.retry.name]).toEqual(['pause', 'retry'])
  })

  it('a verb of the engine refuses an argument that is not a task or an id, and names what it got', async () => {
    const engine = await openEngine()
    const given = async (ref: unknown) => (await refusalOf(engine.get(ref as never), 'INVALID_INPUT')).message
    expect(await given(5)).toBe('Expected a task or its id, got number.')
    expect(await given(null)).toBe('Expected a task or its id, got null.')
    expect(await given(undefined)).toBe('Expected a task or its id, got undefined.')
    expect(await given({ id: 5 })).toBe('Expected a task or its id, got an object whose id is number.')
    for (const ref of [null, undefined, 5, {}]) {
      await refusalOf(engine.find(ref as never), 'INVALID_INPUT')
      await refusalOf(engine.pause(ref as never), 'INVALID_INPUT')
      await refusalOf(engine.complete(ref as never), 'INVALID_INPUT')
      await refusalOf(engine.heartbeat(ref as never), 'INVALID_INPUT')
    }
  })
})

describe('the listener of subscribe', () => {
  it('subscribe refuses a listener that is not a function', async () => {
    const engine = await openEngine()
    for (const listener of [5, null, undefined, {}]) {
      await refusalOf(() => engine.subscribe('*', listener as never), 'INVALID_INPUT')
      await refusalOf(() => engine.status.subscribe(listener as never), 'INVALID_INPUT')
    }
  })
})

describe('the ledger option', () => {
  it('createEngine refuses a ledger named by a "file:" URI, whose options would become part of a file name', async () => {
    for (const ledger of ['file:x.db?mode=ro', 'FILE:x.db', 'file:///tmp/x.db']) {
      await refusalOf(openEngine({ ledger }), 'INVALID_INPUT')
    }
  })
})
