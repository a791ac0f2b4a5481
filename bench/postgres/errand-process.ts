// An engine of a sample: lanes that each wait for the result of their task, or tasks that arrive at random.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Run } from '../../src/entities/executor.ts'
import { BusyModel, turnOf } from '../agent-loop/busy-model.ts'
import { abilitiesOf } from '../agent-loop/loops.ts'
import { loadEntry, ownRoot } from '../runner/package.ts'
import type { Errand } from '../runner/row.ts'
import { childOrder, epochNow, serve } from './child.ts'

const order = childOrder()
const { lanes, calls = 0, perSecond, agentSteps = 0 } = order
let waits: number[] = []
const sent = countSent()
const errand = await loadEntry<Errand>(ownRoot, 'errand')
const engine = await errand.createEngine({
  ledger: order.url,
  maxConcurrent: lanes,
  ...(agentSteps > 0
    ? {
        abilities: abilitiesOf(errand),
        executors: { work: errand.agent({ model: timedModel(), abilities: ['bench:*'], maxIterations: agentSteps }) },
      }
    : { executors: { work: trivial } }),
})
let last = ''

async function runOne(): Promise<void> {
  const since = epochNow()
  const task = await engine.create({
    executor: 'work',
    ...(agentSteps > 0 ? { goal: `Look everything up since ${since}.` } : { input: since }),
  })
  await engine.result(task.id)
  last = task.id
}

async function inLanesFor(seconds: number): Promise<number> {
  const until = epochNow() + seconds * 1_000
  let tasks = 0
  const lane = async (): Promise<void> => {
    for (; epochNow() < until; tasks++) await runOne()
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  const recorded = await engine.calls(last)
  const expected = agentSteps > 0 ? agentSteps - 1 : calls
  if (recorded.filter(({ status }) => status === 'completed').length !== expected) {
    throw new Error(`the last task has ${recorded.length} of ${expected} calls`)
  }
  return tasks
}

async function arriveFor(seconds: number, rate: number): Promise<number> {
  const began = epochNow()
  const open: Array<Promise<void>> = []
  for (let due = began; ; ) {
    due += (-Math.log(1 - Math.random()) / rate) * 1_000
    if (due > began + seconds * 1_000) break
    const early = due - epochNow()
    if (early > 0) await delay(early)
    open.push(runOne())
  }
  await Promise.all(open)
  return open.length
}

await serve(
  order,
  (seconds) => (perSecond === undefined ? inLanesFor(seconds) : arriveFor(seconds, perSecond)),
  () => {
    waits = []
    sent.statements = sent.roundTrips = 0
  },
  () => ({ waits, ...sent }),
)
await engine.close()
process.exit(0)

async function trivial(task: { input: number }, run: Run): Promise<null> {
  waits.push(epochNow() - task.input)
  for (let n = 0; n < calls; n++) await run.call('step', { n }, () => n)
  return null
}

/** The model of all agents, which counts the first step as the start of the executor. */
function timedModel(): BusyModel {
  const model = new BusyModel({ steps: agentSteps - 1, calls: 1, idleTools: 0 })
  const answer = model.doStream.bind(model)
  model.doStream = (given) => {
    const [, since] = /since ([\d.]+)\./.exec(turnOf(given.prompt) === 1 ? JSON.stringify(given.prompt) : '') ?? []
    if (since !== undefined) waits.push(epochNow() - Number(since))
    return answer(given)
  }
  return model
}

/** Counts what all connections of this process send. */
function countSent(): { statements: number; roundTrips: number } {
  const counts = { statements: 0, roundTrips: 0 }
  const open = new WeakMap<object, number>()
  const prototype = pg.Client.prototype as { query(...given: unknown[]): unknown }
  const { query } = prototype
  prototype.query = function (this: object, ...given) {
    const before = open.get(this) ?? 0
    counts.statements++
    if (before === 0) counts.roundTrips++
    open.set(this, before + 1)
    const answer = query.apply(this, given) as Promise<unknown>
    const answered = (): void => void open.set(this, (open.get(this) as number) - 1)
    answer.then(answered, answered)
    return answer
  }
  return counts
}
