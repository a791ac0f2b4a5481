// Events: the durable feed, and handlers that are called live, in order, one after the other, even if one throws.
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { TaskEvent } from '../../src/entities/event.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { collect, history, ledgerFile, openEngine, puppet, reached, refusalOf, turns, typesOf } from './world.ts'

describe('an event', () => {
  it('S3-063 S3-067 X-044 an event has a position, a type, a task, a time and data with name and status', async () => {
    const engine = await openEngine()
    const task = await engine.create({ name: 'a' })
    await engine.start(task)
    await engine.cancel(task, 'why not')
    const events = await history(engine, task.id)
    for (const event of events) {
      expect(event).toEqual({
        seq: expect.any(Number) as number,
        type: expect.stringMatching(/^task\./) as string,
        taskId: task.id,
        at: expect.any(Number) as number,
        instanceId: engine.instanceId,
        data: expect.objectContaining({ name: 'a', status: expect.any(String) as string }) as object,
      })
    }
    expect(events.map(({ type, data }) => [type, data.status, data.from ?? null, data.reason ?? null])).toEqual([
      ['task.created', 'submitted', null, null],
      ['task.started', 'working', 'submitted', null],
      ['task.canceled', 'canceled', 'working', 'why not'],
    ])
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3])
  })

  it('S3-064 S3-065 S3-066 S3-075 an event is published for every change of status, and for what happens around it', async () => {
    const hands = puppet()
    const clock = new SimulatedClock(1_000)
    const engine = await openEngine({ executors: { work: hands.executor }, clock })
    const blocker = await engine.create({ name: 'blocker' })
    const task = await engine.create({ executor: 'work', blockedBy: [blocker.id], retry: { maxAttempts: 2 } })
    await engine.start(blocker)
    await engine.complete(blocker)
    void (await hands.started(0)).run.ask('Go on?')
    await reached(engine, task, 'input_required')
    await engine.answer(task, 'yes')
    await hands.started(1)
    await engine.pause(task)
    await engine.resume(task)
    // The run is suspended before the sleep ends: a run that is still open would continue in place.
    void (await hands.started(2)).run.sleep(1_000)
    await reached(engine, task, 'waiting')
    clock.increment(1_000)
    ;(await hands.started(3)).end.reject(new Error('broke'))
    const last = await hands.started(4)
    await last.run.progress(0.5, 'half')
    await last.run.message('assistant', 'hello')
    await last.run.call('look', () => 1)
    await engine.update(task, { priority: 1 })
    last.end.resolve(null)
    await engine.settled(task)
    await engine.delete(task)
    expect(new Set(typesOf(await history(engine)))).toEqual(
      new Set([
        'task.created',
        'task.started',
        'task.completed',
        'task.unblocked',
        'question.asked',
        'task.input_required',
        'task.answered',
        'task.paused',
        'task.resumed',
        'task.waiting',
        'timer.fired',
        'task.failed',
        'task.retried',
        'task.diverged',
        'progress.reported',
        'message.appended',
        'call.started',
        'call.completed',
        'task.updated',
        'task.deleted',
        'run.closed',
      ]),
    ) // prettier-ignore
  })

  it('S3-077 X-009 an event is published only when it is durable: another engine on the same ledger finds the state', async () => {
    const ledger = ledgerFile()
    const engine = await openEngine({
      ledger,
      executors: { work: (_task: ExecutorTask, run: Run) => run.call('a', () => 1) },
    })
    const witness = await openEngine({ ledger, work: false })
    const rank = ['submitted', 'working', 'completed']
    const seen: Array<[TaskEvent, number]> = []
    engine.subscribe('*', async (event) => {
      const found = await witness.get(event.taskId)
      seen.push([event, rank.indexOf(found?.status ?? 'nothing')])
    })
    await engine.result(await engine.create({ executor: 'work' }))
    await turns()
    await engine.close()
    expect(seen.length).toBeGreaterThanOrEqual(4)
    for (const [event, found] of seen) expect(found).toBeGreaterThanOrEqual(rank.indexOf(event.data.status as string))
  })

  it('S3-010 S3-077 an event is not published for a refused step, nor for one whose write failed', async () => {
    const engine = await openEngine()
    const received: string[] = []
    engine.subscribe('*', (event) => void received.push(event.type))
    const task = await engine.create({ name: 'a' })
    await refusalOf(engine.complete(task), 'INVALID_TRANSITION')
    await refusalOf(engine.create([{ name: 'b' }, { name: 'c', parentId: 'task-unknown' }]), 'NOT_FOUND')
    await engine.start(task)
    await turns()
    expect(received).toEqual(['task.created', 'task.started'])
  })
})

