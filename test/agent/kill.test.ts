// An agent's process dies at the writes of its ledger, before them and after them: by `kill -9`, or in a copy of its files as they are there.
// Then another process continues with the same script. The conversation is complete, no tool ran twice, and the model received what was
// interrupted. ERRAND_TORTURE=1 takes every write; by default one of each kind (`onePointOfEachKind` says what that is, and why it is enough;
// the second deaths of those that die twice are drawn from all points).
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/create-engine.ts'
import type { Engine } from '../../src/engine-api.ts'
import type { Task } from '../../src/entities/task.ts'
import type { Ledger, Op, Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { delegateLedger } from '../../src/testing/delegate-ledger.ts'
import { afterDeaths, createPlace, drawSeed, type Place, randomOf, twoAtATime } from '../crash/child.ts'
import { violations } from '../crash/invariants.ts'
import type { CrashPoints, KillPoint } from '../crash/killing-ledger.ts'
import { programOf } from '../programs.ts'
import { complaintsOf, type Evidence, gather } from './kill-checks.ts'
import { everyPoint, onePointOfEachKind, playAlone } from './kill-points.ts'
import type { KillOrders } from './kill-process.ts'
import { answerAll, createScenarioModel, reportTask, scenarioAbilities } from './kill-scenario.ts'

const program = programOf(import.meta.dirname, 'kill-process.ts')
const torture = process.env['ERRAND_TORTURE'] === '1'

/** The scenario in a process of its own, to its end or to its death. */
const play = (place: Place, orders: Omit<KillOrders, 'ledger' | 'effects'> = {}) => playAlone(program, place, orders)

interface GoOnOptions {
  careless?: boolean
  wrap?: (ledger: Ledger) => Ledger
}

/** Another process continues (here: this one), and everything reaches its end. */
async function goOn(place: Place, { careless = false, wrap = (ledger) => ledger }: GoOnOptions = {}) {
  const inner = await openLedger(place.ledger)
  const model = createScenarioModel()
  const reported: unknown[] = []
  const engine = (await createEngine({
    ledger: wrap(inner),
    model,
    abilities: scenarioAbilities({ effects: place.effects, careless }),
    onError: (error) => reported.push(error),
  })) as Engine
  const task = (await engine.create(reportTask)) as Task
  await answerAll(engine, task.id)
  await engine.idle()
  const evidence = await gather(engine, task, place.effects, model.prompts)
  await engine.close()
  await inner.close()
  return { evidence, complaints: [...complaintsOf(evidence), ...reported.map(String), ...(await laws(place))] }
}

/** The laws of every ledger. The marks of this scenario are compared with its calls by its own checks. */
async function laws(place: Place): Promise<string[]> {
  return (await violations({ ...place, effects: '/dev/null' })).filter((each) => !each.endsWith('was never executed'))
}

const interruptedIn = ({ calls }: Evidence) =>
  calls.filter(({ error }) => error?.message === 'Process crashed during execution').length

describe('an agent whose process is killed', () => {
  it('S0-106 S0-026 S0-100 S0-101 S0-103 Q-12 an agent whose process is killed continues in the next process after a kill at any write', async () => {
    const whole = createPlace()
    const { said, signal, complaints } = await play(whole)
    expect({ signal, complaints }).toEqual({ signal: null, complaints: '' })
    const { steps } = JSON.parse(said) as { steps: string[] }
    expect((await goOn(whole)).complaints).toEqual([])

    const points = torture ? everyPoint(steps) : onePointOfEachKind(steps)
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

  it('the harness detects a tool that is repeated and must not be', async () => {
    const found: string[] = []
    // The first point is the only kill, and nothing has happened there yet: the fault is found in the images.
    const deaths = [1, 6, 7, 8, 9, 10, 11].map((step): KillPoint => ({ step, when: 'before' }))
    const playCarelessly = (place: Place, points: CrashPoints) => play(place, { ...points, careless: true })
    await afterDeaths(deaths, playCarelessly, async (place) => {
      found.push(...(await goOn(place, { careless: true })).complaints)
    })
    expect(found.join()).toMatch(/(one|two|three) was done 2 times/)
  })

  it('the harness detects a recovery that misses the calls in progress', async () => {
    const careless = (inner: Ledger): Ledger =>
      delegateLedger(inner, {
        step: <R>(step: Step<R>) =>
          inner.step(step.name === 'close runs of a lost engine' ? overlookingCalls(step) : step),
      })
    const found: string[] = []
    const deaths = [9, 10, 11].map((step): KillPoint => ({ step, when: 'before' }))
    await twoAtATime(deaths, async (death) => {
      const place = createPlace()
      await play(place, { death })
      found.push(...(await goOn(place, { wrap: careless })).complaints)
    })
    expect(found.join()).toMatch(/(one|two|three) was done 2 times/)
  })
})

// oxlint-disable-next-line require-yield
function* noCalls(): Op<never[]> {
  return []
}

function overlookingCalls<R>(step: Step<R>): Step<R> {
  return {
    ...step,
    decide: (tx) => step.decide({ ...tx, call: { ...tx.call, open: noCalls } }),
  }
}
