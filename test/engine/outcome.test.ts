// The end of a task as its caller sees it: settled, result, time-outs, and why it has not ended yet.

import { describe, expect, it } from 'vitest'
import { SimulatedClock } from 'xstate'
import { z } from 'zod'
import { Failure, TaskCanceledError, TaskFailedError } from '../../src/core/errors.ts'
import { defineExecutor, type ExecutorTask, type Run } from '../../src/entities/executor.ts'
import { openEngine, puppet, reached, refusalOf } from './world.ts'

describe('engine.settled', () => {
  it('engine.settled returns each outcome as plain JSON, at once when there is one, else when the task settles', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const [done, failed, canceled] = await engine.create(Array.from({ length: 3 }, () => ({ executor: 'work' })))
    const outcomes = Promise.all([done!, failed!, canceled!].map((task) => engine.settled(task)))
    ;(await hands.started(0)).end.resolve({ at: new Date(0) })
    ;(await hands.started(1)).end.reject(new Failure('broke', { code: 'MINE', details: { a: 1 } }))
    await hands.started(2)
    await engine.cancel(canceled!, 'enough')
    const expected = [
      { status: 'completed', result: { at: '1970-01-01T00:00:00.000Z' } },
      { status: 'failed', error: { code: 'MINE', message: 'broke', details: { a: 1 } } },
      { status: 'canceled', statusReason: 'enough' },
    ]
    expect(await outcomes).toEqual(expected)
    expect(await Promise.all([done!, failed!, canceled!].map((task) => engine.settled(task)))).toEqual(expected)
    expect(JSON.parse(JSON.stringify(expected))).toEqual(expected)
  })

  it('engine.settled rejects with TIMEOUT while the task continues', async () => {
    const clock = new SimulatedClock()
    const hands = puppet()
    const engine = await openEngine({ clock, executors: { work: hands.executor } })
    const task = await engine.create({ executor: 'work' })
    await hands.started(0)
    const late = refusalOf(engine.settled(task, { timeoutMs: 50 }), 'TIMEOUT')
    await new Promise(setImmediate)
    clock.increment(50)
    expect((await late).details).toEqual({ taskId: task.id, timeoutMs: 50 })
    expect((await engine.get(task))?.status).toBe('working')
  })

  it('engine.settled fails with NOT_FOUND for an unknown task, and with ENGINE_CLOSED after the engine is closed', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    await refusalOf(engine.settled('task-unknown'), 'NOT_FOUND')
    const task = await engine.create({ executor: 'work' })
    await hands.started(0)
    const open = refusalOf(engine.settled(task), 'ENGINE_CLOSED')
    await engine.close()
    await open
  })
})

describe('engine.result', () => {
  it('engine.result returns the result or throws the recorded error, with its own class', async () => {
    const engine = await openEngine({
      executors: {
        works: () => 7,
        breaks: () => {
          throw new Error('broke')
        },
      },
    })
    expect(await engine.result(await engine.create({ executor: 'works' }))).toBe(7)
    const failed = await engine.create({ executor: 'breaks' })
    const failure = await refusalOf(engine.result(failed), 'TASK_FAILED')
    expect(failure).toBeInstanceOf(TaskFailedError)
    expect(failure.message).toMatch(`Task #${failed.seq} (breaks) failed: broke (TASK_FAILED).`)
    expect(failure).toMatchObject({ taskId: failed.id, error: { code: 'TASK_FAILED', message: 'broke' } })
    const canceled = await engine.create({ name: 'a' })
    await engine.cancel(canceled, 'enough')
    const refusal = await refusalOf(engine.result(canceled), 'TASK_CANCELED')
    expect(refusal).toBeInstanceOf(TaskCanceledError)
    expect(refusal).toMatchObject({ taskId: canceled.id, statusReason: 'enough' })
    expect(refusal.message).toMatch(`Task #${canceled.seq} (a) was canceled: enough.`)
  })

  it('engine.result returns what the executor declares: parsed, or INVALID_RESULT without another attempt', async () => {
    const result = z.object({ count: z.number(), note: z.string().default('none') })
    const engine = await openEngine({
      executors: {
        right: defineExecutor({ result, run: () => ({ count: 1 }) }),
        wrong: defineExecutor({ result, retry: { maxAttempts: 3 }, run: () => ({ count: 'one' }) as never }),
        odd: () => () => 1,
      },
    })
    expect(await engine.result(await engine.create({ executor: 'right' }))).toEqual({ count: 1, note: 'none' })
    const wrong = await engine.create({ executor: 'wrong' })
    expect(await engine.settled(wrong)).toMatchObject({ status: 'failed', error: { code: 'INVALID_RESULT' } })
    expect((await engine.get(wrong))?.attempt).toBe(1)
    expect(await engine.settled(await engine.create({ executor: 'odd' }))).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_RESULT' },
    })
  })

  it('engine.result is computed from an input parsed with its defaults, which the task does not store', async () => {
    const input = z.object({ name: z.string(), loud: z.boolean().default(true) })
    const engine = await openEngine({ executors: { greet: defineExecutor({ input, run: (task) => task.input }) } })
    const task = await engine.create({ executor: 'greet', input: { name: 'Ada' } })
    expect(await engine.result(task)).toEqual({ name: 'Ada', loud: true })
    expect((await engine.get(task))?.input).toEqual({ name: 'Ada' })
  })
})

