// Killed at every step: a process dies before and after each transaction of a task that uses everything a run can ask for, then
// another process goes on. Nothing is lost, nothing is done twice silently, nothing is stuck.
import { describe, expect, it } from 'vitest'
import {
  createOne,
  createPlace,
  drawSeed,
  effectsOf,
  openEngine,
  type Place,
  startEngine,
  twoAtATime,
} from './child.ts'
import { violations } from './invariants.ts'

const story = { executor: 'story', key: 'story', retry: { maxAttempts: 3 } }

/** The steps of a process that nobody kills. */
async function stepsOfACleanRun(): Promise<number> {
  const place = createPlace()
  const child = startEngine(place, { create: [story], leave: 'settled' })
  const { steps } = await child.heard((line) => 'steps' in line)
  expect(await child.exited).toEqual({ code: 0, signal: null })
  expect(violations(place)).toEqual([])
  return steps as number
}

async function goOn(place: Place): Promise<void> {
  const engine = await openEngine(place)
  const task = await createOne(engine, story)
  const result = await engine.result(task, { timeoutMs: 10_000 })
  expect(result).toEqual([true, 'so', `two of ${task.id}`])
  await engine.idle()
  await engine.close()
}

describe('Killed at every step', () => {
  it('S0-106 a task is completed by the next process, nothing lost, nothing done twice silently', async () => {
    const steps = await stepsOfACleanRun()
    // Before each step or after it: which of the two is drawn, so that some runs of the suite have had them all.
    const parity = drawSeed('killed at every step') % 2
    const points = Array.from({ length: steps }, (_, index) => ({
      step: index + 1,
      when: index % 2 === parity ? ('before' as const) : ('after' as const),
    }))
    let kills = 0
    let doubles = 0
    await twoAtATime(points, async (dieAt) => {
      const place = createPlace()
      const child = startEngine(place, { create: [story], leave: 'settled', dieAt })
      if ((await child.exited).signal === 'SIGKILL') kills++
      await goOn(place)
      expect(violations(place), `killed ${dieAt.when} step ${dieAt.step}`).toEqual([])
      doubles += effectsOf(place).length - 3
    })
    console.log(`${kills} kills at ${steps} steps; ${doubles} calls were executed again, each beside a failed one`)
    // On a slow machine a run takes more steps (signs of life) or fewer (several in one look), and may be over before the last of them.
    expect(kills).toBeGreaterThan(points.length * 0.75)
  }, 90_000)

  it('catches an engine that executes before it records', async () => {
    const complaints: string[] = []
    const points = Array.from({ length: 8 }, (_, index) => ({ step: index + 3, when: 'before' as const }))
    await twoAtATime(points, async (dieAt) => {
      const place = createPlace()
      await startEngine(place, { create: [story], leave: 'settled', dieAt, executeFirst: true }).exited
      complaints.push(...violations(place, { resting: false }))
    })
    expect(complaints.join()).toContain('was executed without a record')
  })
})
