// The comparison with XState finds faults that are planted in the writes of a machine.
import { describe, expect, it } from 'vitest'
import { firstDifference } from './compare-runs.ts'
import { afterEveryStep, before } from './death-schedules.ts'
import { type DurableOptions, durableRunner } from './durable-run.ts'
import { liveRunner } from './live-run.ts'
import { actsBeforeItsCommit, forgetsItsChildren, losesDelays, takesAnEventTwice } from './planted-faults.ts'
import { shapes } from './shapes/index.ts'

const differenceIn = (name: string, options: DurableOptions) => {
  const shape = shapes.find((each) => each.name === name)
  if (shape === undefined) throw new Error(`No shape is named "${name}".`)
  return firstDifference(liveRunner(shape), durableRunner(shape, options), shape.script)
}

describe('the comparison of a durable machine with XState finds', () => {
  it('delays that are not stored', async () => {
    const difference = await differenceIn('a traffic light passes its colours, several in one advance', {
      faulty: losesDelays,
    })
    expect(difference).toMatch(/^after entry 4 of 9, 4000: value is "green", expected "yellow"/)
  })

  it('an event that is consumed twice', async () => {
    const difference = await differenceIn('an order is packed when it is full', { faulty: takesAnEventTwice })
    expect(difference).toMatch(/^after entry \d of/)
  })

  it('a child whose end is not reported', async () => {
    const difference = await differenceIn('a failed child machine is replaced', { faulty: forgetsItsChildren })
    expect(difference).toBeDefined()
  })

  it('an action that runs before its call is recorded, once its engine dies there', async () => {
    const name = 'entry, exit and transition actions run in order'
    const deaths = () => before('begin call')
    expect(await differenceIn(name, { deaths })).toBeUndefined()
    expect(await differenceIn(name, { faulty: actsBeforeItsCommit })).toBeUndefined()
    const difference = await differenceIn(name, { deaths, faulty: actsBeforeItsCommit })
    expect(difference).toMatch(/was begun \d+ times, ran \d+ times and ended \d+ times/)
  })

  it('none of them where no fault is planted and engines die after every step', async () => {
    expect(await differenceIn('a failed child machine is replaced', { deaths: afterEveryStep })).toBeUndefined()
  })
})
