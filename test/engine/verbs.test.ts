// Pause, resume, cancel, retry, complete and fail on tasks that really run: what happens to the run, and that its late outcome
// changes nothing.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineExecutor, type ExecutorTask, type Run } from '../../src/entities/executor.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { history, openEngine, puppet, reached, refusalOf, turns, typesOf } from './world.ts'

async function setup(options: { stubborn?: boolean; maxConcurrent?: number } = {}) {
  const hands = puppet(options)
  const engine = await openEngine({ executors: { work: hands.executor }, maxConcurrent: options.maxConcurrent ?? 10 })
  const task = await engine.create({ executor: 'work', name: 'a' })
  const held = await hands.started(0)
  return { engine, hands, task, held }
}

describe('engine.pause', () => {
  it('S3-050 S3-051 engine.pause aborts the run and returns the task, PAUSED', async () => {
    const { engine, task, held } = await setup()
    expect((await engine.pause(task)).status).toBe('paused')
    await held.aborted
    await refusalOf(
      held.run.call('late', () => 1),
      'RUN_ENDED',
    )
    expect((await engine.runs(task)).at(-1)).toMatchObject({ number: 1, outcome: 'paused' })
  })

  it('engine.pause refuses a sleeping task, which another task holds back instead until it is completed', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({ clock, executors: { naps: (_task: ExecutorTask, run: Run) => run.sleep(5_000) } })
    const gate = await engine.create({ name: 'gate' })
    const task = await engine.create({ executor: 'naps' })
    await reached(engine, task, 'waiting')
    const refusal = await refusalOf(engine.pause(task), 'INVALID_TRANSITION')
    expect(refusal.message).toMatch('Only a working task can be paused. To hold it back, `block` it by another task.')
    await engine.block(task, [gate.id])
    clock.increment(5_000)
    await turns()
    expect(await engine.why(task)).toMatchObject({ message: `It comes after #${gate.seq} gate, not yet completed.` })
    await engine.start(gate)
    await engine.complete(gate)
    await reached(engine, task, 'completed')
  })

  it.each([['returned'], ['threw']])('S3-051 engine.pause ignores what the paused run %s afterwards', async (way) => {
    const { engine, task, held } = await setup({ stubborn: true })
    await engine.pause(task)
    if (way === 'returned') held.end.resolve('too late')
    else held.end.reject(new Error('too late'))
    await engine.idle()
    expect(await engine.get(task)).toMatchObject({ status: 'paused', result: null, error: null })
    expect(typesOf(await history(engine, task.id))).toEqual([
      'task.created',
      'task.started',
      'task.paused',
      'run.closed',
    ])
  })

  it('S3-052 S3-065 S3-073 engine.pause keeps the task paused until it is resumed; then it runs and completes', async () => {
    const { engine, task, hands } = await setup()
    await engine.pause(task)
    await engine.idle()
    expect(hands.runs).toHaveLength(1)
    await engine.resume(task)
    const second = await hands.started(1)
    expect(second.run.number).toBe(2)
    second.end.resolve('done')
    expect(await engine.result(task)).toBe('done')
    const life = typesOf(await history(engine, task.id)).filter(
      (type) => !['run.closed', 'task.resumed'].includes(type),
    )
    expect(life).toEqual(['task.created', 'task.started', 'task.paused', 'task.started', 'task.completed'])
  })

  it('S3-053 engine.pause starts no second run before the first has ended', async () => {
    const { engine, task, hands, held } = await setup({ stubborn: true })
    await engine.pause(task)
    await engine.resume(task)
    expect(await engine.why(task)).toMatchObject({ reason: 'closing' })
    expect(hands.runs).toHaveLength(1)
    held.end.resolve('too late')
    const second = await hands.started(1)
    second.end.resolve('in time')
    expect(await engine.result(task)).toBe('in time')
  })
})

