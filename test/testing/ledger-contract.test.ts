// The contract must be able to fail: ledgers with a planted fault, each of which it has to find, and a sound one that passes.
import { describe, expect, it } from 'vitest'
import type { Ledger, Op, Reads, Step, Tx } from '../../src/testing/index.ts'
import { ledgerContract, openLedger, writing } from '../../src/testing/index.ts'

/** Runs the contract outside of any runner; the titles of the tests that failed. */
async function failuresOf(spoil: (ledger: Ledger) => Partial<Ledger>): Promise<string[]> {
  const tests: Array<{ title: string; body: () => Promise<void> }> = []
  ledgerContract(
    'a spoiled ledger',
    async () => {
      const ledger = await openLedger(':memory:')
      return { ledger: spoiled(ledger, spoil(ledger)), close: () => ledger.close() }
    },
    {
      describe: (_title, body) => body(),
      // The long ones prove nothing here that a short one does not.
      it: (title, body) => void (/megabyte|thousand/.test(title) || tests.push({ title, body })),
      expect,
    },
  )
  const failed: string[] = []
  for (const { title, body } of tests) {
    try {
      await body()
    } catch {
      failed.push(title)
    }
  }
  expect(tests.length).toBeGreaterThan(90)
  return failed
}

function spoiled(ledger: Ledger, changes: Partial<Ledger>): Ledger {
  return new Proxy(ledger, {
    get(target, name) {
      const value = Reflect.get(changes, name) ?? (Reflect.get(target, name) as unknown)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Reads through tables of which one verb is another. */
const reading =
  <T extends keyof Reads>(table: T, verbs: (tx: Reads) => Partial<Reads[T]>) =>
  (ledger: Ledger): Partial<Ledger> => ({
    read: (query) => ledger.read((tx) => query({ ...tx, [table]: { ...tx[table], ...verbs(tx) } })),
  })

/** Writes through tables of which one verb is another. */
const writingThrough =
  <T extends keyof Tx>(table: T, verbs: (tx: Tx) => Partial<Tx[T]>) =>
  (ledger: Ledger): Partial<Ledger> => ({
    step: (step) =>
      ledger.step({
        name: step.name,
        load: (tx) => step.load(tx),
        judge: (loaded) => step.judge(loaded),
        write: (tx, decision) => step.write({ ...tx, [table]: { ...tx[table], ...verbs(tx) } }, decision),
      }),
  })

function* nothing(): Op<void> {}

const faults: Record<string, (ledger: Ledger) => Partial<Ledger>> = {
  'writes before it judges': (ledger) => ({
    async step<L, D, R>(step: Step<L, D, R>): Promise<R> {
      // The classic: judged on what was read outside of the transaction.
      const loaded = await ledger.read((tx) => step.load(tx))
      const decision = step.judge(loaded)
      return ledger.step(writing(step.name, (tx) => step.write(tx, decision)))
    },
  }),
  'answers before the step is done': (ledger) => ({
    step: (async (step: Step<unknown, unknown, unknown>) => {
      void ledger.step(step).catch(() => undefined)
    }) as unknown as Ledger['step'],
  }),
  'tells nobody of its commits': () => ({ observe: () => () => undefined }),
  'never stops telling': (ledger) => ({
    observe: (observer, options) => {
      ledger.observe(observer, options)
      return () => undefined
    },
  }),
  'takes everybody for alive': () => ({ isAlive: () => true }),
  'forgets the order of age': reading('task', (tx) => ({
    *ready(executor, lane, limit) {
      return (yield* tx.task.ready(executor, lane, limit)).sort((a, b) => b.priority - a.priority || b.seq - a.seq)
    },
  })),
  'orders events by their clocks': reading('event', (tx) => ({
    *after(seq, limit, taskId) {
      return (yield* tx.event.after(seq, limit, taskId)).sort((a, b) => a.at - b.at)
    },
  })),
  'counts one too many': reading('task', (tx) => ({
    *count(filter) {
      return (yield* tx.task.count(filter)) + 1
    },
  })),
  'loses a save': writingThrough('task', () => ({ save: nothing })),
  'loses progress': writingThrough('task', () => ({ saveProgress: nothing })),
  'loses events': writingThrough('event', () => ({
    *append() {
      return 0
    },
  })),
  'leaves waits open': writingThrough('dependency', () => ({ satisfyWaits: nothing })),
  'numbers messages from 0': writingThrough('message', (tx) => ({
    *append(message) {
      return (yield* tx.message.append(message)) - 1
    },
  })),
  'revives the dead': writingThrough('task', (tx) => ({
    *save(task) {
      const stored = yield* tx.task.get(task.id)
      if (stored?.status === 'completed') return
      yield* tx.task.save(task)
    },
  })),
}

describe('the contract finds a ledger that', () => {
  it.each(Object.keys(faults))('%s', { timeout: 60_000 }, async (title) => {
    expect(await failuresOf(faults[title] as (ledger: Ledger) => Partial<Ledger>)).not.toEqual([])
  })

  it('has no fault: nothing is found in a sound one', { timeout: 60_000 }, async () => {
    expect(await failuresOf(() => ({}))).toEqual([])
  })
})
