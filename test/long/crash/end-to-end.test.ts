// A team works on a message end to end on one ledger: the message becomes a task, its agent creates subtasks, agents work on them, and one is
// paused. Processes are killed where something could be lost or repeated: before, in and after a call, while a task is paused, and during
// consolidation. In the end every effect has happened as often as promised, and memory is as if no process had been killed.
// ERRAND_FULL=1 also kills at every write; by default at a few that a seed selects.
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { TaskEvent } from '../../../src/entities/event.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { everyPoint, type Point, playAlone } from '../../agents/kill-points.ts'
import { createPlace, drawSeed, type Place, randomOf, twoAtATime } from '../../crash/child.ts'
import { complaintsOf, rowsOf } from '../../crash/end-to-end-checks.ts'
import type { ScenarioKill, ScenarioProcessOptions } from '../../crash/end-to-end-process.ts'
import { type Played, playScenario, scenarioOptions } from '../../crash/end-to-end-scenario.ts'
import { history } from '../../engine/world.ts'
import { programOf } from '../../programs.ts'
import { isFull } from '../full.ts'

const program = programOf(import.meta.dirname, '../../crash/end-to-end-process.ts')

const play = (place: Place, options: Omit<ScenarioProcessOptions, 'ledger' | 'effects'> = {}) =>
  playAlone(program, place, options)

interface End {
  complaints: string[]
  played: Played
  events: TaskEvent[]
}

/** Plays the rest of the scenario to its end, in this process. */
async function finish(place: Place, { careless = false } = {}): Promise<End> {
  const ledger = await openLedger(place.ledger)
  const reported: unknown[] = []
  const engine = await createEngine<any>({
    ...scenarioOptions({ effects: place.effects, careless, pause: (taskId): unknown => engine.pause(taskId) }),
    ledger,
    onError: (error) => reported.push(error),
  })
  const played = await playScenario(engine)
  await engine.idle()
  const complaints = [...(await complaintsOf(engine, ledger, place, played)), ...reported.map(String)]
  const events = await history(engine)
  await engine.close()
  await ledger.close()
  return { complaints, played, events }
}

/** In the order of the scenario: each kill is later than the one before. */
const kills: ReadonlyArray<[where: string, kill: ScenarioKill]> = [
  ['after the message has become a task', { step: 'create', when: 'after' }],
  ['after a subtask was created', { asked: ['lead', 2], step: 'create', when: 'after' }],
  ['before a call', { asked: ['finder', 0], step: 'begin call', when: 'before' }],
  ['inside a call that is not repeated', { inside: 'one' }],
  ['inside a call that is repeated', { inside: 'two' }],
  ['after a call', { step: 'finish call', when: 'after' }],
  ['while its task is paused', { paused: true }],
  ['during the consolidation of an agent', { asked: ['fixer', 2], step: 'complete agent', when: 'midway' }],
  ['after the consolidation of an agent', { step: 'complete agent', when: 'after' }],
  ['inside a call that a person decides on', { inside: 'four' }],
  ['before the consolidation of the team', { step: 'complete team task', when: 'before' }],
  ['during the consolidation of the team', { step: 'complete team task', when: 'midway' }],
  ['after the consolidation of the team', { step: 'complete team task', when: 'after' }],
]

describe('A team on one ledger, end to end', () => {
  it('X-026 a team completes a message although its process is killed at every kind of point, with each effect as promised and nothing lost', async () => {
    const place = createPlace()
    for (const [where, kill] of kills) {
      const { signal, complaints } = await play(place, { kill })
      expect([where, signal, complaints]).toEqual([where, 'SIGKILL', ''])
    }
    const { complaints, played, events } = await finish(place)
    expect(complaints).toEqual([])
    const of = (type: string) => events.filter((event) => event.type === type && event.taskId !== played.later).length
    expect(['task.paused', 'task.resumed', 'team.closed', 'question.asked'].map(of)).toEqual([1, 1, 1, 1])

    // A further start changes nothing.
    const before = rowsOf(place)
    expect((await finish(place)).complaints).toEqual([])
    expect(rowsOf(place)).toEqual(before)
  }, 120_000)

  it('X-026 a team completes a message in the same way at whichever write its process is killed', async () => {
    const complete = createPlace()
    const { said, signal, complaints } = await play(complete)
    expect({ signal, complaints }).toEqual({ signal: null, complaints: '' })
    expect((await finish(complete)).complaints).toEqual([])
    const { steps } = JSON.parse(said) as { steps: string[] }
    const points = isFull ? everyPoint(steps) : someOf(everyPoint(steps.slice(0, certainSteps)), 2)
    let killed = 0
    await twoAtATime(points, async ({ name, ...death }) => {
      const place = createPlace()
      if ((await play(place, { death })).signal === 'SIGKILL') killed++
      expect((await finish(place)).complaints, `killed ${death.when} step ${death.step} (${name})`).toEqual([])
    })
    console.log(`${killed} kills at ${points.length} points of ${steps.length} steps`)
    expect(killed).toBeGreaterThan(points.length * 0.9)
  }, 600_000)

  it('the checks find a tool that is repeated although it must not be', async () => {
    const place = createPlace()
    await play(place, { kill: { inside: 'one' }, careless: true })
    expect((await finish(place, { careless: true })).complaints.join('\n')).toMatch('one was done 2 times')
  })

  it('the checks find an observation outside of the transaction that records its call', async () => {
    const place = createPlace()
    await play(place, { kill: { asked: ['finder', 1], step: 'observe late', when: 'before' }, late: true })
    expect((await finish(place)).complaints.join('\n')).toMatch(/tool_use finder was not observed/)
  })
})

/** The number of steps that every process takes: the last ones depend on the order in which tools end, and on renewals of leases. */
const certainSteps = 65

/** Some points, selected by a seed. */
function someOf(points: readonly Point[], count: number): Point[] {
  const random = randomOf(drawSeed('end to end'))
  return Array.from({ length: count }, () => points[Math.floor(random() * points.length)] as Point)
}
