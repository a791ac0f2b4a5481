// The option `logger`: what it is called with, and what it can do no harm to.
import { expect, it, onTestFinished, vi } from 'vitest'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { Failure } from '../../../src/core/errors.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import type { LogFields, Logger } from '../../../src/entities/logger.ts'
import { delegateLedger } from '../../../src/ledger/delegate-ledger.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { runRow, taskRow } from '../../ledger/factories.ts'
import { deferred, openEngine } from '../world.ts'

type Line = LogFields & { level: string; message: string }

function collect() {
  const lines: Line[] = []
  const to = (level: string) => (fields: LogFields, message: string) => lines.push({ level, message, ...fields })
  const logger: Logger = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') }
  return { lines, logger, of: (taskId: string) => lines.filter((line) => line.taskId === taskId) }
}

const secret = 'hunter2'

it('the logger gets the beginning and the end of each run, with ids, executor, attempt, duration and code, and no content', async () => {
  const { lines, logger, of } = collect()
  let tries = 0
  const engine = await openEngine({
    logger,
    executors: {
      flaky: async () => {
        if (++tries === 1) throw new Error(secret)
        return secret
      },
      broken: async () => {
        throw new Error(secret)
      },
      asking: async (_task: ExecutorTask, run: Run) => run.ask(secret),
    },
  })
  const flaky = await engine.create({ name: 'flaky', executor: 'flaky', input: secret, retry: { maxAttempts: 2 } })
  await engine.settled(flaky)
  const broken = await engine.create({ name: secret, executor: 'broken' })
  await engine.settled(broken)
  const asked = deferred()
  engine.subscribe('question.asked', () => asked.resolve())
  const asking = await engine.create({ name: 'asking', executor: 'asking' })
  await asked.promise
  await engine.answer(asking, secret)
  await engine.settled(asking)
  const instance = engine.instanceId
  const duration = expect.any(Number) as number
  const about = { instance, taskId: flaky.id, executor: 'flaky' }
  expect(of(flaky.id)).toEqual([
    { level: 'info', message: 'run started', ...about, attempt: 1, run: 1 },
    {
      level: 'warn',
      message: 'attempt failed and will be retried',
      ...about,
      attempt: 1,
      run: 1,
      durationMs: duration,
      errorCode: 'TASK_FAILED',
    },
    { level: 'info', message: 'run started', ...about, attempt: 2, run: 2 },
    { level: 'info', message: 'task completed', ...about, attempt: 2, run: 2, durationMs: duration },
  ])
  expect(of(broken.id).at(-1)).toMatchObject({ level: 'error', message: 'task failed', errorCode: 'TASK_FAILED' })
  expect(of(asking.id).map(({ message, run, status }) => [message, run, status])).toEqual([
    ['run started', 1, undefined],
    ['run suspended', 1, 'input_required'],
    ['run started', 2, undefined],
    ['task completed', 2, undefined],
  ])
  await engine.close()
  expect(lines.at(0)).toEqual({ level: 'info', message: 'engine works', instance })
  expect(lines.at(-1)).toEqual({ level: 'info', message: 'engine closed', instance })
  expect(JSON.stringify(lines)).not.toContain(secret)
})

it('the logger gets the runs that are taken over from a lost engine', async () => {
  const inner = await openLedger(':memory:')
  onTestFinished(() => inner.close())
  const ledger = delegateLedger(inner, { isAlive: async (id) => (id === 'lost' ? 'dead' : 'alive') })
  await inner.step({
    name: 'seed',
    *decide(tx) {
      yield* tx.instance.insert({ id: 'lost', pid: 1, host: 'h', startedAt: 0, endedAt: null, leaseUntil: 1 })
      yield* tx.task.insert(taskRow({ id: 'task-a', executor: 'x', status: 'working', run: 2, runOpen: true }))
      yield* tx.run.insert(runRow({ taskId: 'task-a', number: 2, instanceId: 'lost' }))
    },
  })
  const { logger, of } = collect()
  const engine = await openEngine({ ledger, logger, executors: { x: async () => 1 } })
  await engine.settled('task-a')
  expect(of('task-a').map(({ level, message, run }) => [level, message, run])).toEqual([
    ['warn', 'run taken over from a lost engine', 2],
    ['info', 'run started', 3],
    ['info', 'task completed', 3],
  ])
})

