// Two processes make the tasks of five schedules for ten weeks, while one or the other dies at random moments and is started again: every tick
// that a policy allows is made once, also after both were down.
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { TaskEvent } from '../../../src/entities/event.ts'
import type { ScheduleRecord } from '../../../src/entities/schedule.ts'
import { checkLedger } from '../../../src/ledger/check/check-ledger.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { createPlace, drawSeed, type Place, randomOf, startProgram } from '../../crash/child.ts'
import { history } from '../../engine/world.ts'
import { programOf } from '../../programs.ts'
import type { ScheduleProcessOptions } from '../../time/schedule-process.ts'
import { start, tasksOf } from '../../time/schedule-world.ts'

const program = programOf(import.meta.dirname, '../../time/schedule-process.ts')

const hour = 3_600_000
/** The time between two ticks. A task takes one and a half. */
const period = 12 * hour
/** What the clocks are moved by at once: a tick is never at an end of it. */
const stride = period / 2
const begin = start + hour

type Policy = Pick<ScheduleRecord, 'name' | 'overlap' | 'catchUp'>
const policies: readonly Policy[] = [
  { name: 'skip', overlap: 'skip', catchUp: 'one' },
  { name: 'queue', overlap: 'queue', catchUp: 'one' },
  { name: 'replace', overlap: 'replace', catchUp: 'one' },
  { name: 'allow', overlap: 'allow', catchUp: 'one' },
  { name: 'forgo', overlap: 'allow', catchUp: 'none' },
]

/** How many processes were there when the clocks began to move, and how many still when they stood again. */
interface Stride {
  began: number
  survived: number
}

type Child = ReturnType<typeof startProgram>

/** False when the process dies before it reports this. */
function reports(child: Child, key: string, value: unknown): Promise<boolean> {
  return child
    .lineWhere((line) => line[key] === value)
    .then(
      () => true,
      () => false,
    )
}

interface Scenario {
  weeks: number
  processes: number
  random: () => number
  /** What makes the next process die. */
  deathOf: () => Partial<ScheduleProcessOptions>
}

async function playStrides(place: Place, { weeks, processes, random, deathOf }: Scenario) {
  const strides: Stride[] = []
  const children: Child[] = []
  let at = begin
  const open = async () => {
    const options: ScheduleProcessOptions = { ledger: place.ledger, at, worksMs: 1.5 * period, ...deathOf() }
    const child = startProgram(program, options)
    children.push(child)
    return (await reports(child, 'ready', true)) ? child : undefined
  }
  let alive: Child[] = []
  for (let left = (weeks * 7 * 24 * hour) / stride; left > 0; left--) {
    // Sometimes none is started, so that ticks pass while no engine works.
    const missing = random() < 0.6 ? processes - alive.length : 0
    const started = await Promise.all(Array.from({ length: missing }, open))
    // One that died at once may have made what was due.
    const began = alive.length + missing
    alive = [...alive, ...started.filter((child) => child !== undefined)]
    const until = at + stride
    for (const child of alive) child.send(String(stride))
    const survives = await Promise.all(alive.map((child) => reports(child, 'now', until)))
    alive = alive.filter((_, index) => survives[index])
    strides.push({ began, survived: alive.length })
    at = until
  }
  expect(children.flatMap(({ lines }) => lines.filter(({ error }) => error !== undefined))).toEqual([])
  await Promise.all(alive.map((child) => child.kill()))
  return { strides, kills: children.length - alive.length }
}

/** Whether a tick must have been made by a schedule that makes each of its ticks. */
function isDue(strides: readonly Stride[], tick: number, catchUp: Policy['catchUp']): boolean | 'perhaps' {
  const at = Math.floor((tick - begin) / stride)
  const next = at + period / stride
  const own = strides[at] as Stride
  if (own.survived > 0) return true
  // It is the latest until the next one.
  const later = catchUp === 'none' ? [] : strides.slice(at + 1, next + 1)
  if (later.some(({ survived }) => survived > 0)) return true
  return [own, ...later].some(({ began }) => began > 0) ? 'perhaps' : false
}

const iso = (at: number) => new Date(at).toISOString()

