// Plays the end-to-end scenario in a process of its own, which kills itself at a given point. If it reaches the end, it prints its steps.

import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Ledger, Op, Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { observingLate } from '../agents/team-faults.ts'
import { playScenario, scenarioOptions } from './end-to-end-scenario.ts'
import { type CrashPoints, createKillingLedger } from './killing-ledger.ts'

export interface ScenarioKill {
  /** Inside of the tool that leaves this mark, after it has. */
  inside?: string
  /** While a task is paused. */
  paused?: true
  /** At the next step of this name: before it, during its writes, or once it is durable. */
  step?: string
  when?: 'before' | 'midway' | 'after'
  /** Only after this model was called for its n-th step, from 0. Default: at once. */
  asked?: [who: string, turn: number]
}

export interface ScenarioProcessOptions extends CrashPoints {
  ledger: string
  effects: string
  kill?: ScenarioKill
  careless?: boolean
  /** The planted fault: calls are observed outside of the transaction that records them. */
  late?: boolean
}

const options = JSON.parse(process.argv[2] as string) as ScenarioProcessOptions
const { kill = {} } = options
const die = () => process.kill(process.pid, 'SIGKILL')
let isArmed = kill.asked === undefined

const inner = await openLedger(options.ledger)
const { ledger, steps } = createKillingLedger(killingAt(inner), options)
let engine: Engine<any> | undefined
engine = await createEngine({
  ...scenarioOptions({
    effects: options.effects,
    careless: options.careless ?? false,
    pause: (taskId) => engine?.pause(taskId),
    inside: (mark) => void (mark === kill.inside && die()),
    asked(who, turn) {
      if (kill.asked?.[0] === who && kill.asked[1] === turn) isArmed = true
    },
  }),
  ledger: options.late ? observingLate(ledger) : ledger,
  // Runs follow each other, so that the next step of that name belongs to the model named in `asked`.
  maxConcurrent: options.kill === undefined ? 10 : 1,
  onError: (error) => process.stderr.write(`${String(error)}\n`),
})
await playScenario(engine, () => void (kill.paused && die()))
await engine.close()
await inner.close()
process.stdout.write(`${JSON.stringify({ steps: steps() })}\n`)

/** A ledger at one of whose steps the process kills itself. */
function killingAt(within: Ledger): Ledger {
  let isDurable = false
  return {
    name: within.name,
    read: (query) => within.read(query),
    register: (id) => within.register(id),
    isAlive: (id) => within.isAlive(id),
    unregister: (id) => within.unregister(id),
    close: () => within.close(),
    observe: (observer, options) =>
      within.observe(
        {
          committed(events) {
            if (isDurable) die()
            observer.committed(events)
          },
          changed: () => observer.changed(),
          failed: (error) => observer.failed(error),
        },
        options,
      ),
    step<R>(step: Step<R>): Promise<R> {
      if (!isArmed || step.name !== kill.step) return within.step(step)
      if (kill.when === 'before') die()
      const last: Step<R> = {
        ...step,
        *decide(tx): Op<R> {
          const result = yield* kill.when === 'midway' ? killedMidway(step.decide(tx)) : step.decide(tx)
          isDurable = true
          return result
        },
      }
      return within.step(last).finally(die)
    },
  }
}

/** A step of fewer statements is killed before its commit. */
const statementsBeforeKill = 12

function* killedMidway<R>(write: Op<R>): Op<R> {
  let written = 0
  for (let next = write.next(); ; next = write.next(yield next.value)) {
    if (next.done || written++ === statementsBeforeKill) {
      die()
      return next.value as R
    }
  }
}
