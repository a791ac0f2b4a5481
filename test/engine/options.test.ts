// Validation of options: an unknown one is refused with the nearest name; engines with work: false, and the end of an
// engine.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { requireRuntime } from '../../src/core/runtime.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import { defineExecutor, type ExecutorTask, type Run } from '../../src/entities/executor.ts'
import { ledgerFile, openEngine, puppet, reached, refusalOf, untilAborted } from './world.ts'

describe('an option of an engine', () => {
  it('X-033 an option of an engine that is unknown is refused with the nearest name and all known ones', async () => {
    const refusal = await refusalOf(createEngine({ maxConcurent: 3 } as never), 'UNKNOWN_OPTION')
    expect(refusal.details).toMatchObject({ option: 'maxConcurent', nearest: 'maxConcurrent' })
    expect(refusal.details.known).toEqual(expect.arrayContaining(['ledger', 'executors', 'limits']))
    expect(refusal.message).toContain('Did you mean "maxConcurrent"?')
  })

  it.each([
    [{ maxConcurrent: 'many' }, 'maxConcurrent'],
    [{ executors: { work: 'shell' } }, 'executors.work'],
    [{ executors: { '': () => null } }, 'executors'],
    [{ onInterrupt: 'never' }, 'onInterrupt'],
    [{ clock: {} }, 'clock'],
    [{ ids: { next: 1 } }, 'ids'],
    [{ maxCrashes: 0 }, 'maxCrashes'],
    [{ abortGraceMs: -1 }, 'abortGraceMs'],
    [{ work: 'yes' }, 'work'],
    [{ ledger: {} }, 'ledger'],
  ])('an option of an engine that is invalid is refused with its path: %j', async (options, path) => {
    const refusal = await refusalOf(createEngine(options as never), 'INVALID_INPUT')
    expect((refusal.details.issues as Array<{ path: string }>)[0]?.path).toContain(path)
  })

  it.each([
    ['create', { nmae: 'a' }, 'name'],
    ['create', { name: 'a', retry: { maxAttemps: 2 } }, 'maxAttempts'],
    ['create', { name: 'a', tasks: { b: { afer: 'c' } } }, 'after'],
    ['list', { stauts: 'working' }, 'status'],
    ['stream', { afer: 1 }, 'after'],
    ['settled', { timeout: 1 }, 'timeoutMs'],
    ['answer', { questoin: 'q' }, 'question'],
    ['delete', { childern: 'promote' }, 'children'],
  ] as const)('an unknown option of %s is refused with the nearest: %j', async (method, options, nearest) => {
    const engine = await openEngine()
    const task = await engine.create({ name: 'a' })
    const refusal = await refusalOf(async () => {
      if (method === 'create' || method === 'list') return engine[method](options as never)
      if (method === 'answer') return engine.answer(task, 'x', options as never)
      const stream = engine[method](task, options as never)
      return method === 'stream' ? (stream as AsyncIterableIterator<unknown>).next() : stream
    }, 'UNKNOWN_OPTION')
    expect(refusal.details.nearest).toBe(nearest)
  })

  it('an option of an engine of an executor is checked where the executor is defined', () => {
    expect(() => defineExecutor({ run: () => null, concurency: 2 } as never)).toThrow()
    expect(() => defineExecutor({ run: 'shell' } as never)).toThrow()
    expect(() => defineExecutor({ input: {} as never, run: () => null })).toThrow()
  })

  it('an option of an engine cannot make a runtime that is too old work: it is refused', async () => {
    const refusal = await refusalOf(() => requireRuntime({ node: '18.0.0', napi: '9' }), 'UNSUPPORTED_RUNTIME')
    expect(refusal.details).toEqual({ node: '18.0.0', napi: '9', required: 10 })
    await refusalOf(() => requireRuntime({ node: '6.0.0' }), 'UNSUPPORTED_RUNTIME')
  })
})

