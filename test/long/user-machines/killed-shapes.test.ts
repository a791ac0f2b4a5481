// All shapes of machines, whose engines die after every step.
import { describe, expect, it } from 'vitest'
import { firstDifference } from '../../user-machines/compare-runs.ts'
import { afterEveryStep } from '../../user-machines/death-schedules.ts'
import { durableRunner } from '../../user-machines/durable-run.ts'
import { liveRunner } from '../../user-machines/live-run.ts'
import { shapesThatSurvive } from '../../user-machines/restarts.ts'

describe.each([
  ['in memory', false],
  ['in a file that each engine opens again', true],
])('a machine whose engine dies after every step, with its ledger %s', (_where, inFile) => {
  it.each(shapesThatSurvive)('reaches the states and contexts that XState reaches: $name', async (shape) => {
    const runner = durableRunner(shape, { deaths: afterEveryStep, inFile })
    expect(await firstDifference(liveRunner(shape), runner, shape.script)).toBeUndefined()
    expect(runner.deaths.length).toBeGreaterThan(shape.script.length)
  })
})
