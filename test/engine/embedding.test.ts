// The engine as a guest in the process of its embedder: it shares it with other engines, takes nothing that is not its
// own (globals, signals, the exit), and leaves nothing when it is closed.
import { type ExecFileException, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ExecutorTask, Run } from '../../src/api/executor.ts'
import { deferred, history, ledgerFile, openEngine, puppet, reached, refusalOf, untilAborted } from './world.ts'

const root = join(import.meta.dirname, '../..')

/** Runs a module in a process of its own, until it ends by itself. */
function runProgram(program: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const args = ['--input-type=module', '-e', program]
    const options = { cwd: root, timeout: 15_000, killSignal: 'SIGKILL' } as const
    execFile(process.execPath, args, options, (error: ExecFileException | null, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : null, stdout, stderr })
    })
  })
}

/** Collects the unhandled rejections of this process until the end of the test. */
function unheardRejections(): unknown[] {
  const unheard: unknown[] = []
  const note = (reason: unknown) => void unheard.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  return unheard
}

describe('several engines in one process', () => {
  it('X-029 several engines in one process with ledgers of their own do not affect each other', async () => {
    const ledgers = [':memory:', ':memory:', ledgerFile(), ledgerFile()]
    const engines = await Promise.all(
      ledgers.map((ledger, index) => openEngine({ ledger, executors: { which: () => index } })),
    )
    const received: string[][] = engines.map(() => [])
    engines.forEach((engine, index) => void engine.subscribe('*', ({ taskId }) => void received[index]?.push(taskId)))
    // The same executor's name and the same key in each of them.
    const tasks = await Promise.all(engines.map((engine) => engine.create({ executor: 'which', key: 'the same' })))
    expect(await Promise.all(engines.map((engine, index) => engine.result(tasks[index]!)))).toEqual([0, 1, 2, 3])
    expect(new Set(engines.map((engine) => engine.instanceId)).size).toBe(4)
    await Promise.all(engines.map((engine) => engine.idle()))
    for (const [index, engine] of engines.entries()) {
      expect((await engine.list()).tasks.map(({ id }) => id)).toEqual([tasks[index]?.id])
      expect(await engine.get(tasks[(index + 1) % 4]!)).toBeNull()
      expect(new Set(received[index])).toEqual(new Set([tasks[index]?.id]))
    }
  })

  it('X-029 several engines in one process have slots of their own, and can be closed separately', async () => {
    const ends = [puppet(), puppet()]
    const [first, second] = await Promise.all(
      ends.map(({ executor }) => openEngine({ executors: { work: executor }, maxConcurrent: 1 })),
    )
    const [, task] = await Promise.all([first!, second!].map((engine) => engine.create({ executor: 'work' })))
    const [lost, kept] = await Promise.all(ends.map((each) => each.started(0)))
    await first!.close()
    await lost!.aborted
    await refusalOf(first!.list(), 'ENGINE_CLOSED')
    expect(kept!.run.signal.aborted).toBe(false)
    expect(second!.status.get().context).toMatchObject({ slots: { used: 1 }, working: true })
    kept!.end.resolve('untouched')
    expect(await second!.result(task!)).toBe('untouched')
  })
})