it('an error without a caller is a line with its code and without its message, and onError receives it all the same', async () => {
  const { lines, logger } = collect()
  const onError = vi.fn<() => void>()
  const engine = await openEngine({ logger, onError, executors: { x: async () => 1 } })
  engine.subscribe('task.completed', () => {
    throw new Error(secret)
  })
  await engine.settled(await engine.create({ name: 'x', executor: 'x' }))
  await engine.close()
  const line = lines.find(({ level }) => level === 'error')
  expect(line).toMatchObject({ message: 'the engine reported an error', doing: 'notify a subscriber' })
  expect(JSON.stringify(lines)).not.toContain(secret)
  expect(onError).toHaveBeenCalledOnce()
})

it('a logger that throws or rejects changes nothing, and its first failure is printed', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => print.mockRestore())
  const fails = () => {
    throw new Error('disk full')
  }
  const rejects = async () => {
    throw new Error('disk full')
  }
  const logger: Logger = { debug: fails, info: fails, warn: rejects, error: rejects }
  const engine = await openEngine({
    logger,
    executors: {
      x: async () => 1,
      broken: async () => {
        throw new Error('no')
      },
    },
  })
  expect(await engine.result(await engine.create({ name: 'x', executor: 'x' }))).toBe(1)
  await engine.settled(await engine.create({ name: 'y', executor: 'broken', retry: { maxAttempts: 2 } }))
  await engine.close()
  expect(print.mock.calls.map(([text]) => text)).toEqual(['errand: the logger threw'])
})

it('the logger must have the four methods', async () => {
  await expect(createEngine({ logger: { info() {} } as never })).rejects.toThrow(/logger.*`debug`, `info`, `warn`/)
  const info = vi.spyOn(console, 'info').mockImplementation(() => {})
  onTestFinished(() => info.mockRestore())
  const engine = await openEngine({ logger: console })
  await engine.close()
  expect(info.mock.calls.map(([, message]) => message)).toEqual(['engine works', 'engine closed'])
})

it('the logger gets failed steps of a model, and calls as lines for debugging', async () => {
  const { lines, logger } = collect()
  let steps = 0
  const model = createScriptedModel(() => {
    if (++steps === 1) throw new Failure(secret, { code: 'rate_limited' })
    return { text: secret }
  })
  const executors = {
    work: async (_task: ExecutorTask, run: Run) => {
      await run.call('fetch', { key: secret }, () => secret)
      await run.call('broken', () => Promise.reject(new Failure(secret, { code: 'NO' }))).catch(() => {})
    },
  }
  const engine = await openEngine({ logger, model, executors, modelRetry: { backoffMs: 1 } })
  const task = await engine.create({ name: 'x', executor: 'work' })
  await engine.result(task)
  await engine.result(await engine.create({ goal: 'say it' }))
  expect(lines.filter(({ level }) => level === 'debug')).toMatchObject([
    { message: 'call completed', taskId: task.id, call: 'fetch' },
    { message: 'call failed', taskId: task.id, call: 'broken', errorCode: 'NO' },
  ])
  expect(lines.find(({ message }) => message === 'model step failed')).toMatchObject({
    level: 'warn',
    errorCode: 'rate_limited',
    againInMs: expect.any(Number) as number,
  })
  expect(JSON.stringify(lines)).not.toContain(secret)
})

it('the logger gets the end of the lease of the engine, and that it is renewed', async () => {
  const inner = await openLedger(':memory:')
  onTestFinished(() => inner.close())
  let events: Parameters<NonNullable<Ledger['keepLease']>>[2] | undefined
  const ledger = delegateLedger(inner, {
    keepLease: (_instance, _leaseMs, given) => {
      events = given
      return { isCertain: true, end: async () => {} }
    },
  })
  const { lines, logger } = collect()
  await openEngine({ ledger, logger })
  events?.lapsed()
  events?.renewed()
  expect(lines.slice(-2).map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'lease over: its runs end'],
    ['info', 'lease renewed'],
  ])
})
