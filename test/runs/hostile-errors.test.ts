// Whatever an executor, a call, an ability or a handler throws affects only its own task: the failure is stored, the
// slot is freed, the engine closes. An unhandled rejection would fail these tests by itself: vitest reports it.
import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import { ErrandError, Failure, TaskFailedError } from '../../src/core/errors.ts'
import { defineExecutor } from '../../src/entities/executor.ts'
import { hostileErrors, revokedProxy, withThrowingGetter } from '../thrown-values.ts'
import { aborted, createWorld, gate, type WorkFunction } from './world.ts'

const hostile = Object.entries(hostileErrors)
const broken = (make: () => unknown) =>
  defineAbility({
    id: 'test:broken',
    description: 'Throws.',
    input: z.object({}),
    output: z.string(),
    handle: () => {
      throw make()
    },
  })

/** Runs a bad task and a good one in one slot, and closes the engine. */
async function failing(work: WorkFunction, make: () => unknown) {
  const world = await createWorld((task, run) => (task.input === 'good' ? 'fine' : work(task, run)), {
    maxConcurrent: 1,
    abilities: [broken(make)],
  })
  const [bad, good] = await world.engine.create([{ executor: 'work' }, { executor: 'work', input: 'good' }])
  const outcome = await world.engine.settled(bad as { id: string })
  expect(await world.engine.result(good as { id: string })).toBe('fine')
  expect(world.engine.status.get().context.slots.used).toBe(0)
  const { id } = bad as { id: string }
  const [task, runs, calls] = [await world.engine.get(id), await world.engine.runs(id), await world.engine.calls(id)]
  await world.engine.close()
  expect(world.errors).toEqual([])
  expect(outcome.status).toBe('failed')
  return { task, runs, calls }
}

describe.each(hostile)('the hostile error %s', (_what, make) => {
  it('thrown by an executor fails its own task only', async () => {
    const { task, runs } = await failing(() => Promise.reject(make()), make)
    expect(task?.error).toMatchObject({ code: expect.any(String), message: expect.any(String) })
    expect(runs[0]?.error).toEqual(task?.error)
  })

  it('thrown by the function of a call fails the call, after as many tries as its policy allows', async () => {
    let tries = 0
    const { task, calls } = await failing(
      (_task, run) =>
        run.call(
          'throws',
          () => {
            tries++
            throw make()
          },
          { retry: { maxAttempts: 2, backoffMs: 0 } },
        ),
      make,
    )
    expect(tries).toBe(2)
    expect(calls).toMatchObject([{ name: 'throws', status: 'failed', error: { message: expect.any(String) } }])
    expect(task?.error?.message).toBe(calls[0]?.error?.message)
  })

  it('thrown by an ability fails its call', async () => {
    const { calls } = await failing((_task, run) => run.invoke('test:broken', {}), make)
    expect(calls).toMatchObject([{ name: 'test:broken', status: 'failed', error: { message: expect.any(String) } }])
  })

  it('thrown by an ability leaves the bus as an error that names the ability', async () => {
    const world = await createWorld(() => 'unused', { abilities: [broken(make)] })
    const error = await world.engine.bus.call('test:broken', {}).catch((thrown: unknown) => thrown)
    expect(ErrandError.isInstance(error)).toBe(true)
    expect((error as ErrandError).details).toMatchObject({ abilityId: 'test:broken' })
    const spoken = await world.engine.bus
      .invoke('test:broken')('{}')
      .catch((thrown: unknown) => thrown)
    expect(ErrandError.isInstance(spoken)).toBe(true)
  })

  it('thrown by a subscriber is passed to onError as a readable error', async () => {
    const reported = gate()
    const world = await createWorld(() => 'done')
    world.onError(() => reported.resolve())
    world.engine.subscribe('task.completed', () => {
      throw make()
    })
    await world.engine.result(await world.engine.create({ executor: 'work' }))
    await reported.promise
    const [error] = world.errors
    expect(() => (error instanceof Error ? `${error.stack} ${error.message}` : String(error))).not.toThrow()
    await world.engine.close()
  })
})