describe('engine.resume', () => {
  it('S3-054 engine.resume continues from what earlier runs recorded', async () => {
    const done: string[] = []
    const paused = Promise.withResolvers<void>()
    const engine = await openEngine({
      executors: {
        work: async (_task: ExecutorTask, run: Run) => {
          await run.call('first', () => done.push('first'))
          if (run.number === 1) {
            paused.resolve()
            await new Promise((_resolve, reject) =>
              run.signal.addEventListener('abort', () => reject(run.signal.reason)),
            )
          }
          await run.call('second', () => done.push('second'))
          return done
        },
      },
    })
    const task = await engine.create({ executor: 'work' })
    await paused.promise
    await engine.pause(task)
    await engine.resume(task)
    expect(await engine.result(task)).toEqual(['first', 'second'])
    expect((await engine.calls(task)).map(({ name, run, status }) => [name, run, status])).toEqual([
      ['first', 1, 'completed'],
      ['second', 2, 'completed'],
    ])
  })

  it('S3-052 C-40 engine.resume queues for a slot when none is free', async () => {
    const { engine, task, hands } = await setup({ maxConcurrent: 1 })
    await engine.pause(task)
    const other = await engine.create({ executor: 'work', name: 'other' })
    const running = await hands.started(1)
    expect(await engine.resume(task)).toMatchObject({ status: 'paused', ready: true })
    expect(await engine.why(task)).toMatchObject({ reason: 'slot' })
    running.end.resolve(null)
    await engine.settled(other)
    ;(await hands.started(2)).end.resolve('done')
    expect(await engine.result(task)).toBe('done')
  })
})

describe('engine.cancel', () => {
  it('S3-055 X-042 engine.cancel aborts the run, records the reason, and ignores everything that the run does afterwards', async () => {
    const { engine, task, held } = await setup({ stubborn: true })
    expect(await engine.cancel(task, 'not needed')).toMatchObject({ status: 'canceled', statusReason: 'not needed' })
    await held.aborted
    for (const late of [
      held.run.call('late', () => 1),
      held.run.message('user', 'late'),
      held.run.ask('late?'),
      held.run.spawn({ name: 'late' }),
      held.run.sleep(1),
      held.run.progress(1),
    ])
      await refusalOf(late, 'RUN_ENDED')
    held.run.emit('late', { store: true })
    held.end.resolve('late')
    await engine.idle()
    expect(await engine.get(task)).toMatchObject({ status: 'canceled', result: null, progress: null })
    expect(await engine.calls(task)).toEqual([])
    expect(await engine.messages(task)).toEqual([])
    expect(await engine.settled(task)).toEqual({ status: 'canceled', statusReason: 'not needed' })
  })

  it('S3-074 S3-079…S3-083 engine.cancel cancels all descendants, below settled ones too, each with its own event', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const root = await engine.create({ name: 'root' })
    const [completed, failed, queued] = await engine.create([
      { name: 'completed', parentId: root.id },
      { name: 'failed', parentId: root.id },
      { name: 'queued', parentId: root.id },
    ])
    const below = await engine.create({ executor: 'work', name: 'below a completed one', parentId: completed!.id })
    const deep = await engine.create({ name: 'below a failed one', parentId: failed!.id })
    const outsider = await engine.create({ name: 'outsider' })
    const held = await hands.started(0)
    await engine.start(completed!)
    await engine.complete(completed!)
    await engine.start(failed!)
    await engine.fail(failed!, 'broke')
    const before = (await history(engine)).at(-1)!.seq
    await engine.cancel(root, 'enough')
    await held.aborted
    expect((await engine.get(completed!))?.status).toBe('completed')
    expect((await engine.get(failed!))?.status).toBe('failed')
    expect((await engine.get(outsider))?.status).toBe('submitted')
    const canceled = (await history(engine)).filter(({ seq, type }) => seq > before && type === 'task.canceled')
    expect(canceled.map(({ taskId, data }) => [taskId, data.reason, data.cascadedFrom ?? null])).toEqual([
      [root.id, 'enough', null],
      ...[queued!, below, deep].map((task) => [task.id, 'enough', root.id]),
    ])
  })

  it('S3-093 engine.cancel of a child leaves its parent as it is', async () => {
    const engine = await openEngine()
    const root = await engine.create({ name: 'root' })
    await engine.start(root)
    await engine.cancel(await engine.create({ name: 'child', parentId: root.id }))
    expect((await engine.get(root))?.status).toBe('working')
  })
})

