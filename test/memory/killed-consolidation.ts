// Consolidations in a process that is killed at some of its steps, and another process that finishes them: the rows are compared with those of a
// process that was not killed.
import { copyFileSync } from 'node:fs'
import { expect } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { playAlone } from '../agents/kill-points.ts'
import { afterDeaths, createPlace, type Place } from '../crash/child.ts'
import type { CrashPoints, KillPoint } from '../crash/killing-ledger.ts'
import { violationsIn } from '../ledger/check/violations-in.ts'
import { programOf } from '../programs.ts'
import { complaints } from './invariants.ts'
import { fill, levels } from './kill-story.ts'
import { inOrder, type Tables, tablesOf } from './world.ts'

const program = programOf(import.meta.dirname, 'kill-process.ts')

/** Everything that is compared: all but the history of runs, which has a row for each attempt. */
export const outcome = (tables: Tables) => inOrder({ ...tables, runs: [] })

/** Kills the process at the chosen ones of its steps; the numbers of chosen and of reached points. */
export async function killConsolidations(
  choose: (steps: number) => KillPoint[],
): Promise<{ points: number; reached: number }> {
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
  const goOn = async ({ ledger }: Place, { step, when }: KillPoint) => {
    const engine = (await createEngine({ ledger, work: false })) as Engine
    for (const [, consolidate] of levels(engine, taskIds)) await consolidate()
    await engine.close()
    expect(await violationsIn(ledger)).toEqual([])
    const tables = await tablesIn(ledger)
    expect(complaints(tables, 0.85)).toEqual([])
    expect(outcome(tables), `died ${when} step ${step}`).toEqual(clean)
  }
  const points = choose(steps.length)
  const { kills, images } = await afterDeaths(points, play, goOn, copy)
  return { points: points.length, reached: kills + images }
}
