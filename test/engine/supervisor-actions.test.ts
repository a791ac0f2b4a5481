// What the supervisor and the actors of runs do when an engine has no room, when its lease is over, and when the ledger does not answer.
import { expect, it, onTestFinished } from 'vitest'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { LeaseNotices, Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createFaultyLedger } from '../../src/testing/faulty-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { createWorld, gate } from '../runs/world.ts'
import { turns } from './world.ts'

async function memoryLedger(): Promise<Ledger> {
  const ledger = await openLedger(':memory:')
  onTestFinished(() => ledger.close())
  return ledger
}

it('an engine whose slots are taken asks for no admission while a parked run waits for one', async () => {
  const ledger = createFaultyLedger(await memoryLedger())
  const admissions = () => ledger.steps.filter((name) => name === 'admit').length
  const clock = new SimulatedClock()
  const busy = gate()
  const work = async (_task: ExecutorTask, run: Run) =>
    run.wait(await run.spawn({ name: 'by hand' }), { inMemory: true, timeoutMs: 1_000 }).catch(() => 'late')
  const executors = { work, other: () => busy.promise }
  const { engine, eventOf } = await createWorld(work, { clock, maxConcurrent: 1, executors } as never, ledger)
  const task = await engine.create({ executor: 'work' })
  await eventOf(task.id, 'run.parked')
  await eventOf((await engine.create({ executor: 'other' })).id, 'task.started')
  clock.increment(1_000)
  await eventOf(task.id, 'timer.fired')
  await turns()
  const before = admissions()
  for (let check = 0; check < 5; check++) {
    clock.increment(200)
    await turns()
  }
  const during = admissions() - before
  busy.resolve()
  expect(await engine.result(task)).toBe('late')
  expect(during).toBe(0)
})

/** A world whose ledger renews the lease, as a server does, until the test says that it is over. */
async function leasedWorld(work: (task: ExecutorTask, run: Run) => unknown) {
  let notices: LeaseNotices | undefined
  const ledger = delegateLedger(await memoryLedger(), {
    keepLease: (_instance, _leaseMs, given) => {
      notices = given
      return { isCertain: true, end: async () => {} }
    },
  })
  const world = await createWorld(work, {}, ledger)
  return { ...world, lapse: () => notices?.lapsed(), renew: () => notices?.renewed() }
}

it('a run of an engine whose lease is over gets that as the reason', async () => {
  const why = gate<string>()
  const world = await leasedWorld((_task, run) => {
    run.signal.addEventListener('abort', () => why.resolve(String(run.signal.reason)))
    return why.promise
  })
  const task = await world.engine.create({ executor: 'work' })
  await world.eventOf(task.id, 'task.started')
  await turns()
  world.lapse()
  expect(await why.promise).toContain('the engine could not renew its lease in time')
})

it('when the lease of its engine is over, the function of a parked run is left alone', async () => {
  const seen: string[] = []
  const world = await leasedWorld(async (_task, run) => {
    seen.push('begun')
    try {
      return await run.wait(await run.spawn({ name: 'by hand' }), { inMemory: true })
    } finally {
      seen.push('finally')
    }
  })
  const task = await world.engine.create({ executor: 'work' })
  await world.eventOf(task.id, 'run.parked')
  await turns()
  world.lapse()
  await world.eventOf(task.id, 'run.closed')
  expect(seen).toEqual(['begun'])
  expect(await world.engine.get(task)).toMatchObject({ status: 'waiting' })
})

it('a run that was parked without an answer of the ledger is parked once more, and no more often', async () => {
  const ledger = createFaultyLedger(await memoryLedger())
  ledger.fail('park', 'kept')
  const clock = new SimulatedClock()
  const work = async (_task: ExecutorTask, run: Run) =>
    run.wait(await run.spawn({ name: 'by hand' }), { inMemory: true, timeoutMs: 60_000 }).catch(() => 'late')
  const { engine, eventOf, errors } = await createWorld(work, { clock }, ledger)
  const task = await engine.create({ executor: 'work' })
  await eventOf(task.id, 'run.parked')
  await turns()
  for (let check = 0; check < 10; check++) {
    clock.increment(200)
    await turns()
  }
  expect(ledger.steps.filter((name) => name === 'park')).toHaveLength(2)
  expect(errors).toMatchObject([{ code: 'OUTCOME_UNKNOWN' }])
  clock.increment(60_000)
  expect(await engine.result(task)).toBe('late')
})
