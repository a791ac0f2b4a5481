// Whenever the ledger fails during a consolidation, or the process dies, the final state is as if it had run once. test/long kills the process at
// every step.
import { expect, it } from 'vitest'
import type { Ledger, Op, Tx } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { complaints } from './invariants.ts'
import { fill, levels } from './kill-story.ts'
import { killConsolidations, outcome } from './killed-consolidation.ts'
import { openMemory, tablesOf, tampered } from './world.ts'

/** The writing operations of memory. */
const writes = {
  branch: ['insert', 'save'],
  observation: ['insert', 'consume'],
  fact: ['insert', 'save', 'keepVector'],
  consolidation: ['insert', 'decide'],
  team: ['insert', 'save'],
} as const

/** A ledger whose steps fail at their n-th write, on request. */
function failing(inner: Ledger): { ledger: Ledger; failAt(nth: number | null): void } {
  let at: number | null = null
  const ledger = tampered(inner, (tx) => {
    let done = 0
    const counted = (part: object): object =>
      Object.fromEntries(
        Object.entries(part).map(([verb, work]: [string, (...given: unknown[]) => Op<unknown>]) => [
          verb,
          function* (...given: unknown[]): Op<unknown> {
            if (verbs.has(verb) && ++done === at) throw new Error('the disk is full')
            return yield* work(...given)
          },
        ]),
      )
    const verbs = new Set<string>(Object.values(writes).flat())
    const parts = Object.keys(writes).map((part) => [part, counted(tx[part as keyof Tx])])
    return { ...tx, ...Object.fromEntries(parts) } as Tx
  })
  return {
    ledger,
    failAt: (nth) => {
      at = nth
    },
  }
}

async function cleanOutcome(): Promise<unknown> {
  const { engine, tables } = await openMemory()
  for (const [, consolidate] of levels(engine, await fill(engine))) await consolidate()
  const clean = await tables()
  expect(complaints(clean, 0.85)).toEqual([])
  return outcome(clean)
}

it('S2-101 a consolidation that fails at any write changes nothing and succeeds when repeated', async () => {
  const clean = await cleanOutcome()
  const inner = await openLedger(':memory:')
  const { ledger, failAt } = failing(inner)
  const { engine } = await openMemory({ ledger })
  const taskIds = await fill(engine)
  const failures: Record<string, number> = {}
  for (const [level, consolidate] of levels(engine, taskIds)) {
    const before = await tablesOf(inner)
    for (let nth = 1; ; nth++) {
      failAt(nth)
      const failed = await consolidate().then(
        () => false,
        () => true,
      )
      failAt(null)
      if (!failed) break
      failures[level] = (failures[level] ?? 0) + 1
      expect(await tablesOf(inner), `${level}, write ${nth}`).toEqual(before)
    }
  }
  expect(outcome(await tablesOf(inner))).toEqual(clean)
  expect(Object.keys(failures)).toEqual([
    'session s1',
    'session s2',
    'session s3',
    'agent ada',
    'merge ada',
    'agent bob',
    'merge bob',
    'task',
    'merge',
    'project',
  ])
  await engine.close()
  await inner.close()
})

it('after a kill at some steps of a consolidation another process finishes it without duplicates or losses', async () => {
  const { points, reached } = await killConsolidations(() => [
    { step: 3, when: 'after' },
    { step: 7, when: 'before' },
  ])
  expect(reached).toBe(points)
})