describe('an engine with work: false', () => {
  it('an engine with work: false creates and commands, accepts executors it does not have, and runs nothing until it works', async () => {
    const hands = puppet()
    const engine = await openEngine({ work: false, executors: { work: hands.executor } })
    const task = await engine.create({ executor: 'work' })
    const [foreign] = await engine.create([{ executor: 'elsewhere' as string }])
    await engine.update(task, { priority: 2 })
    await new Promise(setImmediate)
    expect(hands.runs).toEqual([])
    expect(engine.status.get().context.working).toBe(false)
    expect(await engine.why(task)).toMatchObject({ reason: 'slot' })
    await engine.work()
    ;(await hands.started(0)).end.resolve('done')
    expect(await engine.result(task)).toBe('done')
    expect(await engine.why(foreign!)).toMatchObject({ reason: 'executor' })
    expect((await engine.get(foreign!))?.status).toBe('submitted')
  })

  it('X-002 an engine with work: false leaves its tasks to engines that work on the same ledger, and can cancel them there', async () => {
    const ledger = ledgerFile()
    const hands = puppet()
    const producer = await openEngine({ ledger, work: false })
    const worker = await openEngine({ ledger, executors: { work: hands.executor } })
    const task = await producer.create({ executor: 'work' })
    const held = await hands.started(0)
    expect((await producer.get(task))?.status).toBe('working')
    await producer.cancel(task, 'from elsewhere')
    await held.aborted
    const next = await producer.create({ executor: 'work' })
    ;(await hands.started(1)).end.resolve('done')
    expect(await producer.result(next)).toBe('done')
    expect((await worker.runs(next))[0]?.instanceId).toBe(worker.instanceId)
  })
})

describe('engine.close', () => {
  it('engine.close refuses later calls, and can be called again', async () => {
    const engine = await openEngine({ executors: { work: () => null } })
    const task = await engine.create({ name: 'a' })
    await Promise.all([engine.close(), engine.close()])
    for (const late of [
      () => engine.create({ name: 'b' }),
      () => engine.start(task),
      () => engine.get(task),
      () => engine.list(),
      () => engine.delete(task),
      () => engine.settled(task),
      () => engine.idle(),
      () => engine.startHeld(),
      () => engine.subscribe('*', () => {}),
      () => engine.work(),
    ])
      await refusalOf(async () => late(), 'ENGINE_CLOSED')
  })

  it('engine.close releases running tasks, ready for the next engine, without counting a crash', async () => {
    const ledger = ledgerFile()
    const hands = puppet()
    const first = await openEngine({ ledger, executors: { work: hands.executor } })
    const task = await first.create({ executor: 'work' })
    const held = await hands.started(0)
    const closing = first.close()
    await held.aborted
    await refusalOf(first.create({ name: 'late' }), 'ENGINE_CLOSED')
    await closing
    const witness = await openEngine({ ledger, work: false })
    expect(await witness.get(task)).toMatchObject({ status: 'waiting', statusReason: 'released', ready: true })
    expect((await witness.runs(task)).map(({ outcome }) => outcome)).toEqual(['released'])
    const second = await openEngine({ ledger, executors: { work: () => 'done' } })
    expect(await second.result(task)).toBe('done')
  })

  it('engine.close waits for a call in flight, and gives up an executor that does not return', async () => {
    const ledger = ledgerFile()
    const called = Promise.withResolvers<void>()
    const finish = Promise.withResolvers<string>()
    const engine = await openEngine({
      ledger,
      shutdownTimeoutMs: 30,
      executors: {
        calls: async (_task: ExecutorTask, run: Run) => {
          const result = await run.call('slow', () => {
            called.resolve()
            return finish.promise
          })
          await untilAborted(null, run)
          return result
        },
        stubborn: () => new Promise(() => {}),
      },
    })
    const calling = await engine.create({ executor: 'calls' })
    const stubborn = await engine.create({ executor: 'stubborn' })
    await called.promise
    await reached(engine, stubborn, 'working')
    const closing = engine.close()
    finish.resolve('kept')
    await closing
    const witness = await openEngine({ ledger, work: false })
    expect((await witness.calls(calling))[0]).toMatchObject({ status: 'completed', result: 'kept' })
    for (const task of [calling, stubborn]) {
      expect(await witness.get(task)).toMatchObject({ status: 'waiting', statusReason: 'released', ready: true })
      expect((await witness.runs(task))[0]?.status).toBe('closed')
    }
  })

  it('engine.close can be called by a subscriber, without a deadlock', async () => {
    const engine = await openEngine({ executors: { work: () => null }, shutdownTimeoutMs: 50 })
    const closed = Promise.withResolvers<void>()
    engine.subscribe('task.completed', async () => {
      await engine.close()
      closed.resolve()
    })
    await engine.create({ executor: 'work' })
    await closed.promise
  })

  it('engine.close leaves nothing that keeps the process alive, and works without `await using`', async () => {
    const root = join(import.meta.dirname, '../..')
    const program = `
      import { createEngine } from ${JSON.stringify(join(root, 'dist/index.js'))}
      const engine = await createEngine({ executors: { work: () => 'done' } })
      engine.subscribe('*', () => {})
      const task = await engine.create({ executor: 'work' })
      void engine.stream(task).next()
      console.log(await engine.result(task))
      await engine.close()
      process.on('beforeExit', () => console.log('nothing is left'))
    `
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      timeout: 15_000,
    })
    expect([stdout, stderr]).toEqual(['done\nnothing is left\n', ''])
  })
})