describe('engine.subscribe', () => {
  it('S3-068 S3-071 S3-075 engine.subscribe delivers one type, or all with the wildcard, from now on', async () => {
    const engine = await openEngine()
    await engine.create({ name: 'before' })
    const started: string[] = []
    const all: string[] = []
    engine.subscribe('task.started', (event) => void started.push(event.type))
    engine.subscribe('*', (event) => void all.push(event.type))
    const task = await engine.create({ name: 'a' })
    await engine.start(task)
    await engine.complete(task)
    await turns()
    expect(started).toEqual(['task.started'])
    expect(all).toEqual(['task.created', 'task.started', 'task.completed'])
  })

  it('S3-069 engine.subscribe awaits handlers in the order of their subscription', async () => {
    const engine = await openEngine()
    const log: string[] = []
    const gate = Promise.withResolvers<void>()
    engine.subscribe('*', async (event) => {
      log.push(`first begins ${event.type}`)
      await gate.promise
      log.push(`first ends ${event.type}`)
    })
    const received = Promise.withResolvers<void>()
    engine.subscribe('*', (event) => {
      log.push(`second gets ${event.type}`)
      if (event.type === 'task.started') received.resolve()
    })
    await engine.start(await engine.create({ name: 'a' }))
    expect(log).toEqual(['first begins task.created'])
    gate.resolve()
    await received.promise
    expect(log).toEqual([
      'first begins task.created',
      'first ends task.created',
      'second gets task.created',
      'first begins task.started',
      'first ends task.started',
      'second gets task.started',
    ])
  })

  it('S3-072 engine.subscribe continues when a handler throws, reports it, and the task is not affected', async () => {
    const reported: unknown[] = []
    const engine = await openEngine({
      executors: { work: () => 'done' },
      onError: (error, context) => reported.push([(error as Error).message, context.event]),
    })
    const received: string[] = []
    engine.subscribe('task.started', () => {
      throw new Error('thrown')
    })
    engine.subscribe('task.started', () => Promise.reject(new Error('rejected')))
    engine.subscribe('task.started', (event) => void received.push(event.type))
    expect(await engine.result(await engine.create({ executor: 'work' }))).toBe('done')
    await turns()
    expect(received).toEqual(['task.started'])
    expect(reported).toEqual([
      ['thrown', 'task.started'],
      ['rejected', 'task.started'],
    ])
  })

  it('S3-070 S3-076 engine.subscribe calls a handler once per subscription; an unsubscribe undoes one, a second one nothing', async () => {
    const engine = await openEngine()
    let received = 0
    const handler = () => void received++
    const once = engine.subscribe('*', handler)
    engine.subscribe('*', handler)
    await engine.create({ name: 'a' })
    await turns()
    expect(received).toBe(2)
    once()
    once()
    await engine.create({ name: 'b' })
    await turns()
    expect(received).toBe(3)
  })

  it('S3-076 engine.subscribe calls no handler that was removed while an event was delivered, and none for earlier events', async () => {
    const engine = await openEngine()
    const log: string[] = []
    const gate = Promise.withResolvers<void>()
    engine.subscribe('*', async (event) => {
      log.push(`slow ${String(event.data.name)}`)
      leave()
      await gate.promise
    })
    const leave = engine.subscribe('*', (event) => void log.push(`left ${String(event.data.name)}`))
    await engine.create({ name: 'a' })
    await engine.create({ name: 'b' })
    engine.subscribe('*', (event) => void log.push(`late ${String(event.data.name)}`))
    await engine.create({ name: 'c' })
    gate.resolve()
    await turns()
    expect(log).toEqual(['slow a', 'slow b', 'slow c', 'late c'])
  })

  it('S3-019 engine.subscribe gives each handler a copy of its own', async () => {
    const engine = await openEngine()
    const names: unknown[] = []
    engine.subscribe('*', (event) => {
      event.data.name = 'changed'
    })
    engine.subscribe('*', (event) => void names.push(event.data.name))
    await engine.create({ name: 'a' })
    await turns()
    expect(names).toEqual(['a'])
    expect((await history(engine))[0]?.data.name).toBe('a')
  })

  it('engine.subscribe loses no event for a slow handler, beyond the events kept in memory', async () => {
    const engine = await openEngine({ work: false })
    const seqs: number[] = []
    const gate = Promise.withResolvers<void>()
    const all = Promise.withResolvers<void>()
    engine.subscribe('*', async ({ seq }) => {
      seqs.push(seq)
      await gate.promise
      if (seqs.length === 3_000) all.resolve()
    })
    await engine.create(Array.from({ length: 3_000 }, (_, index) => ({ name: `${index}` })))
    gate.resolve()
    await all.promise
    expect(seqs).toEqual(Array.from({ length: 3_000 }, (_, index) => index + 1))
  })

  it('S3-078 engine.subscribe is needed for no other function', async () => {
    const engine = await openEngine({ executors: { work: () => 'done' } })
    expect(await engine.result(await engine.create({ executor: 'work' }))).toBe('done')
  })

  it('engine.subscribe refuses an unknown type of event', async () => {
    const engine = await openEngine()
    await refusalOf(async () => engine.subscribe('task.exploded' as never, () => {}), 'INVALID_INPUT')
  })
})

