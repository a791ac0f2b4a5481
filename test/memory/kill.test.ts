// Crashes at every write: whenever the process dies or the ledger fails during a consolidation, the final state is as if it had run once.
import { copyFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/create-engine.ts'
import type { Engine } from '../../src/engine-api.ts'
import type { Ledger, Op, Tx } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { playAlone } from '../agent/kill-points.ts'
import { afterDeaths, createPlace, type Place } from '../crash/child.ts'
import type { CrashPoints, KillPoint } from '../crash/killing-ledger.ts'
import { violationsIn } from '../ledger/check/violations-in.ts'
import { programOf } from '../programs.ts'
import { complaints } from './invariants.ts'
import { fill, levels } from './kill-story.ts'
import { inOrder, openMemory, type Tables, tablesOf, tampered } from './world.ts'

const program = programOf(import.meta.dirname, 'kill-process.ts')

/** Everything that is compared: all but the history of runs, which has a row for each attempt. */
const outcome = (tables: Tables) => inOrder({ ...tables, runs: [] })

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

describe('A consolidation that fails at any write', () => {
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
})

describe('Killed at every step', () => {
  it('after a kill at any step of a consolidation another process finishes it without duplicates or losses', async () => {
    const filled = createPlace()
    const first = (await createEngine({ ledger: filled.ledger, work: false })) as Engine
    const taskIds = await fill(first)
    await first.close()
    const copy = () => {
      const place = createPlace()
      copyFileSync(filled.ledger, place.ledger)
      return place
    }
    const play = (place: Place, points: CrashPoints = {}) => playAlone(program, place, { taskIds, ...points })
    const tablesIn = async (path: string): Promise<Tables> => {
      const ledger = await openLedger(path)
      const tables = await tablesOf(ledger)
      await ledger.close()
      return tables
    }
    const unharmed = copy()
    const { said } = await play(unharmed)
    const { steps } = JSON.parse(said) as { steps: string[] }
    const clean = outcome(await tablesIn(unharmed.ledger))
    expect(steps.length).toBeGreaterThan(10)
    const points = steps.map((_, at): KillPoint => ({ step: at + 1, when: at % 2 === 0 ? 'before' : 'after' }))
    const goOn = async ({ ledger }: Place, { step, when }: KillPoint) => {
      const engine = (await createEngine({ ledger, work: false })) as Engine
      for (const [, consolidate] of levels(engine, taskIds)) await consolidate()
      await engine.close()
      expect(await violationsIn(ledger)).toEqual([])
      const tables = await tablesIn(ledger)
      expect(complaints(tables, 0.85)).toEqual([])
      expect(outcome(tables), `died ${when} step ${step}`).toEqual(clean)
    }
    const { kills, images } = await afterDeaths(points, play, goOn, copy)
    expect(kills + images).toBe(points.length)
  }, 120_000)
})
