// plainjob: a queue on SQLite. It has jobs and retries, but no journal of calls, no waiting, no families. Each worker runs one job at a time.
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type DatabaseConstructor from 'better-sqlite3'
import { floorDurability } from '../floors/bare-database.ts'
import type { Given as DispatchGiven } from '../rows/dispatch.ts'
import { latencyFigures } from '../rows/dispatch.ts'
import type { Given } from '../rows/throughput.ts'
import type { Peer, World } from '../runner/row.ts'
import { normalDurability } from './durability.ts'
import { loadPeer } from './install.ts'

interface Job {
  data: string
}

interface Plainjob {
  better(database: unknown): unknown
  defineQueue(options: object): { add(type: string, data: unknown): unknown; close(): void }
  defineWorker(
    type: string,
    process: (job: Job) => void,
    options: object,
  ): { start(): Promise<void>; stop(): Promise<void> }
}

type Synchronous = 'full' | 'normal'

const logger = { error: console.error, warn: console.error, info: () => {}, debug: () => {} }
/** It polls, so a job of an idle worker waits. This is its default. */
const pollMs = 1_000

async function open({ folder }: World, synchronous: Synchronous) {
  const { better, defineQueue, defineWorker } = await loadPeer<Plainjob>('plainjob')
  const { default: Database } = await loadPeer<{ default: typeof DatabaseConstructor }>('better-sqlite3')
  const database = new Database(join(folder, 'plainjob.db'))
  const queue = defineQueue({ connection: better(database), logger })
  // It sets NORMAL itself.
  database.pragma(`synchronous = ${synchronous}`)
  return { database, queue, work: (process: (job: Job) => void) => defineWorker('trivial', process, { queue, logger }) }
}

const throughput = (synchronous: Synchronous) => ({
  durability: synchronous === 'full' ? floorDurability : normalDurability,
  cases: ['concurrency 10', 'concurrency 100'],
  async measure({ tasks, concurrency }: Given, world: World) {
    const { database, queue, work } = await open(world, synchronous)
    let done = 0
    const ended = Promise.withResolvers<void>()
    const began = performance.now()
    for (let n = 0; n < tasks; n++) queue.add('trivial', null)
    const workers = Array.from({ length: concurrency }, () =>
      work(() => {
        if (++done === tasks) ended.resolve()
      }),
    )
    for (const worker of workers) void worker.start()
    await ended.promise
    const elapsed = performance.now() - began
    for (const worker of workers) void worker.stop()
    database.pragma('optimize')
    return { rate: (tasks / elapsed) * 1_000 }
  },
})

const dispatch = (synchronous: Synchronous) => ({
  durability: synchronous === 'full' ? floorDurability : normalDurability,
  cases: ['idle'],
  async measure({ tasks, everyMs }: DispatchGiven, world: World) {
    const { queue, work } = await open(world, synchronous)
    const began: number[] = []
    const latencies: number[] = []
    const ended = Promise.withResolvers<void>()
    const worker = work(({ data }) => {
      latencies.push(performance.now() - (began[JSON.parse(data) as number] as number))
      if (latencies.length === tasks) ended.resolve()
    })
    void worker.start()
    await delay(pollMs / 10)
    for (let n = 0; n < tasks; n++) {
      began[n] = performance.now()
      queue.add('trivial', n)
      await delay(everyMs)
    }
    await ended.promise
    void worker.stop()
    return latencyFigures(latencies)
  },
})

export const plainjob: Peer = {
  packages: { plainjob: '0.0.14', 'better-sqlite3': '13.2.0' },
  rows: {
    throughput: { 'plainjob FULL': throughput('full'), 'plainjob NORMAL': throughput('normal') },
    dispatch: { 'plainjob FULL': dispatch('full'), 'plainjob NORMAL': dispatch('normal') },
  },
}