describe('two engines on one file in one process', () => {
  it('X-029 two engines on one file in one process run each task once, and both see all tasks', async () => {
    const ledger = ledgerFile()
    const runs: string[] = []
    const executors = { work: (task: ExecutorTask, run: Run) => run.call('work', () => void runs.push(task.id)) }
    const engines = await Promise.all([openEngine({ ledger, executors }), openEngine({ ledger, executors })])
    const tasks = (
      await Promise.all(
        engines.flatMap((engine) => Array.from({ length: 25 }, () => engine.create({ executor: 'work' }))),
      )
    ).map(({ id }) => id)
    for (const engine of engines) for (const id of tasks) await engine.result(id)
    expect(runs.toSorted()).toEqual(tasks.toSorted())
    // One key, used in both at the same time: one task.
    const twins = await Promise.all(engines.map((engine) => engine.create({ executor: 'work', key: 'once' })))
    expect(twins[0]?.id).toBe(twins[1]?.id)
    await Promise.all(engines.map((engine) => engine.settled(twins[0]!)))
    expect(runs).toHaveLength(51)
    expect(await history(engines[0])).toEqual(await history(engines[1]))
  })

  it('X-029 X-020 two engines on one file in one process follow commands given to the other, and take over what a closed one released', async () => {
    const ledger = ledgerFile()
    const works = [puppet(), puppet()]
    const first = await openEngine({ ledger, executors: { work: works[0]!.executor } })
    const canceled = await first.create({ executor: 'work' })
    const released = await first.create({ executor: 'work' })
    const runs = [await works[0]!.started(0), await works[0]!.started(1)]
    const second = await openEngine({ ledger, executors: { work: works[1]!.executor } })
    await second.cancel(canceled, 'from the other engine')
    const run = runs.find(({ task }) => task.id === canceled.id)
    await run?.aborted
    expect(await first.settled(canceled)).toEqual({ status: 'canceled', statusReason: 'from the other engine' })
    // Live engines keep their runs: the process of an engine does not show whether the engine is alive.
    expect(await second.runs(released)).toMatchObject([{ status: 'live', instanceId: first.instanceId }])

    await first.close()
    const taken = await works[1]!.started(0)
    expect(taken.task.id).toBe(released.id)
    taken.end.resolve('taken over')
    expect(await second.result(released)).toBe('taken over')
    expect((await second.runs(released)).map(({ outcome, instanceId }) => [outcome, instanceId])).toEqual([
      ['released', first.instanceId],
      ['completed', second.instanceId],
    ])
  })

  it('X-029 two engines on one file in one process can be closed and reopened repeatedly while the other works on', async () => {
    const ledger = ledgerFile()
    const work = puppet()
    const lasting = await openEngine({ ledger, executors: { work: work.executor } })
    const task = await lasting.create({ executor: 'work' })
    const held = await work.started(0)
    for (let round = 0; round < 5; round++) {
      const guest = await openEngine({ ledger, executors: { greet: () => 'hello' } })
      expect(await guest.result(await guest.create({ executor: 'greet' }))).toBe('hello')
      await guest.close()
    }
    expect(held.run.signal.aborted).toBe(false)
    held.end.resolve('done')
    expect(await lasting.result(task)).toBe('done')
    expect(await lasting.runs(task)).toHaveLength(1)
  })
})