describe('engine.why', () => {
  it('engine.why explains a slot, a dependency, a timer, an executor, an owner, a run and an end', async () => {
    const hands = puppet()
    const engine = await openEngine({ maxConcurrent: 1, executors: { work: hands.executor } })
    const running = await engine.create({ executor: 'work', name: 'running' })
    await hands.started(0)
    const at = Date.now() + 3_600_000
    const [queued, blocked, timed, held, byHand, group] = await engine.create([
      { executor: 'work' },
      { executor: 'work', blockedBy: [running.id] },
      { executor: 'work', notBefore: at },
      { executor: 'work', autoStart: false },
      { name: 'by hand' },
      { name: 'group', tasks: { a: { executor: 'work' } } },
    ])
    const reasons = []
    for (const task of [running, queued, blocked, timed, held, byHand, group]) reasons.push(await engine.why(task!))
    expect(reasons.map(({ reason, tasks, at }) => [reason, tasks, at])).toEqual([
      ['running', [], null],
      ['slot', [], null],
      ['blocked', [running.id], null],
      ['timer', [], at],
      ['held', [], null],
      ['claim', [], null],
      ['executor', [], null],
    ])
    for (const why of reasons) expect(why.message).not.toBe('')
    await engine.pause(running)
    await reached(engine, running, (task) => task.status === 'paused')
    expect((await engine.why(running)).reason).toBe('held')
    await engine.cancel(running)
    expect(await engine.why(running)).toMatchObject({ reason: 'settled', status: 'canceled' })
    await refusalOf(engine.why('task-unknown'), 'NOT_FOUND')
  })
})

describe('engine.runs, calls and messages', () => {
  it('engine.runs, calls and messages list the history of a task', async () => {
    const engine = await openEngine({
      executors: {
        work: async (_task: ExecutorTask, run: Run) => {
          await run.message('user', 'hello')
          await run.message('assistant', ['hel', 'lo'])
          await run.call('look', { at: 'sky' }, ({ at }, { callId }) => `${at} ${callId.slice(0, 5)}`)
          await run.ask('Go on?')
        },
      },
    })
    const task = await engine.create({ executor: 'work' })
    await reached(engine, task, 'input_required')
    await engine.answer(task, 'yes')
    await engine.result(task)
    expect(
      (await engine.runs(task)).map(({ number, attempt, outcome, status }) => [number, attempt, outcome, status]),
    ).toEqual([
      [1, 1, 'input_required', 'closed'],
      [2, 1, 'completed', 'closed'],
    ])
    expect(
      (await engine.calls(task)).map(({ name, params, result, status }) => [name, params, result, status]),
    ).toEqual([['look', { at: 'sky' }, 'sky call-', 'completed']])
    expect(
      (await engine.messages(task)).map(({ n, role, content, announcement }) => [n, role, content, announcement]),
    ).toEqual([
      [1, 'user', 'hello', false],
      [2, 'assistant', 'hello', false],
    ])
  })
})
