// An agent's process dies at the writes of its ledger, before them and after them: by `kill -9`, or in a copy of its files as they are there.
// Then another process continues with the same script. ERRAND_FULL=1 takes every write; by default one of each kind (`onePointOfEachKind`
// says what that is, and why it is enough; the second deaths of those that die twice are drawn from all points).
import { describe, expect, it } from 'vitest'
import { everyPoint, onePointOfEachKind } from '../../agents/kill-points.ts'
import { goOn, interruptedIn, play } from '../../agents/killed-agent.ts'
import { afterDeaths, createPlace, drawSeed, randomOf } from '../../crash/child.ts'
import type { KillPoint } from '../../crash/killing-ledger.ts'
import { isFull } from '../full.ts'

describe('an agent whose process is killed', () => {
  it('S0-106 S0-026 S0-100 S0-101 S0-103 Q-12 an agent whose process is killed continues in the next process after a kill at any write', async () => {
    const whole = createPlace()
    const { said, signal, complaints } = await play(whole)
    expect({ signal, complaints }).toEqual({ signal: null, complaints: '' })
    const { steps } = JSON.parse(said) as { steps: string[] }
    expect((await goOn(whole)).complaints).toEqual([])

    const points = isFull ? everyPoint(steps) : onePointOfEachKind(steps)
    const untried = (when: KillPoint['when']) =>
      steps.filter((name) => !points.some((point) => point.name === name && point.when === when))
    expect([...untried('before'), ...untried('after')]).toEqual([])
    let interrupted = 0
    const { kills, images } = await afterDeaths(points, play, async (place, { name, step, when }) => {
      const { evidence, complaints: found } = await goOn(place)
      expect(found, `died ${when} step ${step} (${name})`).toEqual([])
      interrupted += interruptedIn(evidence)
    })
    console.log(`${kills} kills and ${images} images at ${points.length} points; ${interrupted} calls were interrupted`)
    // The last steps of a process vary with the order in which its tools end.
    expect(kills + images).toBeGreaterThan(points.length * 0.9)
    expect(interrupted).toBeGreaterThan(0)
  }, 240_000)

  it('S0-103 an agent whose process is killed continues after a second kill during its recovery', async () => {
    const random = randomOf(drawSeed('agents killed twice'))
    const within = (steps: number): KillPoint => ({
      step: 4 + Math.floor(random() * steps),
      when: random() < 0.5 ? 'before' : 'after',
    })
    const twice = Array.from({ length: 12 }, () => ({ ...within(60), death: within(40) }))
    let again = 0
    const { kills, images } = await afterDeaths(twice, play, async (place, { death, ...first }) => {
      if ((await play(place, { death })).signal === 'SIGKILL') again++
      expect((await goOn(place)).complaints, JSON.stringify([first, death])).toEqual([])
    })
    expect(kills + images + again).toBeGreaterThan(twice.length)
    expect(again).toBeGreaterThan(0)
  }, 240_000)
})
