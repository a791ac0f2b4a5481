// The whole story in a process of its own, which dies by SIGKILL where it is told to. If it lives to the end it tells which steps it took.

import { createEngine } from '../../src/create-engine.ts'
import type { Engine } from '../../src/engine-api.ts'
import type { Ledger, Op, Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { observingLate } from '../agent/team-faults.ts'
import { createMortalLedger, type Death } from './mortal-ledger.ts'
import { playWholeStory, storyOptions } from './whole-story.ts'

export interface StoryDeath {
  /** Inside of the tool that leaves this mark, when it has left it. */
  inside?: string
  /** While a task is paused. */
  halted?: true
  /** At the next step of this name: before it, in the middle of its writing, or as soon as it is durable. */
  step?: string
  when?: 'before' | 'midway' | 'after'
  /** Only from then on: when this model was asked for its n-th step, from 0. Default: at once. */
  asked?: [who: string, turn: number]
}

export interface StoryOrders {
  ledger: string
  effects: string
  death?: StoryDeath
  /** Dies at the n-th step of all. */
  dieAt?: Death
  careless?: boolean
  /** The planted fault: what agents do is observed outside of the transaction that records it. */
  late?: boolean
}

const orders = JSON.parse(process.argv[2] as string) as StoryOrders
const { death = {} } = orders
const die = () => process.kill(process.pid, 'SIGKILL')
let isArmed = death.asked === undefined

const inner = await openLedger(orders.ledger)
const { ledger, steps } = createMortalLedger(deadly(inner), orders.dieAt)
let engine: Engine<any> | undefined
engine = await createEngine({
  ...storyOptions({
    effects: orders.effects,
    careless: orders.careless ?? false,
    halt: (taskId) => engine?.pause(taskId),
    inside: (mark) => void (mark === death.inside && die()),
    asked(who, turn) {
      if (death.asked?.[0] === who && death.asked[1] === turn) isArmed = true
    },
  }),
  ledger: orders.late ? observingLate(ledger) : ledger,
  // One after the other, the step that a death waits for is the one of whom it was told.
  maxConcurrent: orders.death === undefined ? 10 : 1,
  onError: (error) => process.stderr.write(`${String(error)}\n`),
})
await playWholeStory(engine, () => void (death.halted && die()))
await engine.close()
await inner.close()
process.stdout.write(`${JSON.stringify({ steps: steps() })}\n`)

/** The ledger at one of whose steps the process dies. */
function deadly(within: Ledger): Ledger {
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
      if (!isArmed || step.name !== death.step) return within.step(step)
      if (death.when === 'before') die()
      const last: Step<R> = {
        ...step,
        *decide(tx): Op<R> {
          const result = yield* death.when === 'midway' ? dyingMidway(step.decide(tx)) : step.decide(tx)
          isDurable = true
          return result
        },
      }
      return within.step(last).finally(die)
    },
  }
}

/** A step of fewer statements dies before its commit. */
const statementsBeforeDeath = 12

function* dyingMidway<R>(write: Op<R>): Op<R> {
  let written = 0
  for (let next = write.next(); ; next = write.next(yield next.value)) {
    if (next.done || written++ === statementsBeforeDeath) {
      die()
      return next.value as R
    }
  }
}