describe('the process around an engine', () => {
  it('X-029 X-031 the process around an engine has no new globals, no added listeners and no other working directory', async () => {
    // Two globals are zod's own, and any copy of it adds them; an embedder has it already.
    const program = `
      const { z } = await import('zod')
      const stand = () => Object.entries({
        globals: Reflect.ownKeys(globalThis).map(String).sort(),
        listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]).sort(),
        cwd: process.cwd(),
        env: process.env,
        umask: process.umask(),
        exitCode: process.exitCode,
      }).map(([what, value]) => what + ' ' + JSON.stringify(value))
      const changed = () => stand().filter((line) => !before.includes(line)).map((line) => line.split(' ')[0])
      const before = stand()
      const { createEngine } = await import('errand')
      const engines = [await createEngine({ executors: { work: () => 1 } }), await createEngine()]
      await engines[0].result(await engines[0].create({ executor: 'work' }))
      const during = changed()
      for (const engine of engines) await engine.close()
      console.log(JSON.stringify([during, changed()]))
    `
    expect(await runProgram(program)).toEqual({ code: 0, stdout: '[[],[]]\n', stderr: '' })
  })

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'X-031 the process of an engine ends by %s as without an engine: the library handles no signal',
    async (signal) => {
      const program = `
      import { createEngine } from 'errand'
      const engine = await createEngine({ executors: { work: () => new Promise(() => {}) } })
      engine.subscribe('task.started', () => console.log('started'))
      await engine.create({ executor: 'work' })
    `
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      const exited = once(child, 'exit')
      await Promise.race([once(child.stdout, 'data'), exited])
      child.kill(signal)
      expect(await exited).toEqual([null, signal])
    },
  )

  it('X-029 the process around an engine gets no unhandled rejection, whatever executors and listeners do', async () => {
    const unheard = unheardRejections()
    const reported: unknown[] = []
    const late = deferred<never>()
    const stubborn = deferred()
    const engine = await openEngine({
      abortGraceMs: 0,
      shutdownTimeoutMs: 0,
      onError: (error) => reported.push(error),
      executors: {
        throws: () => {
          throw new Error('on purpose')
        },
        forgets: (_task: ExecutorTask, run: Run) => {
          // These are not awaited: their run ends before they can settle.
          void run.call('forgotten', () => Promise.reject(new Error('ignored')))
          void run.sleep(3_600_000)
          void run.ask('Anybody?')
          throw new Error('closed')
        },
        obeys: untilAborted,
        rejectsLate: () => {
          stubborn.resolve()
          return late.promise
        },
      },
    })
    engine.subscribe('task.created', () => Promise.reject(new Error('a handler')))
    engine.status.subscribe(() => {
      throw new Error('a watcher')
    })
    const failing = await engine.create([{ executor: 'throws' }, { executor: 'forgets' }])
    for (const task of failing) expect(await engine.settled(task)).toMatchObject({ status: 'failed' })
    const canceled = await engine.create({ executor: 'obeys' })
    await reached(engine, canceled, 'working')
    await engine.cancel(canceled)
    const left = engine.stream(await engine.create({ executor: 'rejectsLate' }))
    await left.next()
    await stubborn.promise
    const waiting = engine.idle()
    // Handled, but only after the engine is closed.
    const refused = refusalOf(waiting, 'ENGINE_CLOSED')
    await Promise.all([engine.close(), engine.close()])
    late.reject(new Error('too late'))
    await refused
    // A rejection is reported after the microtasks of its turn; it has had several turns by then.
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    expect(unheard).toEqual([])
    expect(reported.map(String)).toContain('Error: a handler')
    expect(reported.map(String)).toContain('Error: a watcher')
  })

  it('X-029 the process of an engine exits by itself once its engines are closed, however far their timers were', async () => {
    const program = `
      import { createEngine } from 'errand'
      import { mkdtempSync, rmSync } from 'node:fs'
      import { tmpdir } from 'node:os'
      import { join } from 'node:path'
      const hour = 3_600_000
      const folder = mkdtempSync(join(tmpdir(), 'errand-embedded-'))
      const executors = {
        sleeps: (task, run) => run.sleep(hour),
        asks: (task, run) => run.ask('Well?', null, { timeoutMs: hour, default: 1 }),
        calls: (task, run) => run.call('long', (params, { signal }) =>
          new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))), { timeoutMs: hour }),
        fails: () => { throw new Error('once more, in an hour') },
      }
      const refusals = []
      for (const ledger of [':memory:', join(folder, 'errand.db')]) {
        const engine = await createEngine({ ledger, executors, shutdownTimeoutMs: 0 })
        const under = Object.keys(executors).map((name) => engine.create({ executor: name, timeoutMs: hour }))
        const [sleeps, asks, calls] = await Promise.all(under)
        const fails = await engine.create({ executor: 'fails', retry: { maxAttempts: 2, backoffMs: hour } })
        await engine.create({ executor: 'sleeps', notBefore: Date.now() + hour })
        const working = new Set()
        for await (const { type, taskId } of engine.events()) {
          if (['task.waiting', 'task.input_required', 'call.started', 'task.failed'].includes(type)) working.add(taskId)
          if ([sleeps, asks, calls, fails].every(({ id }) => working.has(id))) break
        }
        engine.subscribe('*', () => {})
        engine.status.subscribe(() => {})
        void engine.stream(sleeps).next()
        engine.settled(sleeps, { timeoutMs: hour }).catch(({ code }) => refusals.push(code))
        await engine.close()
      }
      rmSync(folder, { recursive: true })
      process.on('beforeExit', () => console.log('nothing is left', refusals.join()))
    `
    expect(await runProgram(program)).toEqual({
      code: 0,
      stdout: 'nothing is left ENGINE_CLOSED,ENGINE_CLOSED\n',
      stderr: '',
    })
  })
})
