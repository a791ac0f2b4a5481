// `kill -9` at the writes of a ledger on which a team works, before them and after them; then another process
// continues. Each worker was one agent in one stint, each thing it did was observed once, each end was written once,
// and durable facts are known. The same holds for two engines side by side. ERRAND_FULL=1 kills at every write; by
// default at one of each kind.
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { everyPoint, onePointOfEachKind, playAlone } from '../../agents/kill-points.ts'
import { gatherTeam, teamComplaints } from '../../agents/team-checks.ts'
import { forgettingEnds } from '../../agents/team-faults.ts'
import type { TeamKillOrders } from '../../agents/team-kill-process.ts'
import { playTeamScenario, scenarioOptions } from '../../agents/team-scenario.ts'
import { afterDeaths, createPlace, type Place, twoAtATime } from '../../crash/child.ts'
import { violations } from '../../crash/invariants.ts'
import type { KillPoint } from '../../crash/killing-ledger.ts'
import { programOf } from '../../programs.ts'
import { isFull } from '../full.ts'

const program = programOf(import.meta.dirname, '../../agents/team-kill-process.ts')

const play = (place: Place, orders: Omit<TeamKillOrders, 'ledger' | 'effects'> = {}) =>
  playAlone(program, place, orders)

const asItIs = (ledger: Ledger): Ledger => ledger

async function openOn(
  place: Place,
  reported: unknown[],
  wrap: (ledger: Ledger) => Ledger,
): Promise<{ engine: Engine<any>; ledger: Ledger }> {
  const ledger = await openLedger(place.ledger)
  const options = scenarioOptions(place.effects)
  const engine = await createEngine({ ...options, ledger: wrap(ledger), onError: (error) => reported.push(error) })
  return { ledger, engine }
}

/** So many engines in this process continue, and everything reaches its end. */
async function goOn(place: Place, { engines = 1, wrap = asItIs } = {}): Promise<string[]> {
  const reported: unknown[] = []
  const all: Array<Awaited<ReturnType<typeof openOn>>> = []
  for (let count = 0; count < engines; count++) all.push(await openOn(place, reported, wrap))
  const played = await Promise.all(all.map(({ engine }) => playTeamScenario(engine)))
  for (const { engine } of all.slice(1)) await engine.close()
  const { engine, ledger } = all[0] as (typeof all)[number]
  const evidence = await gatherTeam(engine, ledger, played[0] as (typeof played)[number])
  await engine.close()
  for (const each of all) await each.ledger.close()
  const laws = (await violations({ ...place, effects: '/dev/null' })).filter(
    (each) => !each.endsWith('was never executed'),
  )
  return [...teamComplaints(evidence), ...reported.map(String), ...laws]
}

describe('a team whose process is killed', () => {
  it('Q-12 S2-101 a team whose process is killed continues in the next process after a kill at any write', async () => {
    const whole = createPlace()
    const { said, signal, complaints } = await play(whole)
    expect({ signal, complaints }).toEqual({ signal: null, complaints: '' })
    const { steps } = JSON.parse(said) as { steps: string[] }
    expect(await goOn(whole)).toEqual([])
    expect(steps).toEqual(expect.arrayContaining(['complete agent', 'complete team task']))

    const points = isFull ? everyPoint(steps) : onePointOfEachKind(steps)
    const { kills, images } = await afterDeaths(points, play, async (place, { name, step, when }) => {
      expect(await goOn(place), `died ${when} step ${step} (${name})`).toEqual([])
    })
    console.log(`${kills} kills and ${images} images at ${points.length} points of ${steps.length} steps`)
    // The last steps of a process vary with the order in which its tools end.
    expect(kills + images).toBeGreaterThan(points.length * 0.9)
  }, 300_000)

  it('the harness detects an observation that is written outside of the transaction of its call', async () => {
    const { said } = await play(createPlace(), { late: true })
    const { steps } = JSON.parse(said) as { steps: string[] }
    const deaths = steps.flatMap((name, index): KillPoint[] =>
      name === 'observe late' ? [{ step: index + 1, when: 'before' }] : [],
    )
    const found: string[] = []
    await twoAtATime(deaths.slice(0, 3), async (death) => {
      const place = createPlace()
      await play(place, { death, late: true })
      found.push(...(await goOn(place)))
    })
    expect(found.join('\n')).toMatch(/(tool_use|insight) finder was not observed/)
  })
})

describe('a team on a ledger of two engines', () => {
  it('a team on a ledger of two engines is processed once, although both engines follow it', async () => {
    for (let round = 0; round < 5; round++) expect(await goOn(createPlace(), { engines: 2 })).toEqual([])
  })

  it('the harness detects a reconciler that completes an agent twice', async () => {
    const found: string[] = []
    for (let round = 0; round < 5 && found.length === 0; round++) {
      found.push(...(await goOn(createPlace(), { engines: 2, wrap: forgettingEnds })))
    }
    expect(found.join('\n')).toMatch(/was completed \d times/)
  })
})
