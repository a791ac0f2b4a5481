// A machine run by an engine: its task is what is compared with XState's own actor. Engines may die and be replaced: at a death nothing of the
// engine reaches the ledger any more, time stands still, and a new engine goes on.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventObject } from 'xstate'
import type { Clock, RestingEngine } from '../../src/core/clock.ts'
import { nextTurn } from '../../src/core/turns.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { machine as machineExecutor } from '../../src/user-machines/machine.ts'
import type { MachineRunner, Shape, View } from './machine-runner.ts'
import { type DeathPoint, type MortalLedger, mortalLedger } from './mortal-ledger.ts'
import { withRecordedActions } from './recorded-actions.ts'
import { add, TaskView } from './task-view.ts'

/** Whether an engine dies at this point. */
export type Deaths = (point: DeathPoint) => boolean

export interface DurableOptions {
  /** Default: no engine dies. Called anew for each of the engines that work side by side. */
  deaths?: () => Deaths
  /** How many engines work on the ledger at the same time. Default 1. */
  engines?: number
  /** Comes between the engines and the ledger: a fault of the product that is planted. */
  faulty?: (ledger: Ledger) => Ledger
  /** Opens the ledger of all engines, which ends with the run; default: one in memory. */
  open?: () => Promise<Ledger>
  /** The ledger is a file, which each new engine opens again. */
  inFile?: boolean
}

export interface DurableRunner extends MachineRunner {
  /** The steps after or before which an engine has died. */
  readonly deaths: readonly string[]
  /** The names of the steps of all engines. */
  readonly steps: readonly string[]
}

interface Life {
  engine: Engine
  mortal: MortalLedger
  close(): Promise<void>
}

/** More deaths than any schedule needs: a run that gets no further is ended with what it did last. */
const maxDeaths = 2000

