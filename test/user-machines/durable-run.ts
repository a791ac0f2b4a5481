// A machine run by an engine: its task is what is compared with XState's own actor. Engines may die and be replaced: at a death nothing of the
// engine reaches the ledger any more, time stands still, and a new engine goes on.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventObject } from 'xstate'
import { nextTurn } from '../../src/core/turns.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { EngineLives } from '../../src/testing/engine-lives.ts'
import type { DeathPoint } from '../../src/testing/mortal-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { machine as machineExecutor } from '../../src/user-machines/machine.ts'
import type { MachineRunner, Shape, View } from './machine-runner.ts'
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
  let shows: TaskView
  let turn = 0

  /** Engines side by side share one connection, whose commits notify all of them at once; in a file, each engine has its own. */
  let shared: Ledger | undefined
  let connection: Ledger | undefined
  const nextConnection = async (): Promise<Ledger> => {
    await connection?.close()
    connection = await openLedger(join(folder as string, 'ledger.db'))
    return connection
  }

  const livesOf = (kills: Deaths): EngineLives<Engine> =>
    new EngineLives<Engine>({
      clock,
      ledger: async () => shared ?? (await nextConnection()),
      kills(point) {
        if (point.when === 'before') steps.push(point.name)
        if (deaths.length === maxDeaths || !kills(point)) return false
        deaths.push(`${point.when} ${point.name}`)
        return true
      },
      open: (ledger, clock) =>
        createEngine({
          ledger: faulty(ledger),
          clock,
          executors: { machine: machineExecutor(recorded, { onInterrupt: 'rerun' }) },
          maxCrashes: 1_000_000,
          onError: (error: unknown) => void errors.push(error),
        }),
    })
  let workers: EngineLives<Engine>[] = []

  /** By turns on each of the engines. */
  const act = <T>(work: (engine: Engine) => Promise<T>): Promise<T> =>
    (workers[turn++ % workers.length] as EngineLives<Engine>).act(work)

  async function view(): Promise<View> {
    await isQuiet(clock.rest(), () => steps.length)
    if (errors.length > 0) throw errors[0]
    if (deaths.length === maxDeaths) throw new Error(`No end after ${maxDeaths} deaths: ${steps.slice(-40).join(', ')}`)
    const { mortal } = await (workers[0] as EngineLives<Engine>).life
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
      workers = Array.from({ length: engines }, () => livesOf(schedule()))
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
      await connection?.close()
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
