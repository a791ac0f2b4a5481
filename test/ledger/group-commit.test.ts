// Group commit by itself: which steps share a group, what each caller is told, and how a busy ledger is tried again.
import { expect, it } from 'vitest'
import { ErrandError } from '../../src/core/errors.ts'
import {
  CommitFailed,
  GroupCommit,
  LedgerBusy,
  LedgerObservers,
  type QueuedStep,
} from '../../src/ledger/group-commit.ts'
import { SimulatedClock } from '../../src/testing/index.ts'

/** `run` stands for the database: it answers for a group of step names, or throws. */
function setup(run: (names: string[], time: number) => void = () => undefined) {
  const clock = new SimulatedClock(0)
  const groups: string[][] = []
  const delays: number[] = []
  const commits = new GroupCommit(
    {
      runGroup(group: readonly QueuedStep[]) {
        const names = group.map((queued) => queued.step.name)
        run(names, groups.push(names))
        return { outcomes: names.map((value) => ({ ok: true as const, value })), events: [] }
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

it('steps of one turn of the event loop share a group, and those of the next have their own', async () => {
  const { groups, add } = setup()
  const first = [add('a'), add('b')]
  await Promise.resolve()
  first.push(add('c'))
  expect(await Promise.all(first)).toEqual(['a', 'b', 'c'])
  await add('d')
  expect(groups).toEqual([['a', 'b', 'c'], ['d']])
})

it('no group is larger than a thousand steps', async () => {
  const { groups, add } = setup()
  await Promise.all(Array.from({ length: 2_500 }, (_, n) => add(String(n))))
  expect(groups.map((group) => group.length)).toEqual([1_000, 1_000, 500])
})

it('a busy ledger is tried again after longer and longer rests, with jitter and never above 100 ms', async () => {
  const { clock, groups, delays, add } = setup((_names, time) => {
    if (time <= 6) throw new LedgerBusy()
  })
  const waiting = add('a')
  await turn()
  expect(groups.length).toBe(1)
  // While it rests, later steps queue up behind it.
  const later = add('b')
  while (clock.pending > 0) {
    clock.advance(100)
    await turn()
  }
  expect([await waiting, await later]).toEqual(['a', 'b'])
  expect(delays).toEqual([4, 8, 16, 32, 50, 50])
  expect(groups.slice(0, 7)).toEqual(Array.from({ length: 7 }, () => ['a']))
  expect(groups[7]).toEqual(['b'])
})

it('a ledger that stays busy for ten seconds is LEDGER_BUSY, and the next step has its own patience', async () => {
  let busy = true
  const { clock, add } = setup(() => {
    if (busy) throw new LedgerBusy()
  })
  const refused = expect(add('a')).rejects.toMatchObject({ code: 'LEDGER_BUSY' })
  await turn()
  while (clock.pending > 0) {
    clock.advance(100)
    await turn()
  }
  await refused
  expect(clock.now()).toBeGreaterThan(10_000)
  busy = false
  expect(await add('b')).toBe('b')
})

it('all steps of a group reject when its commit fails, and when its writes do', async () => {
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

it('closing waits for a step that rests because the ledger is busy', async () => {
  const { clock, commits, add } = setup((_names, time) => {
    if (time === 1) throw new LedgerBusy()
  })
  const waiting = add('a')
  await turn()
  let closed = false
  const closing = commits.close().then(() => (closed = true))
  await turn()
  expect(closed).toBe(false)
  clock.advance(100)
  expect(await waiting).toBe('a')
  await closing
  await expect(add('b')).rejects.toMatchObject({ code: 'ENGINE_CLOSED' })
})

it('a wall clock that jumps takes nothing from the patience with a busy ledger', async () => {
  const { clock, add } = setup((_names, time) => {
    if (time <= 3) throw new LedgerBusy(50)
  })
  const waiting = add('a')
  await turn()
  clock.jumpTo(clock.now() + 3_600_000)
  while (clock.pending > 0) {
    clock.advance(100)
    await turn()
  }
  expect(await waiting).toBe('a')
})

it('closing within a bound refuses what still waits for the lock then, after one last attempt', async () => {
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
    clock.advance(1)
    await turn()
  }
  await Promise.all([waiting, queued, closing])
  expect(clock.now()).toBeLessThan(100)
  expect(groups.filter(([name]) => name === 'b').length).toBe(2)
})
