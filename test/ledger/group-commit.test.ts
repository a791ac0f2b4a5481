// Group commit without a database: which steps share a group, the outcome that each caller receives, and the retries of a busy ledger.
import { expect, it, onTestFinished } from 'vitest'
import { ErrandError } from '../../src/core/errors.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import {
  CommitFailed,
  GroupCommit,
  LedgerBusy,
  LedgerObservers,
  type QueuedStep,
} from '../../src/ledger/group-commit.ts'
import type { Step } from '../../src/ledger/ledger.ts'
import { openLedger, SimulatedClock } from '../../src/testing/index.ts'
import { eventRow, taskRow } from './factories.ts'

/** `run` replaces the database: it receives the names of the steps of a group, may return those that it has run, by default all, and may throw. */
function setup(run: (names: string[], time: number) => unknown = () => undefined) {
  const clock = new SimulatedClock(0)
  const groups: string[][] = []
  const delays: number[] = []
  const commits = new GroupCommit(
    {
      runGroup(group: readonly QueuedStep[]) {
        const names = group.map((queued) => queued.step.name)
        const done = run(names, groups.push(names))
        return {
          outcomes: (Array.isArray(done) ? (done as string[]) : names).map((value) => ({ ok: true as const, value })),
          events: [],
        }
      },
    },
    new LedgerObservers(),
    {
      now: () => clock.now(),
      setTimeout(fn, ms) {
        delays.push(ms)
        return clock.setTimeout(fn, ms)
      },
      clearTimeout: (id) => clock.clearTimeout(id),
    },
    () => 0.5,
  )
  const add = (name: string) => commits.add<string>({ name, decide: function* () {} as never })
  return { clock, groups, delays, commits, add }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

it('GroupCommit puts the steps of one turn of the event loop into one group, and later ones into another', async () => {
  const { groups, add } = setup()
  const first = [add('a'), add('b')]
  await Promise.resolve()
  first.push(add('c'))
  expect(await Promise.all(first)).toEqual(['a', 'b', 'c'])
  await add('d')
  expect(groups).toEqual([['a', 'b', 'c'], ['d']])
})

it('GroupCommit puts the steps that are decided last at the end of their group', async () => {
  const { commits, groups, add } = setup()
  const admission = { name: 'admission', decide: function* () {} as never, last: true } as const
  const added = [add('a'), commits.add<string>(admission), add('b')]
  expect(await Promise.all(added)).toEqual(['a', 'admission', 'b'])
  expect(groups).toEqual([['a', 'b', 'admission']])
})

it('GroupCommit does not put later steps before one that is decided last when its group was cut', async () => {
  const { commits, groups, add } = setup((names) => names.slice(0, 2))
  const admission = { name: 'admission', decide: function* () {} as never, last: true } as const
  const later: Array<Promise<string>> = []
  const first = add('a').then(() => later.push(add('d'), add('e')))
  await Promise.all([first, commits.add<string>(admission), add('b'), add('c')])
  await Promise.all(later)
  expect(groups).toEqual([
    ['a', 'b', 'c', 'admission'],
    ['c', 'admission'],
    ['d', 'e'],
  ])
})

it('GroupCommit limits a group to a thousand steps', async () => {
  const { groups, add } = setup()
  await Promise.all(Array.from({ length: 2_500 }, (_, n) => add(String(n))))
  expect(groups.map((group) => group.length)).toEqual([1_000, 1_000, 500])
})

it('GroupCommit leaves the rest of a group to the next one when its time is over', async () => {
  const clock = new SimulatedClock()
  const ledger = await openLedger(':memory:', clock)
  onTestFinished(() => ledger.close())
  const log: string[] = []
  const add = (name: string) =>
    ledger
      .step({
        name,
        *decide(tx) {
          clock.increment(100)
          log.push(name)
          yield* tx.setting.put(name, name)
          if (name === 'b') throw new Error('refused')
        },
      })
      .then(
        () => log.push(`${name} committed`),
        () => log.push(`${name} refused`),
      )
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(add))
  expect(log.join()).toBe('a,b,c,a committed,b refused,c committed,d,e,d committed,e committed')
})

it('GroupCommit retries a busy ledger after growing delays with jitter, of at most 100 ms', async () => {
  const { clock, groups, delays, add } = setup((_names, time) => {
    if (time <= 6) throw new LedgerBusy()
  })
  const waiting = add('a')
  await turn()
  expect(groups.length).toBe(1)
  // Later steps are queued meanwhile.
  const later = add('b')
  while (clock.pending > 0) {
    clock.increment(100)
    await turn()
  }
  expect([await waiting, await later]).toEqual(['a', 'b'])
  expect(delays).toEqual([4, 8, 16, 32, 50, 50])
  expect(groups.slice(0, 7)).toEqual(Array.from({ length: 7 }, () => ['a']))
  expect(groups[7]).toEqual(['b'])
})