describe('a hostile error', () => {
  it('a hostile error of an executor is retried by the code that could be read from it', async () => {
    let runs = 0
    const world = await createWorld(() => {
      if (++runs === 2) return 'done'
      throw withThrowingGetter(Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'stack')
    })
    const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 2, on: ['ECONNRESET'] } })
    expect(await world.engine.result(task)).toBe('done')
  })

  it('a hostile error of an executor whose run has timed out changes nothing', async () => {
    const world = await createWorld(
      async (_task, run) => {
        await aborted(run.signal)
        throw revokedProxy()
      },
      { maxConcurrent: 1 },
    )
    const task = await world.engine.create({ executor: 'work', timeoutMs: 10 })
    expect(await world.engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
    await world.eventOf(task.id, 'run.closed')
    expect(world.engine.status.get().context.slots.used).toBe(0)
    expect(world.errors).toEqual([])
  })

  it('a hostile error of a call that has timed out, or is not awaited, causes no unhandled rejection', async () => {
    const world = await createWorld(async (_task, run) => {
      void run.call('floats', () => Promise.reject(revokedProxy()))
      await run.call(
        'late',
        { at: 1 },
        async (_params, { signal }) => {
          await aborted(signal)
          throw revokedProxy()
        },
        { timeoutMs: 10 },
      )
    })
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
    expect(world.errors).toEqual([])
  })

  it('a hostile error that is the abort reason of an invocation leaves the bus as a readable error', async () => {
    const world = await createWorld(() => 'unused')
    const signal = AbortSignal.abort(revokedProxy())
    await expect(world.engine.bus.call('task:list', {}, { signal })).rejects.toMatchObject({
      details: { aborted: true },
    })
  })

  it('thrown by onError is printed together with the error that it was called for', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {})
    const printed = gate()
    print.mockImplementation((text: unknown) => text === 'errand:' && printed.resolve())
    const world = await createWorld(() => 'done', {
      onError: () => {
        throw revokedProxy()
      },
    })
    world.engine.subscribe('task.completed', () => {
      throw withThrowingGetter(new Error('x'), 'stack')
    })
    await world.engine.result(await world.engine.create({ executor: 'work' }))
    await printed.promise
    await world.engine.close()
    const lines = print.mock.calls
    print.mockRestore()
    expect(lines.map(([text]) => text)).toEqual(['errand: onError threw', 'errand:'])
    expect(lines.every(([, error]) => typeof error === 'string')).toBe(true)
  })

  it('a hostile error of the schema of an executor is a refusal', async () => {
    const input = z.string().refine(() => {
      throw revokedProxy()
    })
    const world = await createWorld(defineExecutor({ input, run: async () => 'unused' }) as never)
    await expect(world.engine.create({ executor: 'work', input: 'x' } as never)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('the schema of work threw'),
    })
  })
})

