// Schedules: tasks that are made at certain times, on a clock that only the test moves.
import { describe, expect, it } from 'vitest'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { ledgerFile, openEngine, puppet, refusalOf } from '../engine/world.ts'
import { scheduleOf, scheduleWorld, start, ticksOf } from './schedule-world.ts'

const task = { executor: 'work' }
const hour = 3_600_000

describe('a schedule', () => {
  it('makes a task at each of its times, under a key of the schedule and the time', async () => {
    const { clock, engine } = await scheduleWorld()
    await engine.schedules.put({ name: 'daily', cron: '0 9 * * *', timezone: 'Europe/Berlin', task })
    await engine.schedules.put({ name: 'often', every: '2h', task: { executor: 'work', input: { a: 1 } } })
    await clock.advance('1d')
    expect(await ticksOf(engine, 'daily')).toEqual(['2030-01-01T08:00:00.000Z'])
    expect(await ticksOf(engine, 'often')).toEqual(
      Array.from({ length: 12 }, (_, at) => new Date(start + (at + 1) * 2 * hour).toISOString()),
    )
    const { tasks } = await engine.list({ keyPrefix: 'schedule:often:' })
    expect(tasks[0]).toMatchObject({ status: 'completed', result: 'done', input: { a: 1 } })
  })

  it('creates the whole tree of its template each time', async () => {
    const { clock, engine } = await scheduleWorld()
    const tasks = { build: task, test: { ...task, after: 'build' } }
    await engine.schedules.put({ name: 'nightly', every: '1d', task: { name: 'Nightly', tasks } })
    await clock.advance('2d')
    const roots = await engine.list({ keyPrefix: 'schedule:nightly:' })
    expect(roots.tasks).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
    for (const root of roots.tasks) {
      expect((await engine.children(root)).map(({ name, status }) => [name, status])).toEqual([
        ['build', 'completed'],
        ['test', 'completed'],
      ])
    }
  })

  it('shows its next three times, and what its latest tick led to', async () => {
    const { clock, engine } = await scheduleWorld()
    const put = await engine.schedules.put({ name: 'hourly', cron: '0 * * * *', task })
    expect(put.schedule).toMatchObject({ next: [1, 2, 3].map((n) => start + n * hour), last: null, latest: null })
    await clock.advance('1h')
    expect(await scheduleOf(engine, 'hourly')).toMatchObject({
      next: [2, 3, 4].map((n) => start + n * hour),
      last: { tick: start + hour, at: start + hour, outcome: 'created' },
      latest: { status: 'completed' },
      task: { name: 'work', executor: 'work', goal: null },
    })
  })

  it('makes no tasks while it is paused, and none afterwards for that time', async () => {
    const { clock, engine } = await scheduleWorld()
    await engine.schedules.put({ name: 'hourly', every: '1h', task })
    await clock.advance('90m')
    expect((await engine.schedules.pause({ name: 'hourly' })).schedule).toMatchObject({ paused: true, next: [] })
    await clock.advance('4h')
    const { schedule } = await engine.schedules.resume({ name: 'hourly' })
    expect(schedule.next[0]).toBe(start + 6 * hour)
    await clock.advance('1h')
    expect(await ticksOf(engine, 'hourly')).toEqual(['2030-01-01T01:00:00.000Z', '2030-01-01T06:00:00.000Z'])
  })

  it('keeps its place when it is put again, and begins anew when its times change', async () => {
    const { clock, engine } = await scheduleWorld()
    await engine.schedules.put({ name: 'work', every: '1h', task })
    await clock.advance('90m')
    await engine.schedules.pause({ name: 'work' })
    await engine.schedules.put({ name: 'work', every: '1h', overlap: 'allow', task: { executor: 'work', name: 'New' } })
    expect(await scheduleOf(engine, 'work')).toMatchObject({ paused: true, overlap: 'allow', task: { name: 'New' } })
    await engine.schedules.resume({ name: 'work' })
    expect((await scheduleOf(engine, 'work')).next[0]).toBe(start + 2 * hour)
    const { schedule } = await engine.schedules.put({ name: 'work', every: '5h', task })
    expect(schedule).toMatchObject({ next: [start + 6.5 * hour, {}, {}], last: { tick: start + hour } })
  })

  it('is triggered by hand, also while it is paused, and keeps its times', async () => {
    const { clock, engine } = await scheduleWorld()
    await engine.schedules.put({ name: 'weekly', every: '1w', task })
    await engine.schedules.pause({ name: 'weekly' })
    await clock.advance('1h')
    const { outcome, taskId } = await engine.schedules.trigger({ name: 'weekly' })
    expect(outcome).toBe('created')
    expect(await engine.result(taskId)).toBe('done')
    await engine.schedules.resume({ name: 'weekly' })
    expect((await scheduleOf(engine, 'weekly')).next[0]).toBe(start + 7 * 24 * hour)
  })

  it('makes a task for each trigger, also for two in one millisecond', async () => {
    const hands = puppet()
    const { engine } = await scheduleWorld({ executors: { work: hands.executor } })
    await engine.schedules.put({ name: 'slow', every: '1h', overlap: 'replace', task })
    for (let n = 0; n < 2; n++) await engine.schedules.trigger({ name: 'slow' })
    const { tasks } = await engine.list({ keyPrefix: 'schedule:slow:' })
    expect(tasks.map(({ status, statusReason }) => [status, statusReason])).toEqual([
      ['canceled', 'replaced by schedule:slow:2030-01-01T00:00:00.001Z'],
      ['working', null],
    ])
    for (const { end } of hands.runs) end.resolve('done')
  })

  it('keeps the task of a trigger that has come at the time of a tick', async () => {
    const hands = puppet()
    const { clock, engine } = await scheduleWorld({ executors: { work: hands.executor }, work: false })
    await engine.schedules.put({ name: 'slow', every: '1h', overlap: 'replace', task })
    clock.increment(hour)
    await engine.schedules.trigger({ name: 'slow' })
    await engine.work()
    await hands.started(0)
    while ((await scheduleOf(engine, 'slow')).next[0] !== start + 2 * hour) {
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(await scheduleOf(engine, 'slow')).toMatchObject({ latest: { status: 'working' } })
    hands.runs[0]?.end.resolve('done')
  })

  it('makes what was triggered while it was paused also when it is resumed before that', async () => {
    const hands = puppet()
    const { clock, engine } = await scheduleWorld({ executors: { work: hands.executor } })
    await engine.schedules.put({ name: 'slow', every: '1h', overlap: 'queue', task })
    await engine.schedules.trigger({ name: 'slow' })
    await hands.started(0)
    await engine.schedules.pause({ name: 'slow' })
    clock.increment(1_000)
    expect(await engine.schedules.trigger({ name: 'slow' })).toMatchObject({ outcome: 'queued' })
    await engine.schedules.resume({ name: 'slow' })
    hands.runs[0]?.end.resolve('done')
    await hands.started(1)
    hands.runs[1]?.end.resolve('done')
  })

  it.each([
    ['a time of cron', { cron: '0 * * * *' }],
    ['an interval', { every: '1h' }],
  ] as const)(
    'has its next time from now on when it is resumed after the clock was set back: %s',
    async (_what, times) => {
      const { clock, engine } = await scheduleWorld()
      await engine.schedules.put({ name: 'hourly', ...times, task })
      clock.jumpTo(start + 100_000 * hour)
      await clock.advance('5s')
      clock.jumpTo(start + 2.5 * hour)
      await engine.schedules.pause({ name: 'hourly' })
      const { schedule } = await engine.schedules.resume({ name: 'hourly' })
      expect(schedule.next[0]).toBe(start + 3 * hour)
    },
  )

  it('makes the tasks of past times once', async () => {
    const { clock, engine } = await scheduleWorld()
    await engine.schedules.put({ name: 'hourly', cron: '0 * * * *', task })
    await clock.advance('2h')
    const past = { name: 'hourly', from: start - 3 * hour, to: start + 2 * hour }
    expect(await engine.schedules.backfill(past)).toEqual({ ticks: 6, created: 4 })
    expect(await engine.schedules.backfill(past)).toEqual({ ticks: 6, created: 0 })
    expect(await ticksOf(engine, 'hourly')).toHaveLength(6)
    const year = { name: 'hourly', from: start - 365 * 24 * hour, to: start }
    const refusal = await refusalOf(engine.schedules.backfill(year), 'LIMIT_EXCEEDED')
    expect(refusal.details).toMatchObject({ value: 1_000, to: year.from + 999 * hour })
    await refusalOf(engine.schedules.backfill({ ...past, to: start + 3 * hour }), 'INVALID_INPUT')
  })

  it('is removed, and its tasks stay', async () => {
    const { clock, engine } = await scheduleWorld()
    await engine.schedules.put({ name: 'hourly', every: '1h', task })
    await clock.advance('1h')
    expect(await engine.schedules.remove({ name: 'hourly' })).toEqual({ removed: true })
    expect(await engine.schedules.remove({ name: 'hourly' })).toEqual({ removed: false })
    await clock.advance('5h')
    expect(await ticksOf(engine, 'hourly')).toHaveLength(1)
    expect((await engine.schedules.list({})).schedules).toEqual([])
    await refusalOf(engine.schedules.pause({ name: 'hourly' }), 'NOT_FOUND')
  })

  it('spreads its tasks by the jitter, each before the next time', async () => {
    const { clock, engine } = await scheduleWorld()
    await engine.schedules.put({ name: 'spread', every: '1h', jitterMs: '3h', task })
    await clock.advance('2d')
    const { tasks } = await engine.list({ keyPrefix: 'schedule:spread:', limit: 100 })
    const delays = tasks.map(({ key, createdAt }) => createdAt - Date.parse((key as string).slice(16)))
    expect(delays.every((delay) => delay >= 0 && delay < hour)).toBe(true)
    expect(new Set(delays).size).toBeGreaterThan(40)
    expect(tasks.length).toBeGreaterThanOrEqual(47)
  })

  it('is stored as the redaction leaves it', async () => {
    const ledger = await openLedger(':memory:')
    const redact = (value: unknown) => (typeof value === 'string' ? value.replaceAll('secret', '***') : value)
    const { clock, engine } = await scheduleWorld({ ledger, redact })
    const template = { ...task, name: 'a secret', input: { b: ['secret'] }, metadata: { c: 'secret' } }
    await engine.schedules.put({ name: 'hourly', every: '1h', task: template })
    expect(JSON.stringify(await ledger.read((tx) => tx.schedule.get('hourly')))).not.toContain('secret')
    await clock.advance('1h')
    const { tasks } = await engine.list({ keyPrefix: 'schedule:hourly:' })
    expect(tasks).toMatchObject([{ name: 'a ***', input: { b: ['***'] }, metadata: { c: '***' } }])
  })

  it('goes on after a task that cannot be created, and says why', async () => {
    const ledger = ledgerFile()
    const { clock, engine } = await scheduleWorld({ ledger, maxDepth: 1 })
    const other = await openEngine({ ledger, clock, work: false })
    const deep = { name: 'Deep', tasks: { below: { name: 'Lower', tasks: { lowest: task } } } }
    await refusalOf(engine.schedules.put({ name: 'deep', every: '1h', task: deep }), 'LIMIT_EXCEEDED')
    await other.schedules.put({ name: 'deep', every: '1h', task: deep })
    await engine.schedules.put({ name: 'flat', every: '1h', task })
    await clock.advance('2h')
    expect(await scheduleOf(engine, 'deep')).toMatchObject({
      last: { tick: start + 2 * hour, outcome: 'refused', error: { code: 'LIMIT_EXCEEDED' } },
      next: [start + 3 * hour, {}, {}],
    })
    expect(await ticksOf(engine, 'deep')).toEqual([])
    expect(await ticksOf(engine, 'flat')).toHaveLength(2)
  })
})

describe('a tick while the task before is open', () => {
  async function overlapping(overlap: 'skip' | 'queue' | 'replace' | 'allow') {
    const hands = puppet()
    const { clock, engine } = await scheduleWorld({ executors: { work: hands.executor } })
    await engine.schedules.put({ name: 'slow', every: '1h', overlap, task })
    clock.increment(hour)
    await hands.started(0)
    clock.increment(hour)
    const decided = async (outcome: string) => {
      for (;;) {
        const { last } = await scheduleOf(engine, 'slow')
        if (last?.outcome === outcome && last.tick === start + 2 * hour) return
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
    }
    return { hands, clock, engine, decided }
  }
  const statuses = async (engine: Awaited<ReturnType<typeof overlapping>>['engine']) =>
    (await engine.list({ keyPrefix: 'schedule:slow:' })).tasks.map(({ status }) => status)

  it('is skipped', async () => {
    const { hands, engine, clock, decided } = await overlapping('skip')
    await decided('skipped')
    hands.runs[0]?.end.resolve('done')
    await engine.idle()
    expect(await statuses(engine)).toEqual(['completed'])
    clock.increment(hour)
    await hands.started(1)
    expect(await statuses(engine)).toEqual(['completed', 'working'])
    hands.runs[1]?.end.resolve('done')
  })

  it('waits for its end, one tick at most', async () => {
    const { hands, engine, clock, decided } = await overlapping('queue')
    await decided('queued')
    clock.increment(hour)
    while ((await scheduleOf(engine, 'slow')).last?.outcome !== 'skipped') {
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(await statuses(engine)).toEqual(['working'])
    hands.runs[0]?.end.resolve('done')
    await hands.started(1)
    expect(await ticksOf(engine, 'slow')).toEqual(['2030-01-01T01:00:00.000Z', '2030-01-01T02:00:00.000Z'])
    hands.runs[1]?.end.resolve('done')
    await engine.idle()
    expect(await statuses(engine)).toEqual(['completed', 'completed'])
  })

  it('replaces it', async () => {
    const { hands, engine, decided } = await overlapping('replace')
    await decided('created')
    await hands.started(1)
    expect(await statuses(engine)).toEqual(['canceled', 'working'])
    hands.runs[1]?.end.resolve('done')
  })

  it('makes a task beside it', async () => {
    const { hands, engine, decided } = await overlapping('allow')
    await decided('created')
    await hands.started(1)
    expect(await statuses(engine)).toEqual(['working', 'working'])
    for (const { end } of hands.runs) end.resolve('done')
  })
})

describe('ticks that passed while no engine worked', () => {
  it.each([
    ['one', ['2030-01-01T05:00:00.000Z']],
    ['none', []],
  ] as const)('lead to %s', async (catchUp, ticks) => {
    const { clock, engine } = await scheduleWorld({ work: false })
    await engine.schedules.put({ name: 'hourly', cron: '0 * * * *', catchUp, task })
    clock.increment(5.5 * hour)
    await engine.work()
    await clock.advance('1m')
    expect(await ticksOf(engine, 'hourly')).toEqual(ticks)
    const outcome = catchUp === 'one' ? 'created' : 'missed'
    expect((await scheduleOf(engine, 'hourly')).last).toMatchObject({ outcome, tick: start + 5 * hour })
    await clock.advance('30m')
    expect(await ticksOf(engine, 'hourly')).toEqual([...ticks, '2030-01-01T06:00:00.000Z'])
  })

  it('are made up for once when the clock jumps forward by years', async () => {
    const { clock, engine } = await scheduleWorld()
    await engine.schedules.put({ name: 'often', cron: '*/10 * * * * *', task })
    clock.jumpTo(Date.UTC(2033, 5, 1))
    await clock.advance('5s')
    expect(await ticksOf(engine, 'often')).toEqual(['2033-06-01T00:00:00.000Z'])
  })
})

describe('a schedule that cannot be', () => {
  it.each([
    ['a day that does not exist', { cron: '0 0 31 2 *' }, 'never come'],
    ['an unknown zone', { cron: '0 9 * * *', timezone: 'Europe/Berlim' }, 'Did you mean "Europe/Berlin"?'],
    ['a field out of range', { cron: '61 * * * *' }, 'Invalid value for minute: 61'],
    ['too few fields', { cron: '* * *' }, '"0 9 * * 1-5" is 9:00 from Monday to Friday'],
    ['a single time', { cron: '2031-01-01T00:00:00' }, 'is not a cron expression'],
    ['neither cron nor every', {}, 'expected either `cron`'],
    ['both', { cron: '0 9 * * *', every: '1h' }, 'expected either `cron`'],
    ['a zone without cron', { every: '1h', timezone: 'Europe/Berlin' }, '`timezone` only with `cron`'],
  ] as const)('is refused when it is put: %s', async (_what, times, message) => {
    const { engine } = await scheduleWorld()
    const refusal = await refusalOf(engine.schedules.put({ name: 'x', task, ...times }), 'INVALID_INPUT')
    expect(refusal.message).toContain(message)
    expect((await engine.schedules.list({})).schedules).toEqual([])
  })

  it('is refused for an unknown executor, and for what only one task can have', async () => {
    const { engine } = await scheduleWorld()
    const every = '1h'
    await refusalOf(engine.schedules.put({ name: 'x', every, task: { executor: 'wrok' } }), 'UNKNOWN_EXECUTOR')
    const keyed = { name: 'x', every, task: { ...task, key: 'mine' } }
    await refusalOf(engine.bus.call('schedules:put', keyed as never), 'INVALID_INPUT')
    await refusalOf(engine.schedules.put({ name: 'x', every, task: { ...task, notifyParent: true } }), 'INVALID_INPUT')
  })
})