export function durableRunner(
  { machine, input }: Pick<Shape, 'machine' | 'input'>,
  {
    deaths: schedule = () => () => false,
    engines = 1,
    faulty = (ledger) => ledger,
    open = () => openLedger(':memory:'),
    inFile = false,
  }: DurableOptions = {},
): DurableRunner {
  const clock = new SimulatedClock()
  const errors: unknown[] = []
  const deaths: string[] = []
  const steps: string[] = []
  /** How often each action really ran, dead engines included. */
  const executions = new Map<string, number>()
  const recorded = withRecordedActions(machine, (name) => add(executions, name))
  const folder = inFile ? mkdtempSync(join(tmpdir(), 'errand-machine-')) : undefined
  /** Absent in a file: its engines come one after the other. */
  let shared: Ledger | undefined
  let shows: TaskView
  let turn = 0

  const workers = Array.from({ length: engines }, () => new Worker(clock, begin, schedule()))

  async function begin(kills: Deaths, lifeClock: Clock): Promise<Life | undefined> {
    // Engines side by side share one connection, whose commits notify all of them at once.
    const ledger = shared ?? (await openLedger(join(folder as string, 'ledger.db')))
    const mortal = mortalLedger(ledger, (point) => {
      if (point.when === 'before') steps.push(point.name)
      if (deaths.length === maxDeaths || !kills(point)) return false
      deaths.push(`${point.when} ${point.name}`)
      return true
    })
    if (shared === undefined) void mortal.death.then(() => ledger.close())
    const creating = createEngine({
      ledger: faulty(mortal.ledger),
      clock: lifeClock,
      executors: { machine: machineExecutor(recorded, { onInterrupt: 'rerun' }) },
      maxCrashes: 1_000_000,
      onError: (error: unknown) => void errors.push(error),
    })
    const engine = (await Promise.race([creating, mortal.death])) as Engine | undefined
    return (
      engine && {
        engine,
        mortal,
        close: () => engine.close().then(() => (shared === undefined ? ledger.close() : undefined)),
      }
    )
  }

  /** Does it once: again, on the next engine, if its engine dies before it answers. */
  async function act<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
    const worker = workers[turn++ % workers.length] as Worker
    for (;;) {
      const { engine, mortal } = await worker.life
      const done = await Promise.race([work(engine).then((value) => ({ value })), mortal.death])
      if (done !== undefined) return done.value
    }
  }

  async function view(): Promise<View> {
    await isQuiet(clock.rest(), () => steps.length)
    if (errors.length > 0) throw errors[0]
    if (deaths.length === maxDeaths) throw new Error(`No end after ${maxDeaths} deaths: ${steps.slice(-40).join(', ')}`)
    const { mortal } = await (workers[0] as Worker).life
    const seen = await shows.next(mortal.ledger)
    checkExecutions(executions, shows)
    return seen
  }

  let sent = 0
  return {
    deaths,
    steps,
    async start() {
      if (folder === undefined) shared = await open()
      clock.join({ rest: () => restOf(workers) })
      for (const worker of workers) worker.start()
      const task = await act((engine) =>
        engine.create({ executor: 'machine', name: 'shape', key: 'shape', ...(input === undefined ? {} : { input }) }),
      )
      shows = new TaskView(task.id)
      return view()
    },
    async send(event: EventObject) {
      const id = `event-${++sent}`
      await act(async (engine) => {
        const task = await engine.get(shows.taskId)
        if (task?.status !== 'failed' && task?.status !== 'completed')
          await engine.sendEvent(shows.taskId, event, { id })
      })
      return view()
    },
    async advance(ms) {
      if (await isQuiet(clock.rest(), () => steps.length)) await clock.advance(ms)
      else clock.increment(ms)
      return view()
    },
    async end() {
      for (const worker of workers) await worker.end()
      await shared?.close()
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * An action is a call that the ledger knows before it runs, so it never runs more often than it was begun; and it is repeated only if nothing says
 * that it has ended.
 */
function checkExecutions(executions: ReadonlyMap<string, number>, { counts }: TaskView): void {
  for (const name of new Set([...executions.keys(), ...counts.begun.keys()])) {
    const [begun, ran, ended] = [counts.begun, executions, counts.ended].map((each) => each.get(name) ?? 0) as [
      number,
      number,
      number,
    ]
    if (ran > begun || ran < ended)
      throw new Error(`The action "${name}" was begun ${begun} times, ran ${ran} times and ended ${ended} times.`)
  }
}

/** One engine after another. */
class Worker {
  readonly #clock: SimulatedClock
  readonly #begin: (kills: Deaths, clock: Clock) => Promise<Life | undefined>
  readonly #kills: Deaths
  #life: Promise<Life> | undefined
  #resting: RestingEngine | undefined
  /** The engine that was asked last whether it rests. */
  #rested: RestingEngine | undefined
  #isEnding = false

  constructor(clock: SimulatedClock, begin: (kills: Deaths, clock: Clock) => Promise<Life | undefined>, kills: Deaths) {
    this.#clock = clock
    this.#begin = begin
    this.#kills = kills
  }

  /** The engine that lives, or the next one. */
  get life(): Promise<Life> {
    return this.#life as Promise<Life>
  }

  start(): void {
    this.#life = this.#live()
  }

  /** Resolves to whether something has been done, or an engine has died or begun. */
  async rest(): Promise<boolean> {
    const { mortal } = await this.life
    const resting = this.#resting as RestingEngine
    const isNew = resting !== this.#rested
    this.#rested = resting
    const isMoving = await Promise.race([resting.rest(), mortal.death.then(() => true)])
    return isNew || isMoving
  }

  async end(): Promise<void> {
    this.#isEnding = true
    const { close } = await this.life
    await close()
  }

  async #live(): Promise<Life> {
    for (;;) {
      const timers = new Set<unknown>()
      const life = await this.#begin((point) => !this.#isEnding && this.#kills(point), this.#clockOf(timers))
      if (life !== undefined && !life.mortal.isDead()) {
        void life.mortal.death.then(() => this.#forget(timers))
        void life.mortal.death.then(() => this.start())
        return life
      }
      this.#forget(timers)
    }
  }

  #forget(timers: ReadonlySet<unknown>): void {
    for (const timer of timers) this.#clock.clearTimeout(timer)
  }

  #clockOf(timers: Set<unknown>): Clock {
    return {
      now: () => this.#clock.now(),
      setTimeout: (...given) => {
        const timer = this.#clock.setTimeout(...given)
        timers.add(timer)
        return timer
      },
      clearTimeout: (timer) => this.#clock.clearTimeout(timer),
      join: (engine) => {
        this.#resting = engine
        return () => {}
      },
    }
  }
}

async function restOf(workers: readonly Worker[]): Promise<boolean> {
  let isMoving = false
  for (const worker of workers) if (await worker.rest()) isMoving = true
  return isMoving
}

/** Turns of the event loop without a step after which a machine is taken to wait for a promise that never settles, which is no rest to the clock. */
const enoughTurns = 400

/** Resolves to whether it rests. */
async function isQuiet(rest: Promise<void>, steps: () => number): Promise<boolean> {
  let isOver = false
  const over = rest.then(() => {
    isOver = true
  })
  for (let turn = 0, seen = -1; turn < enoughTurns && !isOver; turn++) {
    if (seen !== steps()) [turn, seen] = [0, steps()]
    await nextTurn()
  }
  await Promise.race([over, nextTurn()])
  return isOver
}
