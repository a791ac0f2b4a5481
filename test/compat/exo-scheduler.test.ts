// Exo's TaskScheduler over the real engine: which tasks run, in which order, how many at once, and pause, resume, cancel and retry of
// running tasks.
import { describe, expect, it } from 'vitest'
import {
  createExoExecutor,
  InvalidTransitionError,
  type Task,
  TaskError,
  TaskManager,
  TaskNotFoundError,
  TaskScheduler,
} from '../../src/compat/exo.ts'
import { Failure } from '../../src/core/errors.ts'
import { deferred, ledgerFile, openEngine, turns } from '../engine/world.ts'
import { createIn, hands, namesOf, openExo, recorder } from './exo-world.ts'

describe('schedule', () => {
  it('S3-037 S3-041 S3-045 S3-065 S3-066 schedule runs submitted tasks from SUBMITTED over WORKING to COMPLETED and returns them', async () => {
    const { manager, scheduler, eventsOf, received } = openExo()
    const task = await manager.create('a', { description: 'what to do' })
    let given: { task: Task; signal: AbortSignal } | undefined
    const handled = await scheduler.schedule((each, signal) => {
      given = { task: each, signal }
      return Promise.resolve({ answer: 42 })
    })
    expect(given?.signal).toBeInstanceOf(AbortSignal)
    expect(given?.task).toMatchObject({ id: task.id, description: 'what to do', status: 'working' })
    expect(handled).toEqual([await manager.get(task.id)])
    expect(handled[0]).toMatchObject({ status: 'completed', result: { answer: 42 }, error: null })
    await received('task.completed')
    expect(eventsOf().filter((line) => !line.startsWith('task.updated'))).toEqual([
      'task.created a',
      'task.started a',
      'task.completed a',
    ])
  })

  it('S3-038 S3-057 S3-066 a failing executor fails its task with the error, frees its slot, and the others continue', async () => {
    const { manager, scheduler, received } = openExo({ scheduler: { maxConcurrent: 1 } })
    const bad = await manager.create('bad', { priority: 1 })
    const worse = await manager.create('worse', { priority: 1 })
    await manager.create('good')
    const handled = await scheduler.schedule((task) => {
      if (task.name === 'bad') throw new TypeError('broke')
      return task.name === 'worse' ? Promise.reject(new Failure('no money', { code: 'NO_MONEY' })) : 'fine'
    })
    expect(handled.map(({ name, status }) => [name, status])).toEqual([
      ['bad', 'failed'],
      ['worse', 'failed'],
      ['good', 'completed'],
    ])
    expect((await manager.get(bad.id))?.error).toEqual({ code: 'TASK_FAILED', message: 'broke' })
    expect((await manager.get(worse.id))?.error).toMatchObject({ code: 'NO_MONEY', message: 'no money' })
    expect((await received('task.failed', bad)).data).toMatchObject({ name: 'bad', status: 'failed' })
  })

  it('S3-035 S3-039 schedule runs three tasks at once by default, and all in the end', async () => {
    for (const [options, most] of [
      [{}, 3],
      [{ maxConcurrent: 5 }, 5],
    ] as const) {
      const { manager, scheduler } = openExo({ scheduler: options })
      const { executor, seen } = recorder()
      for (let index = 0; index < 12; index++) await manager.create(`${index}`)
      expect((await scheduler.schedule(executor)).length).toBe(12)
      expect(seen.most).toBe(most)
      expect(scheduler.maxConcurrent).toBe(most)
      expect((await manager.list({ status: 'completed' })).length).toBe(12)
    }
  })

  it('S3-036 S3-040 S3-062 with one slot schedule runs tasks one by one, by priority and then age', async () => {
    const { manager, scheduler } = openExo({ scheduler: { maxConcurrent: 1 } })
    const { executor, order, seen } = recorder()
    for (const [name, priority] of [
      ['c', 0],
      ['a', 9],
      ['d', 0],
      ['b', 9],
      ['e', -1],
    ] as const)
      await manager.create(name, { priority })
    expect(namesOf(await scheduler.schedule(executor))).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(seen.most).toBe(1)
  })

  it('S3-041 S3-042 schedule returns an empty list without work, and leaves tasks that are not submitted', async () => {
    const { manager, scheduler } = openExo()
    const { executor, order } = recorder()
    expect(await scheduler.schedule(executor)).toEqual([])
    for (const status of [
      'working',
      'paused',
      'input_required',
      'waiting',
      'completed',
      'failed',
      'canceled',
    ] as const) {
      await createIn(manager, status)
    }
    const before = await manager.list()
    expect(await scheduler.schedule(executor)).toEqual([])
    expect(order).toEqual([])
    expect(await manager.list()).toEqual(before)
  })

  it('S3-043 S3-056 schedule does not run a task that was canceled, deleted or canceled with its parent before', async () => {
    const { manager, scheduler } = openExo({ scheduler: { maxConcurrent: 1 } })
    const work = hands()
    await manager.create('first', { priority: 9 })
    const early = await manager.create('canceled early')
    const canceled = await manager.create('canceled')
    const deleted = await manager.create('deleted')
    const parent = await createIn(manager, 'paused', 'parent')
    await manager.create('child', { parentId: parent.id })
    await scheduler.cancel(early.id)
    const scheduled = scheduler.schedule(work.executor)
    const first = await work.started(0)
    await scheduler.cancel(canceled.id, 'too late')
    expect(await manager.delete(deleted.id)).toBe(true)
    await scheduler.cancel(parent.id)
    first.resolve(null)
    expect(namesOf(await scheduled)).toEqual(['first'])
    expect(work.held.length).toBe(1)
    expect(await manager.get(canceled.id)).toMatchObject({ status: 'canceled', statusReason: 'too late' })
  })

  it('S3-044 schedule picks up tasks submitted meanwhile, also by a running task', async () => {
    const { manager, scheduler } = openExo({ scheduler: { maxConcurrent: 2 } })
    const work = hands()
    await manager.create('first')
    const scheduled = scheduler.schedule(work.executor)
    const first = await work.started(0)
    await manager.create('late')
    const late = await work.started(1)
    expect(late.task.name).toBe('late')
    first.resolve(null)
    await manager.create('from within', { parentId: late.task.id })
    ;(await work.started(2)).resolve(null)
    late.resolve(null)
    expect(namesOf(await scheduled)).toEqual(['first', 'late', 'from within'])
  })

  it('S3-045 each schedule runs the tasks that it picked with its own executor', async () => {
    const { manager, scheduler } = openExo({ scheduler: { maxConcurrent: 1 } })
    const work = hands()
    await manager.create('a')
    await manager.create('b')
    const one = scheduler.schedule(work.executor)
    const first = await work.started(0)
    const two = scheduler.schedule(() => 'two')
    first.resolve('one')
    ;(await work.started(1)).resolve('one')
    await Promise.all([one, two])
    expect((await manager.list()).map((task) => task.result)).toEqual(['one', 'one'])
  })

  it('S3-046 schedule refuses invalid executors, managers and limits', async () => {
    const { manager, scheduler } = openExo()
    for (const maxConcurrent of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3', null]) {
      expect(() => new TaskScheduler(manager, { maxConcurrent: maxConcurrent as number })).toThrow(TaskError)
      await expect(scheduler.setMaxConcurrent(maxConcurrent as number)).rejects.toThrow(TaskError)
    }
    expect(scheduler.maxConcurrent).toBe(3)
    expect(() => new TaskScheduler(manager, { maxConcurent: 3 } as never)).toThrow(/Did you mean "maxConcurrent"/)
    expect(() => new TaskScheduler({} as TaskManager)).toThrow(TaskError)
    expect(() => new TaskScheduler(undefined as never)).toThrow(TaskError)
    await expect(scheduler.schedule('work' as never)).rejects.toThrow(TaskError)
  })

  it('S3-047 lowering the limit keeps others from starting and ends no running task', async () => {
    const { manager, scheduler } = openExo({ scheduler: { maxConcurrent: 2 } })
    const work = hands()
    for (const name of ['a', 'b', 'c', 'd']) await manager.create(name)
    const scheduled = scheduler.schedule(work.executor)
    await work.started(1)
    await scheduler.setMaxConcurrent(1)
    work.held[0]?.resolve(null)
    await turns()
    expect(work.held.length).toBe(2)
    expect(work.held[1]?.signal.aborted).toBe(false)
    work.held[1]?.resolve(null)
    ;(await work.started(2)).resolve(null)
    ;(await work.started(3)).resolve(null)
    expect((await scheduled).every((task) => task.status === 'completed')).toBe(true)
  })

  it('S3-047 raising the limit starts more tasks at once', async () => {
    const { manager, scheduler } = openExo({ scheduler: { maxConcurrent: 1 } })
    const work = hands()
    for (const name of ['a', 'b', 'c']) await manager.create(name)
    const scheduled = scheduler.schedule(work.executor)
    await work.started(0)
    await scheduler.setMaxConcurrent(3)
    await work.started(2)
    for (const held of work.held) held.resolve(null)
    expect((await scheduled).length).toBe(3)
  })

  it('S3-048 a task that exceeds timeoutMs fails, and no other', async () => {
    const { manager, scheduler } = openExo({ scheduler: { timeoutMs: 500 } })
    const slow = await manager.create('slow')
    const quick = await manager.create('quick')
    await scheduler.schedule((task, signal) =>
      task.name === 'quick'
        ? 'done'
        : new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    expect(await manager.get(slow.id)).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
    expect((await manager.get(quick.id))?.status).toBe('completed')
  })
})

describe('pause and resume', () => {
  it('S3-050 S3-051 S3-052 S3-053 pause aborts a run whose late result is ignored, and resume runs the task again once', async () => {
    const { manager, scheduler, eventsOf, received } = openExo()
    const work = hands({ stubborn: true })
    const task = await manager.create('a')
    const scheduled = scheduler.schedule(work.executor)
    const first = await work.started(0)
    expect(await scheduler.pause(task.id)).toMatchObject({ id: task.id, status: 'paused' })
    await first.aborted
    expect((await scheduler.resume(task.id)).id).toBe(task.id)
    await turns()
    // The first run has not settled yet: a second one would run at the same time.
    expect(work.held.length).toBe(1)
    first.resolve('too late')
    const second = await work.started(1)
    expect(await manager.get(task.id)).toMatchObject({ status: 'working', result: null })
    second.resolve('in time')
    expect(await scheduled).toMatchObject([{ status: 'completed', result: 'in time' }])
    await received('task.completed')
    expect(eventsOf().filter((line) => /started|paused|resumed|completed/.test(line))).toEqual([
      'task.started a',
      'task.paused a',
      'task.resumed a',
      'task.started a',
      'task.completed a',
    ])
  })

  it('S3-052 S3-061 schedule ends while a task is paused; resumed, it runs by itself with the latest executor', async () => {
    const { manager, scheduler, received } = openExo({ scheduler: { maxConcurrent: 1 } })
    const work = hands()
    const task = await manager.create('a', { priority: 1 })
    await manager.create('b')
    const scheduled = scheduler.schedule(work.executor)
    await work.started(0)
    await scheduler.pause(task.id)
    ;(await work.started(1)).resolve(null)
    expect((await scheduled).map(({ name, status }) => [name, status])).toEqual([
      ['a', 'paused'],
      ['b', 'completed'],
    ])
    await scheduler.schedule(() => 'by the latest')
    await scheduler.resume(task.id)
    await received('task.completed', task)
    expect((await manager.get(task.id))?.result).toBe('by the latest')
  })

  it('S3-050 S3-052 pause and resume refuse illegal transitions and unknown tasks', async () => {
    const { manager, scheduler } = openExo()
    const submitted = await createIn(manager, 'submitted')
    const completed = await createIn(manager, 'completed')
    const failed = await createIn(manager, 'failed')
    for (const task of [submitted, completed, failed]) {
      await expect(scheduler.pause(task.id)).rejects.toThrow(InvalidTransitionError)
      await expect(scheduler.resume(task.id)).rejects.toThrow(InvalidTransitionError)
      expect(await manager.get(task.id)).toEqual(task)
    }
    await expect(scheduler.pause('task-none')).rejects.toThrow(TaskNotFoundError)
    await expect(scheduler.resume('task-none')).rejects.toThrow(TaskNotFoundError)
  })

  it('S3-050 S3-052 pause and resume take effect at once for a task worked on by hand', async () => {
    const { manager, scheduler } = openExo()
    const task = await createIn(manager, 'working')
    expect((await scheduler.pause(task.id)).status).toBe('paused')
    expect((await scheduler.resume(task.id)).status).toBe('working')
  })

  it('S3-054 a resumed run replays what the paused run had finished through `run`', async () => {
    const { manager, scheduler } = openExo()
    const task = await manager.create('a')
    const inSecondStep = deferred()
    let fetched = 0
    const scheduled = scheduler.schedule(async (_task, signal, run) => {
      const page = await run.call('fetch', () => ++fetched)
      if (run.number === 1) {
        inSecondStep.resolve()
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }
      return { page, run: run.number }
    })
    await inSecondStep.promise
    await scheduler.pause(task.id)
    await scheduler.resume(task.id)
    await scheduled
    expect((await manager.get(task.id))?.result).toEqual({ page: 1, run: 2 })
  })
})

describe('cancel and retry', () => {
  it('S3-055 S3-074 S3-079 S3-083 cancel aborts the work of a task and of all below it', async () => {
    const { manager, scheduler, received } = openExo()
    const work = hands()
    const parent = await manager.create('parent', { priority: 1 })
    const child = await manager.create('child', { parentId: parent.id })
    const scheduled = scheduler.schedule(work.executor)
    await work.started(1)
    expect(await scheduler.cancel(parent.id, 'enough')).toMatchObject({ status: 'canceled', statusReason: 'enough' })
    await Promise.all(work.held.map((held) => held.aborted))
    expect((await scheduled).map((task) => task.status)).toEqual(['canceled', 'canceled'])
    expect((await received('task.canceled', child)).data).toMatchObject({ name: 'child', status: 'canceled' })
  })

  it('S3-055 S3-058 cancel and retry refuse illegal transitions and unknown tasks', async () => {
    const { manager, scheduler } = openExo()
    for (const status of ['completed', 'failed', 'canceled'] as const) {
      await expect(scheduler.cancel((await createIn(manager, status)).id)).rejects.toThrow(InvalidTransitionError)
    }
    for (const status of ['submitted', 'working', 'paused', 'input_required', 'waiting'] as const) {
      const task = await createIn(manager, status)
      await expect(scheduler.retry(task.id)).rejects.toThrow(InvalidTransitionError)
      expect((await scheduler.cancel(task.id)).status).toBe('canceled')
    }
    await expect(scheduler.cancel('task-none')).rejects.toThrow(TaskNotFoundError)
    await expect(scheduler.retry('task-none')).rejects.toThrow(TaskNotFoundError)
  })

  it('S3-058 retry gives a failed task another attempt, which runs by itself', async () => {
    const { manager, scheduler, received } = openExo()
    const task = await manager.create('a')
    let runs = 0
    await scheduler.schedule(() => {
      if (++runs === 1) throw new Error('broke')
      return 'at last'
    })
    expect(await manager.get(task.id)).toMatchObject({ status: 'failed', attempt: 1 })
    expect(await scheduler.retry(task.id)).toMatchObject({ attempt: 2, error: null })
    await received('task.completed', task)
    expect(await manager.get(task.id)).toMatchObject({ status: 'completed', attempt: 2, result: 'at last' })
    expect((await received('task.retried', task)).data).toMatchObject({ attempt: 2 })
  })

  it("S3-058 the scheduler's retry policy repeats a failed task with pauses in between", async () => {
    const { manager, scheduler } = openExo({ scheduler: { retry: { maxAttempts: 3, backoffMs: 1 } } })
    await manager.create('a')
    let runs = 0
    const handled = await scheduler.schedule(() => {
      if (++runs < 3) throw new Error('broke')
      return runs
    })
    expect(handled).toMatchObject([{ status: 'completed', attempt: 3, result: 3 }])
  })

  it('S3-044 S3-058 schedule picks up a task that failed by hand and is retried', async () => {
    const { manager, scheduler } = openExo()
    const work = hands()
    await manager.create('first')
    const task = await createIn(manager, 'failed', 'by hand')
    const scheduled = scheduler.schedule(work.executor)
    const first = await work.started(0)
    await scheduler.retry(task.id)
    ;(await work.started(1)).resolve(null)
    first.resolve(null)
    expect(namesOf(await scheduled)).toEqual(['first', 'by hand'])
  })
})

describe('a running task', () => {
  it('S3-059 S3-061 a running task asks for input, frees its slot, and receives the answer in its next run', async () => {
    const { manager, scheduler, received } = openExo({ scheduler: { maxConcurrent: 1 } })
    const task = await manager.create('a', { priority: 1 })
    await manager.create('b')
    const handled = await scheduler.schedule(async (each, _signal, run) =>
      each.name === 'b' ? 'passed by' : await run.ask('Which one?'),
    )
    expect(handled.map(({ name, status }) => [name, status])).toEqual([
      ['a', 'input_required'],
      ['b', 'completed'],
    ])
    expect((await manager.get(task.id))?.prompt).toBe('Which one?')
    await manager.provideInput(task.id, 'the red one')
    await received('task.completed', task)
    expect(await manager.get(task.id)).toMatchObject({ status: 'completed', result: 'the red one', prompt: null })
  })

  it('S3-059 requireInput makes a running task ask, and it finds the answer by the same prompt', async () => {
    const { manager, scheduler, received } = openExo()
    const work = hands()
    const task = await manager.create('a')
    const scheduled = scheduler.schedule(work.executor)
    const first = await work.started(0)
    expect(await manager.requireInput(task.id, 'Sure?')).toMatchObject({ status: 'input_required', prompt: 'Sure?' })
    await first.aborted
    await scheduled
    await manager.provideInput(task.id, { sure: true })
    const second = await work.started(1)
    second.resolve(await second.run.ask('Sure?'))
    await received('task.completed', task)
    expect((await manager.get(task.id))?.result).toEqual({ sure: true })
  })

  it('S3-059 a running task may ask through the manager, and its next run passes the question', async () => {
    const { manager, scheduler, received } = openExo()
    const task = await manager.create('a')
    const seen: string[] = []
    await scheduler.schedule(async ({ id }, signal) => {
      seen.push((await manager.requireInput(id, 'Sure?')).status)
      return signal.aborted ? 'ignored' : 'passed'
    })
    await manager.provideInput(task.id)
    await received('task.completed', task)
    expect((await manager.get(task.id))?.result).toBe('passed')
    expect(seen).toEqual(['input_required', 'working'])
  })

  it('S3-059 requireInput is refused if the task runs in another process', async () => {
    const ledger = ledgerFile()
    const { manager, scheduler } = openExo({ ledger })
    const work = hands()
    const task = await manager.create('a')
    const scheduled = scheduler.schedule(work.executor)
    const first = await work.started(0)
    await using other = new TaskManager({ ledger })
    await expect(other.requireInput(task.id, 'Sure?')).rejects.toMatchObject({
      name: 'TaskError',
      code: 'HAS_EXECUTOR',
    })
    first.resolve(null)
    await scheduled
  })

  it('S3-060 S3-061 a task waits with one slot for the tasks that it creates and continues when they have ended', async () => {
    const { manager, scheduler, events, received } = openExo({ scheduler: { maxConcurrent: 1 } })
    const parent = await manager.create('parent')
    await scheduler.schedule(async (task, _signal, run) => {
      if (task.name !== 'parent') return task.name.toUpperCase()
      const children = await run.call('split', async () => {
        const made = ['left', 'right'].map((name) => manager.create(name, { parentId: task.id }))
        return (await Promise.all(made)).map((child) => child.id)
      })
      return run.wait(children)
    })
    expect(await manager.get(parent.id)).toMatchObject({ status: 'completed', result: ['LEFT', 'RIGHT'] })
    await received('task.completed', parent)
    expect(events.filter(({ task_id }) => task_id === parent.id).map(({ event_type }) => event_type)).toEqual(
      expect.arrayContaining(['task.waiting', 'task.unblocked']),
    )
  })

  it('S3-109 run_id in the metadata shows the latest run and is never stored or lost', async () => {
    const { manager, scheduler, received } = openExo()
    const task = await manager.create('a', { metadata: { mine: 1 } })
    const seen: unknown[] = []
    const handled = scheduler.schedule(async (each, _signal, run) => {
      seen.push(each.metadata['run_id'])
      await run.ask('Go on?')
      return null
    })
    await received('task.input_required', task)
    await manager.provideInput(task.id, 'yes')
    await received('task.completed', task)
    await handled
    expect(seen).toEqual([`${task.id}/run-1`, `${task.id}/run-2`])
    const done = (await manager.get(task.id)) as Task
    expect(done.metadata).toEqual({ mine: 1, run_id: `${task.id}/run-2` })
    expect((await manager.list())[0]?.metadata).toEqual(done.metadata)
    // Passed back as it was read, it is not stored.
    await manager.update(task.id, { metadata: { ...done.metadata, run_id: `${task.id}/run-1`, more: 2 } })
    expect((await manager.get(task.id))?.metadata).toEqual({ mine: 1, more: 2, run_id: `${task.id}/run-2` })
    expect((await manager.update(task.id, { metadata: { run_id: 'mine' } })).metadata).toEqual({ run_id: 'mine' })
  })

  it('S3-109 the engine keeps the runs of a task, each with its end', async () => {
    const exo = createExoExecutor()
    const engine = await openEngine({ executors: { exo } })
    const { manager, scheduler } = openExo({ engine, executor: exo })
    const task = await manager.create('a')
    const work = hands()
    const scheduled = scheduler.schedule(work.executor)
    await work.started(0)
    await scheduler.pause(task.id)
    await scheduler.resume(task.id)
    ;(await work.started(1)).resolve(null)
    await scheduled
    expect((await engine.runs(task.id)).map(({ number, outcome }) => [number, outcome])).toEqual([
      [1, 'paused'],
      [2, 'completed'],
    ])
  })
})
