// A task that uses every method of a run, in a process that dies at one of its steps, and another process that continues.
import { expect } from 'vitest'
import { createOne, createPlace, openEngine, type Place, startEngine } from './child.ts'
import { violations } from './invariants.ts'
import type { CrashPoints } from './killing-ledger.ts'

const task = { executor: 'everyStep', key: 'everyStep', retry: { maxAttempts: 3 } }

/** The number of steps of a process that is not killed. */
export async function stepsOfACleanRun(): Promise<number> {
  const place = createPlace()
  const child = startEngine(place, { create: [task], leave: 'settled' })
  const { steps } = await child.lineWhere((line) => 'steps' in line)
  expect(await child.exited).toEqual({ code: 0, signal: null })
  expect(await violations(place)).toEqual([])
  return steps as number
}

/** In this process: the task completes, and every call was executed as promised. */
export async function finish(place: Place): Promise<void> {
  const engine = await openEngine(place)
  const created = await createOne(engine, task)
  const result = await engine.result(created, { timeoutMs: 10_000 })
  expect(result).toEqual([true, 'so', 'slept', `two of ${created.id}`])
  await engine.idle()
  await engine.close()
}

/** In a process of its own, until it dies. `executeFirst` is the planted fault: calls are executed before they are recorded. */
export const play = (place: Place, points: CrashPoints & { executeFirst?: boolean }) =>
  startEngine(place, { create: [task], leave: 'settled', ...points }).exited
