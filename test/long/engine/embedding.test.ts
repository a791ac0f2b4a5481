// The process around an engine: it is as without one, ends by signals as without one, and exits by itself.
import { type ExecFileException, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import { deferred, openEngine, reached, refusalOf, untilAborted } from '../../engine/world.ts'

const root = join(import.meta.dirname, '../../..')

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