describe('engine.events', () => {
  it('X-009 engine.events replays from the start or from a position, then follows, without a gap', async () => {
    const engine = await openEngine()
    const [one] = await engine.create([{ name: 'one' }, { name: 'two' }])
    const seen: number[] = []
    const stop = new AbortController()
    const following = (async () => {
      for await (const { seq } of engine.events({ after: 1, signal: stop.signal })) {
        seen.push(seq)
        if (seq === 4) stop.abort()
      }
    })()
    await engine.start(one!)
    await engine.complete(one!)
    await following
    expect(seen).toEqual([2, 3, 4])
    expect((await collect(engine.events({ follow: false, after: 3 }))).map(({ seq }) => seq)).toEqual([4])
  })

  it.each([
    ['all tasks', false],
    ['one task', true],
  ])(
    'X-009 engine.events misses nothing of %s, however far and how often its reader falls behind',
    async (_of, single) => {
      const engine = await openEngine()
      const { id: taskId } = await engine.create({ name: 'busy' })
      const { seq: from } = await engine.bus.call('event:list', {})
      const until = new AbortController()
      const received: number[] = []
      const reader = engine.events({ after: from, signal: until.signal, ...(single ? { taskId } : {}) })
      // Fewer than are kept for a reader, more, and again while it catches up.
      for (const [n, burst] of [1, 10, 1_500, 3, 2_600, 999, 1_001, 1].entries()) {
        await Promise.all(Array.from({ length: burst }, (_, each) => engine.update(taskId, { priority: each })))
        await engine.create({ name: 'other' })
        for (let more = n % 2 === 0 ? burst : Math.ceil(burst / 3); more > 0; more--) {
          received.push(((await reader.next()).value as TaskEvent).seq)
        }
      }
      const all = (await collect(engine.events({ after: from, follow: false, ...(single ? { taskId } : {}) }))).map(
        ({ seq }) => seq,
      )
      while (received.length < all.length) received.push(((await reader.next()).value as TaskEvent).seq)
      expect(received).toEqual(all)
      const next = reader.next()
      await engine.update(taskId, { name: 'calm' })
      expect((await next).value).toMatchObject({ type: 'task.updated', data: { name: 'calm' } })
      until.abort()
      expect((await reader.next()).done).toBe(true)
    },
  )

  it('engine.events leaves no listener on the signal of a reader that reads page after page while the feed is quiet', async () => {
    const engine = await openEngine({ work: false })
    for (let batch = 0; batch < 3; batch++) {
      await engine.create(Array.from({ length: 1_000 }, () => ({ name: 'a' })))
    }
    const until = new AbortController()
    const reader = engine.events({ after: 0, signal: until.signal })
    for (let read = 0; read < 3_000; read++) await reader.next()
    expect(getEventListeners(until.signal, 'abort').length).toBeLessThanOrEqual(1)
    const next = reader.next()
    until.abort()
    expect((await next).done).toBe(true)
    expect(getEventListeners(until.signal, 'abort')).toEqual([])
  })

  it('S3-019 engine.events gives each reader events of its own', async () => {
    const engine = await openEngine()
    const readers = [engine.events(), engine.events()]
    const live = readers.map((reader) => reader.next())
    await engine.create({ name: 'a' })
    const [first] = await Promise.all(live)
    ;((first as IteratorResult<TaskEvent>).value as TaskEvent).data['name'] = 'changed'
    await engine.create({ name: 'b' })
    const seconds = await Promise.all(readers.map((reader) => reader.next()))
    expect(seconds.map(({ value }) => (value as TaskEvent).data['name'])).toEqual(['b', 'b'])
    expect((await collect(engine.events({ follow: false })))[0]?.data['name']).toBe('a')
  })

  it('engine.events ends when the engine is closed, and with its signal', async () => {
    const engine = await openEngine()
    await engine.create({ name: 'a' })
    const until = engine.events()
    expect((await until.next()).value).toMatchObject({ type: 'task.created' })
    const end = until.next()
    const stop = new AbortController()
    const aborted = collect(engine.events({ after: 1, signal: stop.signal }))
    stop.abort()
    expect(await aborted).toEqual([])
    await engine.close()
    expect((await end).done).toBe(true)
  })

  it('engine.events yields the events of another engine on the same ledger', async () => {
    const ledger = ledgerFile()
    const engine = await openEngine({ ledger, work: false })
    const other = await openEngine({ ledger, work: false })
    const received = Promise.withResolvers<TaskEvent>()
    engine.subscribe('task.created', (event) => received.resolve(event))
    const task = await other.create({ name: 'of the other' })
    expect(await received.promise).toMatchObject({ taskId: task.id, instanceId: other.instanceId })
  })
})