describe('engine.retry', () => {
  it('S3-058 engine.retry submits a failed task again: next attempt, no reason, no error, and it runs', async () => {
    const { engine, task, hands, held } = await setup()
    held.end.reject(new Error('broke'))
    expect((await engine.settled(task)).status).toBe('failed')
    expect(await engine.retry(task)).toMatchObject({ attempt: 2, error: null, statusReason: null, completedAt: null })
    const second = await hands.started(1)
    expect(second.run).toMatchObject({ number: 2, attempt: 2 })
    second.end.resolve('done')
    expect(await engine.result(task)).toBe('done')
  })

  it('engine.retry repeats failed calls and keeps completed ones', async () => {
    const done: string[] = []
    const engine = await openEngine({
      executors: {
        work: async (_task: ExecutorTask, run: Run) => {
          await run.call('good', () => done.push('good'))
          await run.call('bad', () => {
            done.push('bad')
            if (run.attempt === 1) throw new Error('broke')
          })
        },
      },
    })
    const task = await engine.create({ executor: 'work' })
    await engine.settled(task)
    await engine.retry(task)
    await engine.result(task)
    expect(done).toEqual(['good', 'bad', 'bad'])
  })
})

describe('engine.complete and engine.fail', () => {
  it('engine.complete and engine.fail end a run from outside, with the given result or reason', async () => {
    const { engine, task, held, hands } = await setup()
    expect(await engine.complete(task, { from: 'outside' })).toMatchObject({ status: 'completed' })
    await held.aborted
    expect(await engine.result(task)).toEqual({ from: 'outside' })
    const other = await engine.create({ executor: 'work', retry: { maxAttempts: 5 } })
    const second = await hands.started(1)
    expect(await engine.fail(other, 'no more', { code: 'STOPPED' })).toMatchObject({
      status: 'failed',
      statusReason: 'no more',
      error: { code: 'STOPPED', message: 'no more' },
    })
    await second.aborted
    // An explicit failure is final: no policy applies.
    expect(await engine.settled(other)).toEqual({ status: 'failed', error: { code: 'STOPPED', message: 'no more' } })
    expect((await engine.get(other))?.attempt).toBe(1)
  })

  it('engine.complete and engine.fail store the JSON image of a result, and refuse one without an image', async () => {
    const engine = await openEngine()
    const task = await engine.start(await engine.create({ name: 'a' }))
    await refusalOf(engine.complete(task, (() => 1) as never), 'INVALID_INPUT')
    await engine.complete(task, { at: new Date(0), absent: undefined })
    expect(await engine.result(task)).toEqual({ at: '1970-01-01T00:00:00.000Z' })
  })
})

describe('engine.update', () => {
  it('S3-023 S3-024 engine.update changes name, goal, description, priority and metadata, which it replaces', async () => {
    const engine = await openEngine()
    const task = await engine.create({ name: 'a', metadata: { old: 1 } })
    const patch = { name: 'b', goal: 'g', description: 'd', priority: 4, metadata: { new: 2 } }
    expect(await engine.update(task, patch)).toMatchObject(patch)
    expect(await engine.get(task)).toMatchObject({ ...patch, metadata: { new: 2 } })
    expect((await history(engine, task.id)).at(-1)).toMatchObject({
      type: 'task.updated',
      data: { name: 'b', changed: ['name', 'goal', 'description', 'priority', 'metadata'] },
    })
  })

  it('S3-025 engine.update of an unknown task is NOT_FOUND, of an unknown field names the nearest', async () => {
    const engine = await openEngine()
    await refusalOf(engine.update('task-unknown', { name: 'b' }), 'NOT_FOUND')
    const task = await engine.create({ name: 'a' })
    const refusal = await refusalOf(engine.update(task, { prioritty: 1 } as never), 'UNKNOWN_OPTION')
    expect(refusal.details).toMatchObject({ option: 'prioritty', nearest: 'priority' })
  })

  it('S3-026 engine.update changes status and fields together or not at all', async () => {
    const engine = await openEngine()
    const task = await engine.create({ name: 'a' })
    await refusalOf(engine.update(task, { name: 'b', status: 'completed' }), 'INVALID_TRANSITION')
    expect((await engine.get(task))?.name).toBe('a')
    expect(await engine.update(task, { name: 'b', status: 'working' })).toMatchObject({ name: 'b', status: 'working' })
  })

  it('engine.update gives a queued task its new priority and definition, and refuses to change a working one', async () => {
    const { engine, task, hands } = await setup({ maxConcurrent: 1 })
    await refusalOf(engine.update(task, { input: 2 }), 'INVALID_TRANSITION')
    expect((await engine.update(task, { name: 'renamed' })).name).toBe('renamed')
    await engine.create({ executor: 'work', name: 'early' })
    const late = await engine.create({ executor: 'work', name: 'late' })
    await engine.update(late, { priority: 1, input: { changed: true } })
    hands.runs[0]?.end.resolve(null)
    const next = await hands.started(1)
    expect(next.task).toMatchObject({ name: 'late', input: { changed: true } })
  })

  it('engine.update checks a new input against the executor that the task has when the input is written', async () => {
    const takesText = defineExecutor({ input: z.string(), run: async () => null })
    const takesCount = defineExecutor({ input: z.number(), run: async () => null })
    const engine = await openEngine({ executors: { takesText, takesCount } as never })
    const given = { executor: 'takesText', input: 'text', autoStart: false } as never
    for (const [input, refused] of [
      ['another text', true],
      [7, false],
    ]) {
      const { id } = await engine.create(given)
      // The second step is checked after the first, whichever executor the task had at the time of the call.
      const moved = engine.update(id, { executor: 'takesCount' })
      const changed = engine.update(id, { input }).catch((error: unknown) => error)
      const [, answer] = await Promise.all([moved, changed])
      if (refused) expect(answer).toMatchObject({ code: 'INVALID_INPUT', details: { executor: 'takesCount' } })
      expect(await engine.get(id)).toMatchObject({ executor: 'takesCount', input: refused ? 'text' : 7 })
    }
  })

  it('engine.update does not set a task with an executor to a waiting state by hand', async () => {
    const { engine, task } = await setup()
    await refusalOf(engine.update(task, { status: 'waiting' }), 'HAS_EXECUTOR')
    expect((await reached(engine, task, 'working')).status).toBe('working')
  })
})

