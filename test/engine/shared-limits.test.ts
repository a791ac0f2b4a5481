import { describe, expect, it } from 'vitest'
import type { Task } from '../../src/entities/task.ts'
import { ledgerFile, openEngine, puppet, refusalOf, turns } from './world.ts'

/** Counts the open runs, over all engines with this executor. */
function counted() {
  const count = { open: 0, most: 0, engines: new Set<string>() }
  const executorOf = (engine: string) => async () => {
    count.engines.add(engine)
    count.most = Math.max(count.most, ++count.open)
    await turns(3)
    count.open--
  }
  return { count, executorOf }
}

const many = (length: number, executor = 'work') => Array.from({ length }, () => ({ executor }) as never)

describe('the limits of one engine', () => {
  it('S3-047 the limits of one engine are lowered without ending a run, and raised with waiting tasks starting at once', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor }, maxConcurrent: 3 })
    await engine.create(many(8))
    await hands.started(2)
    expect((await engine.setLimits({ maxConcurrent: 1 })).engine).toEqual({ maxConcurrent: 1, limits: {} })
    expect(hands.runs.map(({ run }) => run.signal.aborted)).toEqual([false, false, false])
    expect(engine.status.get().context.slots).toMatchObject({ used: 3, maxConcurrent: 1, free: 0 })
    for (const ended of [0, 1]) {
      hands.runs[ended]?.end.resolve(null)
      await turns()
      expect(hands.runs, 'above the limit, nothing starts').toHaveLength(3)
    }
    hands.runs[2]?.end.resolve(null)
    await hands.started(3)
    await turns()
    expect(hands.runs).toHaveLength(4)
    await engine.setLimits({ maxConcurrent: 3 })
    await hands.started(5)
    await turns()
    expect(hands.runs).toHaveLength(6)
    await engine.setLimits({ maxConcurrent: 10 })
    await hands.started(7)
  })

  it('S3-047 the limits of one engine of single executors are set and removed, beside the others', async () => {
    const [busy, calm] = [puppet(), puppet()]
    const engine = await openEngine({ executors: { busy: busy.executor, calm: calm.executor }, limits: { busy: 1 } })
    await engine.create([...many(4, 'busy'), ...many(2, 'calm')])
    await busy.started(0)
    await calm.started(1)
    await turns()
    expect(busy.runs).toHaveLength(1)
    expect((await engine.setLimits({ limits: { busy: 2, calm: 1 } })).engine.limits).toEqual({ busy: 2, calm: 1 })
    await busy.started(1)
    await turns()
    expect(busy.runs).toHaveLength(2)
    expect(calm.runs.map(({ run }) => run.signal.aborted)).toEqual([false, false])
    expect((await engine.setLimits({ limits: { busy: null } })).engine.limits).toEqual({ calm: 1 })
    await busy.started(3)
    const unknown = await refusalOf(engine.setLimits({ limits: { buzy: 1 } as never }), 'UNKNOWN_EXECUTOR')
    expect(unknown.message).toContain('busy')
  })
})

describe('limits shared by engines', () => {
  it('limits shared by engines are absent until they are set, are stored in the ledger, and are removed with null', async () => {
    const ledger = ledgerFile()
    const executors = { work: async () => null }
    const first = await openEngine({ ledger, executors })
    expect((await first.limits()).shared).toEqual({ maxConcurrent: null, limits: {} })
    await first.setSharedLimits({ maxConcurrent: 3, limits: { work: 2, other: 1 } })
    const second = await openEngine({ ledger, work: false })
    expect((await second.limits()).shared).toEqual({ maxConcurrent: 3, limits: { work: 2, other: 1 } })
    await second.setSharedLimits({ maxConcurrent: null, limits: { other: null } })
    expect((await first.limits()).shared).toEqual({ maxConcurrent: null, limits: { work: 2 } })
    await refusalOf(first.setSharedLimits({ maxConcurrent: 0 }), 'INVALID_INPUT')
  })

  it.each([1, 2, 3])(
    'limits shared by engines are never exceeded and never leave a slot empty for good, by %i engines',
    async (engines) => {
      const ledger = ledgerFile()
      const { count, executorOf } = counted()
      const opened = await Promise.all(
        Array.from({ length: engines }, (_, index) =>
          openEngine({ ledger, executors: { work: executorOf(`engine ${index}`) }, maxConcurrent: 5 }),
        ),
      )
      const [first] = opened as [(typeof opened)[0]]
      await first.setSharedLimits({ maxConcurrent: 3 })
      await first.create(many(60))
      await Promise.all(opened.map((engine) => engine.idle()))
      expect(await first.list({ status: 'completed', limit: 0 })).toMatchObject({ total: 60 })
      expect(count.most).toBe(3)
    },
  )

  it('limits shared by engines of single executors apply to all engines together, and delay nothing else', async () => {
    const ledger = ledgerFile()
    const narrow = counted()
    const wide = counted()
    const opened = await Promise.all(
      ['a', 'b'].map((name) =>
        openEngine({ ledger, executors: { narrow: narrow.executorOf(name), wide: wide.executorOf(name) } }),
      ),
    )
    const [first] = opened as [(typeof opened)[0]]
    await first.setSharedLimits({ limits: { narrow: 1 } })
    await first.create([...many(15, 'narrow'), ...many(30, 'wide')])
    await Promise.all(opened.map((engine) => engine.idle()))
    expect(narrow.count.most).toBe(1)
    expect(wide.count.most).toBeGreaterThan(3)
  })

  it('S3-047 limits shared by engines are lowered without ending a run; raised or removed they wake what waits in every engine', async () => {
    const ledger = ledgerFile()
    const [ours, theirs] = [puppet(), puppet()]
    const first = await openEngine({ ledger, executors: { ours: ours.executor } })
    const second = await openEngine({ ledger, executors: { theirs: theirs.executor } })
    await first.setSharedLimits({ maxConcurrent: 2 })
    await first.create(many(4, 'ours').slice(0, 1))
    await second.create(many(1, 'theirs'))
    const [mine, other] = [await ours.started(0), await theirs.started(0)]
    await first.setSharedLimits({ maxConcurrent: 1 })
    await second.create(many(4, 'theirs'))
    expect([mine.run.signal.aborted, other.run.signal.aborted]).toEqual([false, false])
    other.end.resolve(null)
    await second.settled(other.task.id)
    await turns(30)
    expect(theirs.runs, 'the other engine’s run fills the only place').toHaveLength(1)
    await first.setSharedLimits({ maxConcurrent: 3 })
    await theirs.started(2)
    await turns(30)
    expect(theirs.runs).toHaveLength(3)
    await first.setSharedLimits({ maxConcurrent: null })
    await theirs.started(4)
    expect(mine.run.signal.aborted).toBe(false)
  })

  it('limits shared by engines let the other engine take a freed slot', async () => {
    const ledger = ledgerFile()
    const hands = puppet()
    const first = await openEngine({ ledger, executors: { ours: hands.executor } })
    const second = await openEngine({ ledger, executors: { theirs: async () => 'taken' } })
    await first.setSharedLimits({ maxConcurrent: 1 })
    for (let round = 0; round < 3; round++) {
      await first.create(many(1, 'ours'))
      const held = await hands.started(round)
      const [waiting] = (await second.create(many(1, 'theirs'))) as unknown as [Task]
      held.end.resolve(null)
      expect(await second.result(waiting.id)).toBe('taken')
    }
  })
})
