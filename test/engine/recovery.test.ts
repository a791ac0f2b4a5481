// Recovery of a lost engine in three parts: a step that judges and ends its runs, the end of its commands, and a step
// that closes the runs. Each part may be the last action of the recovering engine.
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RecoveryHost, recoverDead } from '../../src/actors/recovery.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { CallRecord } from '../../src/entities/call.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { callRow, runRow, taskRow } from '../ledger/factories.ts'
import { createWorld } from '../runs/world.ts'
import { turns } from './world.ts'

const lost = 'instance-lost'
const now = 1_000_000
const lostInstance = { id: lost, pid: 1, host: 'h', startedAt: 0, endedAt: null }

/** A ledger in which an engine was lost in the middle of a command, and the actions that recover it. */
async function setup({ isAlive = 'dead' as Awaited<ReturnType<Ledger['isAlive']>>, leaseUntil = now - 1 } = {}) {
  const inner = await openLedger(':memory:')
  onTestFinished(() => inner.close())
  const ledger: Ledger = delegateLedger(inner, { isAlive: async (id) => (id === lost ? isAlive : 'alive') })
  await inner.step({
    name: 'seed',
    *decide(tx) {
      yield* tx.instance.insert({ ...lostInstance, leaseUntil })
      yield* tx.task.insert(taskRow({ id: 'a', executor: 'x', status: 'working', run: 2, runOpen: true }))
      yield* tx.run.insert(runRow({ taskId: 'a', number: 2, instanceId: lost }))
      const command = { taskId: 'a', name: 'shell', kind: 'call' as const, details: { processGroup: { pgid: 7 } } }
      yield* tx.call.insert(callRow({ ...command, id: 'open', run: 2, status: 'in_progress' }))
      const interrupted = { code: 'CALL_INTERRUPTED', message: 'The run ended before the call did' }
      yield* tx.call.insert(callRow({ ...command, id: 'closed', run: 1, status: 'failed', error: interrupted }))
      const failed = { code: 'EXIT_CODE', message: 'It exited with code 1' }
      yield* tx.call.insert(callRow({ ...command, id: 'settled', run: 1, ordinal: 1, status: 'failed', error: failed }))
    },
  })
  const reclaimed: string[][] = []
  const reported: unknown[] = []
  const host = (more: Partial<RecoveryHost> = {}): RecoveryHost => ({
    ledger,
    instanceId: 'instance-recovering',
    maxCrashes: 3,
    mayJudgeLeases: true,
    stepContext: () => ({ at: now, instanceId: 'instance-recovering' }),
    async reclaim(calls: readonly CallRecord[]) {
      reclaimed.push(calls.map(({ id }) => id))
      return []
    },
    report: (error) => reported.push(error),
    ...more,
  })
  const state = () =>
    inner.read(function* (tx) {
      const task = yield* tx.task.get('a')
      const run = yield* tx.run.get('a', 2)
      const call = yield* tx.call.get('open')
      return { task: task?.status, ready: task?.ready, run: run?.status, call: call?.status }
    })
  return { inner, ledger, host, state, reclaimed, reported }
}

