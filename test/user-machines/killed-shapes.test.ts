// Machines whose engine dies after every step are compared with XState, in which nothing dies. test/long compares all shapes.
import { describe, expect, it } from 'vitest'
import { firstDifference } from './compare-runs.ts'
import { afterEveryStep, afterSteps } from './death-schedules.ts'
import { durableRunner } from './durable-run.ts'
import { liveRunner } from './live-run.ts'
import { changedByRestart, shapesThatSurvive } from './restarts.ts'
import { shapes } from './shapes/index.ts'

describe('a machine whose engine dies after every step', () => {
  const sampled = shapesThatSurvive.filter((_, at) => at % 5 === 3)

  it.each(sampled)('reaches the states and contexts that XState reaches: $name', async (shape) => {
    const runner = durableRunner(shape, { deaths: afterEveryStep })
    expect(await firstDifference(liveRunner(shape), runner, shape.script)).toBeUndefined()
    expect(runner.deaths.length).toBeGreaterThan(shape.script.length)
  })

  it('goes on in another connection to its file', async () => {
    const shape = shapesThatSurvive[0] as (typeof shapes)[number]
    const runner = durableRunner(shape, { deaths: () => afterSteps([3, 3, 5, 7, 4]), inFile: true })
    expect(await firstDifference(liveRunner(shape), runner, shape.script)).toBeUndefined()
    expect(runner.deaths).toHaveLength(5)
  })
})

it('each shape that a restart changes is one of the shapes', () => {
  const names = shapes.map(({ name }) => name)
  expect(Object.keys(changedByRestart).filter((name) => !names.includes(name))).toEqual([])
})
