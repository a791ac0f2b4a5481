// Every shape runs in an engine as it does as an actor of XState.
import { describe, expect, it } from 'vitest'
import { firstDifference } from './compare-runs.ts'
import { durableRunner } from './durable-run.ts'
import { liveRunner } from './live-run.ts'
import { shapes } from './shapes/index.ts'

describe('a machine in an engine', () => {
  for (const shape of shapes) {
    it(`reaches the states and contexts that XState reaches: ${shape.name}`, async () => {
      expect(await firstDifference(liveRunner(shape), durableRunner(shape), shape.script)).toBeUndefined()
    })
  }
})
