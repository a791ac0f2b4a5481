// OpenWorkflow on its SQLite backend, which is node:sqlite: workflows with durable steps. Workers poll, every 100 ms to 1 s when idle.
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { floorDurability } from '../floors/bare-database.ts'
import { inLanes } from '../floors/lanes.ts'
import type { Given as DispatchGiven } from '../rows/dispatch.ts'
import { latencyFigures } from '../rows/dispatch.ts'
import type { Size as StepsGiven } from '../rows/steps.ts'
import type { Given } from '../rows/throughput.ts'
import type { Peer, World } from '../runner/row.ts'
import { maxMs } from './durability.ts'
import { loadPeer } from './install.ts'

interface Steps {
  input: number
  step: { run(options: { name: string }, work: () => Promise<unknown>): Promise<unknown> }
}

interface Client {
  defineWorkflow(
    spec: { name: string },
    work: (steps: Steps) => Promise<unknown>,
  ): { run(input: number): Promise<unknown> }
  newWorker(options: { concurrency: number }): { start(): Promise<void>; stop(): Promise<void> }
}

interface OpenWorkflowModule {
  OpenWorkflow: new (options: { backend: unknown }) => Client
}

interface Sqlite {
  BackendSqlite: { connect(path: string): unknown }
}

async function open({ folder }: World): Promise<Client> {
  const { OpenWorkflow } = await loadPeer<OpenWorkflowModule>('openworkflow')
  const { BackendSqlite } = await loadPeer<Sqlite>('openworkflow/sqlite')
  return new OpenWorkflow({ backend: BackendSqlite.connect(join(folder, 'openworkflow.db')) })
}

/** Tasks per second: all of them, or those that ended within the time. */
async function runTasks(world: World, tasks: number, concurrency: number, stepsOfTask: number): Promise<number> {
  const client = await open(world)
  let done = 0
  const ended = Promise.withResolvers<void>()
  const workflow = client.defineWorkflow({ name: 'trivial' }, async ({ step }) => {
    for (let n = 0; n < stepsOfTask; n++) await step.run({ name: `step ${n}` }, async () => n)
    if (++done === tasks) ended.resolve()
    return null
  })
  const began = performance.now()
  await inLanes(tasks, concurrency, (n) => workflow.run(n))
  const worker = client.newWorker({ concurrency })
  await worker.start()
  await Promise.race([ended.promise, delay(maxMs)])
  return (done / (performance.now() - began)) * 1_000
}

export const openWorkflow: Peer = {
  packages: { openworkflow: '0.10.1' },
  rows: {
    throughput: {
      OpenWorkflow: {
        durability: floorDurability,
        cases: ['concurrency 10', 'concurrency 100'],
        measure: async ({ tasks, concurrency }: Given, world) => ({
          rate: await runTasks(world, tasks, concurrency, 0),
        }),
      },
    },
    steps: {
      OpenWorkflow: {
        durability: floorDurability,
        measure: async ({ tasks, steps, concurrency }: StepsGiven, world) => ({
          rate: steps * (await runTasks(world, tasks, concurrency, steps)),
        }),
      },
    },
    dispatch: {
      OpenWorkflow: {
        durability: floorDurability,
        cases: ['idle'],
        async measure({ tasks, everyMs }: DispatchGiven, world) {
          const client = await open(world)
          const began: number[] = []
          const latencies: number[] = []
          const ended = Promise.withResolvers<void>()
          const workflow = client.defineWorkflow({ name: 'trivial' }, async ({ input }) => {
            latencies.push(performance.now() - (began[input] as number))
            if (latencies.length === tasks) ended.resolve()
            return null
          })
          await client.newWorker({ concurrency: 10 }).start()
          for (let n = 0; n < tasks; n++) {
            began[n] = performance.now()
            await workflow.run(n)
            await delay(everyMs)
          }
          await ended.promise
          return latencyFigures(latencies)
        },
      },
    },
  },
}