describe('recovery', () => {
  it('recovery ends the run, then its commands, also those of closed calls, and then closes the run', async () => {
    const { host, state, reclaimed } = await setup()
    let between: Awaited<ReturnType<typeof state>> | undefined
    await recoverDead(
      host({
        async reclaim(calls) {
          between = await state()
          reclaimed.push(calls.map(({ id }) => id))
          return []
        },
      }),
    )
    expect(between).toEqual({ task: 'waiting', ready: false, run: 'ending', call: 'in_progress' })
    expect(reclaimed).toEqual([['open', 'closed']])
    expect(await state()).toEqual({ task: 'waiting', ready: true, run: 'closed', call: 'failed' })
  })

  it('recovery leaves an engine of another container to its neighbour, which alone can end its commands, while that lives', async () => {
    const { inner, ledger, host, reclaimed } = await setup()
    await inner.step({
      name: 'seed',
      decide: (tx) => tx.instance.insert({ ...lostInstance, id: 'instance-neighbour', leaseUntil: now + 60_000 }),
    })
    await recoverDead(host())
    expect(reclaimed).toEqual([])
    await recoverDead(host({ ledger: { ...ledger, isAlive: async () => 'dead' } }))
    expect(reclaimed[0]).toEqual(['open', 'closed'])
  })

  it('recovery kills no command of an engine that reports before its runs are ended', async () => {
    const { inner, ledger, host, state, reclaimed } = await setup({ isAlive: 'alive' })
    const showsUp: Ledger = {
      ...ledger,
      async step(step) {
        await inner.step({
          name: 'heartbeat',
          decide: (tx) => tx.instance.renew({ ...lostInstance, leaseUntil: now + 60_000 }),
        })
        return inner.step(step)
      },
    }
    await recoverDead(host({ ledger: showsUp }))
    expect(reclaimed).toEqual([])
    expect(await state()).toMatchObject({ task: 'working', run: 'live', call: 'in_progress' })
  })

  it('recovery lets an engine that reports afterwards close its runs itself', async () => {
    const { inner, host, state } = await setup({ isAlive: 'alive' })
    const reclaim = async () => {
      await inner.step({
        name: 'heartbeat',
        decide: (tx) => tx.instance.renew({ ...lostInstance, leaseUntil: now + 60_000 }),
      })
      return []
    }
    await recoverDead(host({ reclaim }))
    expect(await state()).toEqual({ task: 'waiting', ready: false, run: 'ending', call: 'in_progress' })
  })

  it('recovery does not close a run whose command cannot be ended, reports it, and retries', async () => {
    const { host, state, reported } = await setup()
    await recoverDead(host({ reclaim: () => Promise.reject(new Error('It hangs inside the kernel')) }))
    expect(await state()).toEqual({ task: 'waiting', ready: false, run: 'ending', call: 'in_progress' })
    expect(reported).toHaveLength(1)
    await recoverDead(host())
    expect(await state()).toEqual({ task: 'waiting', ready: true, run: 'closed', call: 'failed' })
  })

  it('recovery is continued by another engine when the one that began it is lost in between', async () => {
    const { host, state, reclaimed } = await setup()
    const begun = Promise.withResolvers<void>()
    const reclaim = (): Promise<never> => {
      begun.resolve()
      return new Promise(() => {})
    }
    void recoverDead(host({ reclaim }))
    await begun.promise
    await recoverDead(host({ instanceId: 'instance-third' }))
    expect(reclaimed).toEqual([['open', 'closed']])
    expect(await state()).toEqual({ task: 'waiting', ready: true, run: 'closed', call: 'failed' })
  })

  it('recovery goes by the lease when the lock of an engine cannot be checked', async () => {
    const { host, state } = await setup({ isAlive: 'unknown', leaseUntil: now + 60_000 })
    await recoverDead(host())
    expect(await state()).toMatchObject({ task: 'working', run: 'live' })
  })
})

it('executors of recovered tasks may use the variable of their engine, however long the recovery takes', async () => {
  const inner = await openLedger(':memory:')
  onTestFinished(() => inner.close())
  const slow = await createWorld(() => {}, { executors: { other: () => {} } } as never, inner)
  const [slowId] = (await inner.read((tx) => tx.instance.open())).map(({ id }) => id)
  const first = await createWorld(() => new Promise(() => {}), { onInterrupt: 'rerun' }, inner)
  const task = await first.engine.create({ executor: 'work' })
  await first.eventOf(task.id, 'task.started')
  slow.die()
  first.die()
  const isAlive = async (instance: string) => {
    if (instance === slowId) await turns(50)
    return inner.isAlive(instance)
  }
  const work = async () => (await engine.list()).total as unknown
  const ledger = delegateLedger(inner, { isAlive, close: async () => {} })
  const engine = await createEngine({ ledger, executors: { work } })
  onTestFinished(() => engine.close())
  expect(await engine.result(task.id)).toBe(1)
})
