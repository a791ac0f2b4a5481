// Several processes on one ledger: no task runs twice, an operation in one process takes effect in the other, and the late result of an engine
// that was taken for dead is refused. test/long has kills, stopped processes and more tasks.

import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createOne, createPlace, effectsOf, openEngine, startEngine } from './child.ts'
import { violations } from './invariants.ts'

it('S0-109 two engines on one ledger run each task once', async () => {
  const place = createPlace()
  const create = Array.from({ length: 24 }, (_, index) => ({ executor: 'leaf', key: `task ${index}` }))
  const processes = [0, 1].map(() => startEngine(place, { create, leave: 'settled', maxConcurrent: 4 }))
  for (const { exited } of processes) expect((await exited).code).toBe(0)
  expect(effectsOf(place)).toHaveLength(24)
  expect(new Set(effectsOf(place).map((effect) => effect.taskId)).size).toBe(24)
  expect(await violations(place)).toEqual([])
  const database = new Database(place.ledger, { readonly: true })
  const runs = database.prepare('select max(number) as max from run').get()
  database.close()
  expect(runs).toEqual({ max: 1 })
})

it('canceling a task in one process aborts its run in another', async () => {
  const place = createPlace()
  const hands = await openEngine(place, { work: false })
  const worker = startEngine(place, { leave: 'never' })
  await worker.lineWhere((line) => 'ready' in line)
  const task = await createOne(hands, { executor: 'idle' })
  await worker.lineWhere((line) => line['idling'] === task.id)
  await hands.cancel(task)
  await worker.lineWhere((line) => line['aborted'] === task.id)
})

describe('An engine that was wrongly taken for dead', () => {
  it('S3-051 the late result of an engine that was wrongly taken for dead is refused by the number of its run', async () => {
    const { results, outcome } = await zombie(createPlace(), (step) => step)
    expect(results).toEqual([null, 'second'])
    expect(outcome).toMatchObject({ status: 'completed', result: 'second' })
  })

  it('the check for late results finds an engine that does not compare the number of the run', async () => {
    const { results } = await zombie(createPlace(), (step) => (step.name === 'finish call' ? unfenced(step) : step))
    expect(results).toEqual([null, 'zombie'])
  })
})

/** The planted fault: the step changes the open call of any run. */
function unfenced(step: Step): Step {
  return {
    ...step,
    decide: (tx) =>
      step.decide({
        ...tx,
        task: {
          ...tx.task,
          *get(id) {
            const task = yield* tx.task.get(id)
            return task && { ...task, run: 1 }
          },
        },
        call: {
          ...tx.call,
          *get(id) {
            const call = yield* tx.call.get(id)
            return call && (yield* tx.call.open(call.taskId)).at(-1)
          },
        },
      }),
  }
}

/** The first engine loses its lock in the middle of a call, a second one takes over, then the first one's call returns. */
async function zombie(place: ReturnType<typeof createPlace>, altered: (step: Step) => Step) {
  const inner = await openLedger(place.ledger)
  const instances: string[] = []
  const ledger = delegateLedger(inner, {
    step: <R>(step: Step<R>) => inner.step(altered(step) as Step<R>),
    async register(id) {
      instances.push(id)
      await inner.register(id)
    },
    // A hung process is not notified that it lost its runs.
    observe: (observer, options) =>
      inner.observe(
        { ...observer, committed: (events) => observer.committed(events), changed: () => {}, failed: () => {} },
        options,
      ),
  })
  const inside = Promise.withResolvers<void>()
  const wake = Promise.withResolvers<void>()
  const woken = Promise.withResolvers<unknown>()
  const first = await openEngine(place, {
    ledger,
    shutdownTimeoutMs: 50,
    onError: () => {},
    executors: {
      held: async (_task: never, run: { call(name: string, fn: () => unknown): Promise<unknown> }) => {
        const call = run.call('work', async () => {
          inside.resolve()
          await wake.promise
          return 'zombie'
        })
        woken.resolve(
          await call.then(
            () => 'accepted',
            (error: unknown) => error,
          ),
        )
      },
    },
  })
  const task = await createOne(first, { executor: 'held', key: 'held', name: 'held', onInterrupt: 'rerun' })
  await inside.promise
  for (const id of instances) inner.unregister(id, { asDead: true })
  const second = await openEngine(place, {
    executors: {
      held: (_task: never, run: { call(name: string, fn: () => unknown): Promise<unknown> }) =>
        run.call('work', async () => {
          wake.resolve()
          await woken.promise
          return 'second'
        }),
    },
  })
  await woken.promise
  const outcome = await second.settled(task)
  return { outcome, results: (await second.calls(task)).map((call) => call.result) }
}