it('events of a step that is refused after its group was rolled back are not published', async () => {
  const ledger = await openLedger(':memory:')
  onTestFinished(() => ledger.close())
  const published: string[] = []
  const committed = (events: readonly TaskEvent[]) => void published.push(...events.map(({ taskId }) => taskId))
  ledger.observe({ committed, changed() {}, failed() {} }, { watchOthers: false })
  const add = (taskId: string, isRefused: boolean): Step<void> => ({
    name: taskId,
    *decide(tx) {
      yield* tx.task.insert(taskRow({ id: taskId }))
      yield* tx.event.append(eventRow({ taskId }))
      // The database refuses it, so the whole group is repeated.
      if (isRefused) yield* tx.task.insert(taskRow({ id: taskId }))
    },
  })
  const outcomes = await Promise.allSettled([
    ledger.step(add('a', false)),
    ledger.step(add('b', true)),
    ledger.step(add('c', false)),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(published).toEqual(['a', 'c'])
})

it('GroupCommit refuses a step with LEDGER_BUSY after ten seconds, and waits as long for the next step', async () => {
  let busy = true
  const { clock, add } = setup(() => {
    if (busy) throw new LedgerBusy()
  })
  const refused = expect(add('a')).rejects.toMatchObject({ code: 'LEDGER_BUSY' })
  await turn()
  while (clock.pending > 0) {
    clock.increment(100)
    await turn()
  }
  await refused
  expect(clock.now()).toBeGreaterThan(10_000)
  busy = false
  expect(await add('b')).toBe('b')
})

it('GroupCommit rejects all steps of a group when its commit or its writes fail', async () => {
  const failures: Array<[Error, string]> = [
    [new CommitFailed('disk I/O error'), 'OUTCOME_UNKNOWN'],
    [new Error('disk full'), 'LEDGER_WRITE_FAILED'],
    [new ErrandError('LEDGER_CORRUPT', 'damaged'), 'LEDGER_CORRUPT'],
  ]
  for (const [failure, code] of failures) {
    let broken = true
    const { add } = setup(() => {
      if (broken) throw failure
    })
    const outcomes = await Promise.allSettled([add('a'), add('b')])
    expect(outcomes).toMatchObject([{ reason: { code } }, { reason: { code } }])
    broken = false
    expect(await add('c')).toBe('c')
  }
})

it('GroupCommit waits on close for a step that is being retried', async () => {
  const { clock, commits, add } = setup((_names, time) => {
    if (time === 1) throw new LedgerBusy()
  })
  const waiting = add('a')
  await turn()
  let closed = false
  const closing = commits.close().then(() => (closed = true))
  await turn()
  expect(closed).toBe(false)
  clock.increment(100)
  expect(await waiting).toBe('a')
  await closing
  await expect(add('b')).rejects.toMatchObject({ code: 'ENGINE_CLOSED' })
})

it('GroupCommit waits equally long for a busy ledger when the wall clock jumps', async () => {
  const { clock, add } = setup((_names, time) => {
    if (time <= 3) throw new LedgerBusy(50)
  })
  const waiting = add('a')
  await turn()
  clock.jumpTo(clock.now() + 3_600_000)
  while (clock.pending > 0) {
    clock.increment(100)
    await turn()
  }
  expect(await waiting).toBe('a')
})

it('GroupCommit closes within its bound and refuses the steps that still wait for the lock, after one last attempt', async () => {
  const { clock, groups, commits, add } = setup((names) => {
    if (!names.includes('free')) throw new LedgerBusy(50)
  })
  const waiting = expect(add('a')).rejects.toMatchObject({ code: 'LEDGER_BUSY' })
  await turn()
  const queued = expect(Promise.all(Array.from({ length: 1_500 }, () => add('b')))).rejects.toMatchObject({
    code: 'LEDGER_BUSY',
  })
  const closing = commits.close(100)
  while (clock.pending > 0) {
    clock.increment(1)
    await turn()
  }
  await Promise.all([waiting, queued, closing])
  expect(clock.now()).toBeLessThan(100)
  expect(groups.filter(([name]) => name === 'b').length).toBe(2)
})

it('GroupCommit queues the steps again, first, that were not in the transaction whose outcome is unknown', async () => {
  const { groups, add } = setup((_names, time) => {
    if (time === 1) throw new CommitFailed('the connection was lost').of(2)
  })
  const [a, b, c] = await Promise.allSettled([add('a'), add('b'), add('c')])
  expect([a, b].map((each) => (each as PromiseRejectedResult).reason.code)).toEqual([
    'OUTCOME_UNKNOWN',
    'OUTCOME_UNKNOWN',
  ])
  expect(c).toMatchObject({ status: 'fulfilled', value: 'c' })
  expect(groups).toEqual([['a', 'b', 'c'], ['c']])
})
