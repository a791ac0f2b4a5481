// The whole story on one ledger: a message becomes a task, a task becomes parts, agents work on them, one is halted, all of it is killed
// again and again, and in the end everything was done as often as it was promised and is known as if nobody had died. The processes die
// where something could be lost or done twice: before, in and after a call, while paused, while consolidating. ERRAND_TORTURE=1 kills at
// every write besides; by default at a few that a seed draws.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/create-engine.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { everyPoint, type Point, playAlone } from '../agent/kill-points.ts'
import { history } from '../engine/world.ts'
import { createPlace, drawSeed, type Place, randomOf, twoAtATime } from './child.ts'
import { type Played, playWholeStory, storyOptions } from './whole-story.ts'
import { complaintsOf, rowsOf } from './whole-story-checks.ts'
import type { StoryDeath, StoryOrders } from './whole-story-process.ts'

const program = join(import.meta.dirname, 'whole-story-process.ts')
const torture = process.env['ERRAND_TORTURE'] === '1'

const play = (place: Place, orders: Omit<StoryOrders, 'ledger' | 'effects'> = {}) => playAlone(program, place, orders)

interface End {
  complaints: string[]
  played: Played
  events: TaskEvent[]
}

/** Another process goes on (here: this one), and everything comes to its end. */
async function goOn(place: Place, { careless = false } = {}): Promise<End> {
  const ledger = await openLedger(place.ledger)
  const reported: unknown[] = []
  const engine = await createEngine<any>({
    ...storyOptions({ effects: place.effects, careless, halt: (taskId): unknown => engine.pause(taskId) }),
    ledger,
    onError: (error) => reported.push(error),
  })
  const played = await playWholeStory(engine)
  await engine.idle()
  const complaints = [...(await complaintsOf(engine, ledger, place, played)), ...reported.map(String)]
  const events = await history(engine)
  await engine.close()
  await ledger.close()
  return { complaints, played, events }
}

/** In the order of the story: each dies further on than the one before. */
const deaths: ReadonlyArray<[where: string, death: StoryDeath]> = [
  ['when the message has become a task', { step: 'create', when: 'after' }],
  ['when a part has been given away', { asked: ['lead', 2], step: 'create', when: 'after' }],
  ['before a call', { asked: ['finder', 0], step: 'begin call', when: 'before' }],
  ['inside a call that is not made again', { inside: 'one' }],
  ['inside a call that is made again', { inside: 'two' }],
  ['after a call', { step: 'finish call', when: 'after' }],
  ['while its agent is paused', { halted: true }],
  ['in the middle of the consolidation of an agent', { asked: ['fixer', 2], step: 'complete agent', when: 'midway' }],
  ['after the consolidation of an agent', { step: 'complete agent', when: 'after' }],
  ['inside a call that a person decides on', { inside: 'four' }],
  ['before the consolidation of the team', { step: 'complete team task', when: 'before' }],
  ['in the middle of the consolidation of the team', { step: 'complete team task', when: 'midway' }],
  ['after the consolidation of the team', { step: 'complete team task', when: 'after' }],
]

describe('The whole story on one ledger', () => {
  it('X-026 from a message to what is known, killed at every kind of place, each effect as promised and nothing lost', async () => {
    const place = createPlace()
    for (const [where, death] of deaths) {
      const { signal, complaints } = await play(place, { death })
      expect([where, signal, complaints]).toEqual([where, 'SIGKILL', ''])
    }
    const { complaints, played, events } = await goOn(place)
    expect(complaints).toEqual([])
    const of = (type: string) => events.filter((event) => event.type === type && event.taskId !== played.later).length
    expect(['task.paused', 'task.resumed', 'team.closed', 'question.asked'].map(of)).toEqual([1, 1, 1, 1])

    // Started again there is nothing left to do, and nothing is done.
    const before = rowsOf(place)
    expect((await goOn(place)).complaints).toEqual([])
    expect(rowsOf(place)).toEqual(before)
  }, 120_000)

  it('X-026 comes to the same end whatever write of it was the last', async () => {
    const whole = createPlace()
    const { said, signal, complaints } = await play(whole)
    expect({ signal, complaints }).toEqual({ signal: null, complaints: '' })
    expect((await goOn(whole)).complaints).toEqual([])
    const { steps } = JSON.parse(said) as { steps: string[] }
    const points = torture ? everyPoint(steps) : drawn(everyPoint(steps.slice(0, surelyTaken)), 2)
    let kills = 0
    await twoAtATime(points, async ({ name, ...dieAt }) => {
      const place = createPlace()
      if ((await play(place, { dieAt })).signal === 'SIGKILL') kills++
      expect((await goOn(place)).complaints, `killed ${dieAt.when} step ${dieAt.step} (${name})`).toEqual([])
    })
    console.log(`${kills} kills at ${points.length} points of ${steps.length} steps`)
    expect(kills).toBeGreaterThan(points.length * 0.9)
  }, 600_000)

  it('the harness catches a tool that is made again and must not be', async () => {
    const place = createPlace()
    await play(place, { death: { inside: 'one' }, careless: true })
    expect((await goOn(place, { careless: true })).complaints.join('\n')).toMatch('one was done 2 times')
  }, 60_000)

  it('the harness catches what is observed outside of the transaction that records it', async () => {
    const place = createPlace()
    await play(place, { death: { asked: ['finder', 1], step: 'observe late', when: 'before' }, late: true })
    expect((await goOn(place)).complaints.join('\n')).toMatch(/tool_use finder was not observed/)
  }, 60_000)
})

/** The last steps of a process come and go with the order in which its tools end, and those of a lease renewal. */
const surelyTaken = 65

/** Some of them; which, a seed says. */
function drawn(points: readonly Point[], count: number): Point[] {
  const random = randomOf(drawSeed('the whole story'))
  return Array.from({ length: count }, () => points[Math.floor(random() * points.length)] as Point)
}