describe('the stack of an error', () => {
  const cause = () => new RangeError('below')
  const work: WorkFunction = async (task, run) => {
    if (task.input !== 'parent') {
      return run.call('breaks', () => {
        throw new Failure('out of paper', { code: 'PAPER', details: { tray: 2 }, cause: cause() })
      })
    }
    const child = await run.spawn({ executor: 'work' } as never)
    const [outcome] = (await run.wait([child], { settled: true })) as unknown[]
    return outcome
  }

  it('the stack of an error is stored in the rows of the task, its run and its call, with the class and the cause', async () => {
    const world = await createWorld(work)
    const { id } = await world.engine.create({ executor: 'work' })
    await world.engine.settled(id)
    const record = {
      code: 'PAPER',
      message: 'out of paper',
      name: 'Failure',
      brand: 'Failure',
      details: { tray: 2 },
      stack: expect.stringContaining('hostile-errors.test.ts'),
      cause: { name: 'RangeError', message: 'below', stack: expect.stringContaining('hostile-errors.test.ts') },
    }
    expect((await world.engine.get(id))?.error).toEqual(record)
    expect((await world.engine.runs(id)).map(({ error }) => error)).toEqual([record])
    expect((await world.engine.calls(id)).map(({ error }) => error)).toEqual([record])
  })

  it('the stack of an error is in the answer of task:get for a caller that is not a model, with the class and the cause', async () => {
    const { engine } = await createWorld(work)
    const { id } = await engine.create({ executor: 'work' })
    await engine.settled(id)
    const caller = { surface: 'http', scopes: ['read'] as const }
    expect((await engine.bus.call('task:get', { taskId: id }, { caller })).task.error).toEqual(
      (await engine.get(id))?.error,
    )
  })

  it('the stack of an error is in the cause of the error that engine.result throws', async () => {
    const { engine } = await createWorld(work)
    const { id } = await engine.create({ executor: 'work' })
    const failure = await engine.result(id).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TaskFailedError)
    expect(failure).toMatchObject({
      message: `Task #1 (work) failed: out of paper (PAPER). \`retry\` gives it a new attempt.`,
      error: { code: 'PAPER', message: 'out of paper', details: { tray: 2 } },
      cause: {
        name: 'Failure',
        code: 'PAPER',
        stack: expect.stringMatching(/out of paper\n +at .*hostile-errors\.test\.ts/),
        cause: { name: 'RangeError', message: 'below', stack: expect.stringContaining('hostile-errors.test.ts') },
      },
    })
  })

  it('the stack of an error is redacted with the message and the causes, where it is stored and where it is thrown', async () => {
    const redact = (value: unknown) => (typeof value === 'string' ? value.replaceAll('canary', '[redacted]') : value)
    const { engine } = await createWorld(
      () => {
        throw new Error('a canary', { cause: new Error('another canary') })
      },
      { redact },
    )
    const { id } = await engine.create({ executor: 'work' })
    const failure = (await engine.result(id).catch((error: unknown) => error)) as Error
    const stored = JSON.stringify((await engine.get(id))?.error)
    expect(`${stored} ${inspect(failure)}`).not.toContain('canary')
    expect((failure.cause as Error).stack).toMatch(/^Error: a \[redacted\]\n +at /)
    expect(failure.cause).toMatchObject({ cause: { message: 'another [redacted]' } })
  })

  it('the stack of an error is in no event, no outcome, no waiting task and no ability that a model may call', async () => {
    const world = await createWorld(work)
    const { engine } = world
    const parent = await engine.create({ executor: 'work', input: 'parent' })
    const outcome = { status: 'failed', error: { code: 'PAPER', message: 'out of paper', details: { tray: 2 } } }
    expect(await engine.result(parent)).toEqual(outcome)
    const [child] = await engine.children(parent)
    const { id } = child as { id: string }
    expect(await engine.settled(id)).toEqual(outcome)
    const events: unknown[] = []
    for await (const item of engine.stream(id)) events.push(item)
    const outputs: unknown[] = [
      events,
      await engine.messages(id),
      (await engine.calls(parent)).map(({ result }) => result),
    ]
    const model = { surface: 'mcp', model: true as const }
    outputs.push(await engine.bus.call('task:get', { taskId: id }, { caller: model }))
    for (const ability of ['task:calls', 'task:runs', 'task:context']) {
      outputs.push(await engine.bus.call(ability, { taskId: id }))
    }
    outputs.push(await engine.bus.call('task:list', { ids: [id] }), await engine.bus.call('task:list', {}))
    outputs.push((await world.eventOf(id, 'task.failed')).data)
    expect(JSON.stringify(outputs)).toContain('out of paper')
    expect(JSON.stringify(outputs)).not.toMatch(/hostile-errors\.test\.ts|"stack"|below/)
  })

  it('the stack of an error is restored when a repeated run gets the failure again, with the class and the cause', async () => {
    const met: unknown[] = []
    const world = await createWorld(async (_task, run) => {
      const error = await run
        .call('breaks', () => {
          throw new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })
        })
        .catch((thrown: unknown) => thrown)
      met.push(error)
      await run.sleep(50)
      return 'done'
    })
    await world.engine.result(await world.engine.create({ executor: 'work' }))
    expect(met[0]).toBeInstanceOf(TypeError)
    expect(met[1]).toBeInstanceOf(TypeError)
    expect(met[1]).toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      stack: expect.stringContaining('hostile-errors.test.ts'),
      cause: { message: 'refused', code: 'ECONNREFUSED' },
    })
  })
})
