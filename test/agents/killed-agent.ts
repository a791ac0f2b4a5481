// An agent in a process that dies at a write of its ledger, before it or after it, and another process that continues with the same script. What is
// checked: the conversation is complete, no tool ran twice, and the model received what was interrupted.
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Task } from '../../src/entities/task.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, Op, Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import type { Place } from '../crash/child.ts'
import { violations } from '../crash/invariants.ts'
import { programOf } from '../programs.ts'
import { complaintsOf, type Evidence, gather } from './kill-checks.ts'
import { playAlone } from './kill-points.ts'
import type { KillOrders } from './kill-process.ts'
import { answerAll, createScenarioModel, reportTask, scenarioAbilities } from './kill-scenario.ts'

const program = programOf(import.meta.dirname, './kill-process.ts')

/** The scenario in a process of its own, to its end or to its death. */
export const play = (place: Place, orders: Omit<KillOrders, 'ledger' | 'effects'> = {}) =>
  playAlone(program, place, orders)

interface GoOnOptions {
  careless?: boolean
  wrap?: (ledger: Ledger) => Ledger
}

/** Another process continues (here: this one), and everything reaches its end. */
export async function goOn(place: Place, { careless = false, wrap = (ledger) => ledger }: GoOnOptions = {}) {
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

export const interruptedIn = ({ calls }: Evidence) =>
  calls.filter(({ error }) => error?.message === 'Process crashed during execution').length

/** A ledger whose recovery misses the calls that were in progress. */
export const overlooksCalls = (inner: Ledger): Ledger =>
  delegateLedger(inner, {
    step: <R>(step: Step<R>) => inner.step(step.name === 'close runs of a lost engine' ? overlookingCalls(step) : step),
  })

function* noCalls(): Op<never[]> {
  return []
}

function overlookingCalls<R>(step: Step<R>): Step<R> {
  return {
    ...step,
    decide: (tx) => step.decide({ ...tx, call: { ...tx.call, open: noCalls } }),
  }
}
