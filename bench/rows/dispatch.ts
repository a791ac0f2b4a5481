// The time from the call of `create` to the start of the executor: on an idle engine, and while other tasks take half of its rate.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { floorDurability, openBare } from '../floors/bare-database.ts'
import { createSlots, inLanes } from '../floors/lanes.ts'
import { defineRow, type Errand, type FigureKind, type Figures } from '../runner/row.ts'
import { quantile } from '../runner/statistics.ts'

interface Size {
  /** Tasks that are measured. */
  tasks: number
  everyMs: number
  /** Tasks that find out the rate of the engine. */
  calibration: number
}

export interface Given {
  tasks: number
  everyMs: number
  /** Of the rate that the engine has with ten slots; the floor gets as many tasks, not the same share of its own rate. */
  load: number
}

const slots = 10
const rateFile = (prepared: string): string => join(prepared, 'rate.json')

export const latencyKinds: Record<string, FigureKind> = {
  p50: { label: 'p50', unit: 'ms', better: 'less' },
  p99: { label: 'p99', unit: 'ms', better: 'less' },
}

export const latencyFigures = (ms: readonly number[]): Figures => ({ p50: quantile(ms, 0.5), p99: quantile(ms, 0.99) })

/** Creates tasks at a rate, without waiting for them, until the returned function is called. */
function offer(perSecond: number, create: () => Promise<unknown>): () => Promise<void> {
  const began = performance.now()
  let created = 0
  const open = new Set<Promise<unknown>>()
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1_000) * perSecond
    for (; created < due; created++) {
      const one = create().finally(() => open.delete(one))
      open.add(one)
    }
  }, 1)
  return async () => {
    clearInterval(timer)
    await Promise.all(open)
  }
}

/** Latencies of tasks that are created one at a time. `create` resolves at the first line of the task. */
async function latenciesOf(given: Given, create: (n: number) => Promise<number>): Promise<number[]> {
  const latencies: number[] = []
  for (let n = 0; n < given.tasks; n++) {
    await delay(given.everyMs)
    const began = performance.now()
    latencies.push((await create(n)) - began)
  }
  return latencies
}

/** Latencies of tasks of an engine on the ledger at `path`. */
export async function dispatchByEngine(
  { createEngine }: Errand,
  path: string,
  given: Given,
  loadPerSecond = 0,
): Promise<number[]> {
  const started: Array<(at: number) => void> = []
  const engine = await createEngine({
    ledger: path,
    maxConcurrent: slots,
    executors: {
      probe: (task: { input: number }) => started[task.input]?.(performance.now()),
      load: () => null,
    },
  })
  const stop = loadPerSecond === 0 ? undefined : offer(loadPerSecond, () => engine.create({ executor: 'load' }))
  const latencies = await latenciesOf(given, async (n) => {
    const start = new Promise<number>((resolve) => {
      started[n] = resolve
    })
    await engine.create({ executor: 'probe', input: n })
    return start
  })
  await stop?.()
  await engine.idle()
  await engine.close()
  return latencies
}

async function dispatchOnFloor(folder: string, given: Given, loadPerSecond: number): Promise<number[]> {
  const bare = openBare(folder, 'create table task (id integer primary key, status text, input text, result text)')
  const insert = bare.database.prepare(`insert into task (status, input) values ('submitted', 'null')`)
  const end = bare.database.prepare(`update task set status = 'completed', result = 'null' where id = ?`)
  const running = createSlots(slots)
  const create = async (firstLine: () => void): Promise<void> => {
    let id: number | bigint = 0
    await bare.write(() => {
      id = insert.run().lastInsertRowid
    })
    running.run(async () => {
      firstLine()
      await bare.write(() => void end.run(id))
    })
  }
  const stop = loadPerSecond === 0 ? undefined : offer(loadPerSecond, () => create(() => {}))
  const latencies = await latenciesOf(
    given,
    () => new Promise<number>((resolve) => void create(() => resolve(performance.now()))),
  )
  await stop?.()
  await running.idle()
  bare.close()
  return latencies
}

const loadOf = (given: Given, prepared: string): number =>
  given.load === 0 ? 0 : given.load * Number(readFileSync(rateFile(prepared), 'utf8'))

export const dispatch = defineRow<Size, Given>({
  name: 'dispatch',
  title: 'From create to the start of the executor',
  method:
    'The time from the call of `create` until the executor runs: first for one task at a time, then while other tasks arrive at half ' +
    'of the rate that errand has with ten slots. The floor starts a task when its row is durable, and gets the same load.',
  figures: latencyKinds,
  sizes: {
    full: { tasks: 200, everyMs: 25, calibration: 5_000 },
    quick: { tasks: 60, everyMs: 20, calibration: 1_000 },
    tiny: { tasks: 3, everyMs: 1, calibration: 20 },
  },
  rounds: { full: 5, quick: 3, tiny: 1 },
  cases: ({ tasks, everyMs }) => [
    { name: 'idle', given: { tasks, everyMs, load: 0 } },
    { name: 'half load', given: { tasks, everyMs, load: 0.5 } },
  ],

  async prepare({ calibration }, { errand, folder, prepared }) {
    const { createEngine } = await errand()
    const engine = await createEngine({
      ledger: join(folder, 'ledger.db'),
      maxConcurrent: slots,
      executors: { trivial: () => null },
    })
    const began = performance.now()
    await inLanes(calibration, slots, () => engine.create({ executor: 'trivial' }))
    await engine.idle()
    writeFileSync(rateFile(prepared), String((calibration / (performance.now() - began)) * 1_000))
    await engine.close()
  },

  sides: {
    errand: {
      durability: floorDurability,
      async measure(given, { errand, folder, prepared }) {
        const path = join(folder, 'ledger.db')
        return latencyFigures(await dispatchByEngine(await errand(), path, given, loadOf(given, prepared)))
      },
    },
    floor: {
      durability: floorDurability,
      async measure(given, { folder, prepared }) {
        return latencyFigures(await dispatchOnFloor(folder, given, loadOf(given, prepared)))
      },
    },
  },

  goals: [
    { figure: 'p50', case: 'idle', as: 'ratio', atMost: 1.3 },
    { figure: 'p50', case: 'half load', as: 'ratio', atMost: 1.3 },
  ],
})