describe('engine.delete', () => {
  it('S3-027 S3-028 engine.delete hides a task, and returns whether it existed', async () => {
    const engine = await openEngine()
    const task = await engine.create({ name: 'a' })
    expect(await engine.delete(task)).toBe(true)
    expect(await engine.delete(task)).toBe(false)
    expect(await engine.delete('task-unknown')).toBe(false)
    expect((await engine.list()).total).toBe(0)
    await refusalOf(engine.start(task), 'NOT_FOUND')
    await refusalOf(engine.update(task, { name: 'b' }), 'NOT_FOUND')
    await refusalOf(engine.children(task), 'NOT_FOUND')
    await refusalOf(engine.create({ name: 'b', parentId: task.id }), 'NOT_FOUND')
  })

  it('S3-028 engine.delete makes the children roots, satisfies dependencies and aborts the run', async () => {
    const { engine, task, held, hands } = await setup()
    const child = await engine.create({ name: 'child', parentId: task.id })
    const dependent = await engine.create({ executor: 'work', name: 'dependent', blockedBy: [task.id] })
    await engine.delete(task)
    await held.aborted
    expect(await engine.get(child)).toMatchObject({ parentId: null, status: 'submitted' })
    expect((await hands.started(1)).task.id).toBe(dependent.id)
    expect(await engine.settled(task)).toEqual({ status: 'canceled', statusReason: 'deleted' })
    const events = await history(engine, task.id)
    expect(typesOf(events)).toEqual(expect.arrayContaining(['task.canceled', 'task.deleted']))
    expect(events.at(-1)?.data).toMatchObject({ status: 'canceled' })
  })

  it('S3-028 engine.delete refuses a parent, or deletes the whole family, as configured', async () => {
    const engine = await openEngine()
    const root = await engine.create({ name: 'root', tasks: { done: {}, live: {}, inner: { tasks: { leaf: {} } } } })
    const [done] = await engine.children(root)
    await engine.start(done!)
    await engine.complete(done!)
    const refusal = await refusalOf(engine.delete(root, { children: 'refuse' }), 'HAS_CHILDREN')
    expect(refusal.details.children).toHaveLength(3)
    expect(await engine.delete(root, { children: 'cascade' })).toBe(true)
    expect((await engine.list()).total).toBe(0)
    // Canceled tasks have not ended otherwise: nothing was completed or failed on the way.
    const ends = (await history(engine)).filter(({ type }) => ['task.completed', 'task.failed'].includes(type))
    expect(ends.map(({ taskId }) => taskId)).toEqual([done!.id])
  })

  it('engine.delete of the last open child lets its group end', async () => {
    const engine = await openEngine()
    const group = await engine.create({ name: 'group', tasks: { done: {}, open: {} } })
    const [done, open] = await engine.children(group)
    await engine.start(done!)
    await engine.complete(done!)
    await engine.delete(open!)
    expect((await engine.get(group))?.status).toBe('completed')
  })
})