async function complaintsAbout(engine: Engine, strides: readonly Stride[]): Promise<string[]> {
  const complaints: string[] = []
  const end = begin + strides.length * stride
  const ticks: number[] = []
  for (let tick = start + period; tick < end; tick += period) ticks.push(tick)
  const positions = positionsOf(await history(engine))
  for (const { name, overlap, catchUp } of policies) {
    const tasks = await tasksOf(engine, name)
    const made = tasks.map(({ tick }) => Date.parse(tick))
    const say = (tick: number, what: string) => complaints.push(`${name}: ${iso(tick)} ${what}`)
    for (const [at, tick] of made.entries()) {
      if (!ticks.includes(tick)) say(tick, 'is no tick')
      if (at > 0 && tick <= (made[at - 1] as number)) say(tick, 'was made again, or too late')
    }
    for (const tick of ticks) {
      const due = isDue(strides, tick, catchUp)
      const isMade = made.includes(tick)
      if (isMade && due === false) say(tick, 'was made although a later one had come')
      const isHeldUp = tasks.some(
        ({ tick: own, completedAt }) => Date.parse(own) < tick && (completedAt ?? end) > tick - stride,
      )
      const mayWait = (overlap === 'skip' || overlap === 'queue') && isHeldUp
      if (!isMade && due === true && !mayWait) say(tick, 'was not made')
    }
    if (overlap === 'allow') continue
    for (const [at, task] of tasks.slice(1).entries()) {
      const ended = positions.ended.get(tasks[at]?.id as string) ?? Number.POSITIVE_INFINITY
      if ((positions.created.get(task.id) as number) < ended) say(made[at + 1] as number, 'began beside another')
    }
  }
  return complaints
}

/** The positions of the events in which tasks begin and end. */
function positionsOf(events: readonly TaskEvent[]) {
  const of = (types: readonly string[]) =>
    new Map(events.filter(({ type }) => types.includes(type)).map(({ taskId, seq }) => [taskId, seq]))
  return { created: of(['task.created']), ended: of(['task.completed', 'task.failed', 'task.canceled']) }
}

async function play(scenario: Scenario) {
  const place = createPlace()
  const hands = await createEngine({ ledger: place.ledger, work: false, clock: new SimulatedClock(begin) })
  for (const policy of policies) {
    await hands.schedules.put({ ...policy, cron: '0 */12 * * *', task: { executor: 'work' } })
  }
  await hands.close()
  const { strides, kills } = await playStrides(place, scenario)
  const engine = await createEngine({ ledger: place.ledger, work: false })
  const complaints = await complaintsAbout(engine as unknown as Engine, strides)
  const counts = Object.fromEntries(
    await Promise.all(
      policies.map(async ({ name }) => [name, (await tasksOf(engine as unknown as Engine, name)).length]),
    ),
  ) as Record<string, number>
  await engine.close()
  return { complaints, strides, kills, counts, violations: (await checkLedger(place.ledger)).violations }
}

it('every tick is made once when processes are killed at random', async () => {
  const random = randomOf(drawSeed('schedules under kills'))
  const deathOf = () => ({
    death: { step: 1 + Math.floor(random() * 250), when: random() < 0.5 ? ('before' as const) : ('after' as const) },
  })
  const { complaints, strides, kills, counts, violations } = await play({ weeks: 10, processes: 2, random, deathOf })
  const down = strides.filter(({ survived }) => survived === 0).length
  console.log(`${kills} kills, ${JSON.stringify(counts)}, none survived ${down} of ${strides.length} strides`)
  expect(complaints).toEqual([])
  expect(violations).toEqual([])
  expect(kills).toBeGreaterThan(20)
  expect(down).toBeGreaterThan(0)
  expect(counts['queue']).toBeGreaterThan(counts['skip'] as number)
}, 300_000)

it('the check finds a schedule that is moved on before its task is created', async () => {
  const { complaints } = await play({
    weeks: 2,
    processes: 1,
    random: randomOf(1),
    deathOf: () => ({ diesMovingOn: 7 }),
  })
  expect(complaints).toContainEqual(expect.stringMatching(/^(allow|replace): .* was not made$/))
}, 120_000)
