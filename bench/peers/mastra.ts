// Mastra's workflows on libsql. It has no queue: callers start runs and wait for them, so the lanes of callers are its concurrency. It
// stores a snapshot of the run after each step.
import { join } from 'node:path'
import type { Size as StepsGiven } from '../rows/steps.ts'
import type { Given } from '../rows/throughput.ts'
import type { Peer, World } from '../runner/row.ts'
import { callWithin } from './call-within.ts'
import { normalDurability } from './durability.ts'
import { loadPeer } from './install.ts'

interface Workflow {
  then(step: unknown): Workflow
  commit(): Workflow
  createRun(): Promise<Run>
}

interface Run {
  start(options: { inputData: object }): Promise<{ status: string }>
}

interface Workflows {
  createWorkflow(options: object): Workflow
  createStep(options: object): unknown
}

interface Schemas {
  z: { object(shape: object): unknown; number(): unknown }
}

/** Returns a function that creates runs. A workflow has `then`, so it cannot be the value of a promise. */
async function open({ folder }: World, stepsOfTask: number): Promise<() => Promise<Run>> {
  const { Mastra } = await loadPeer<{ Mastra: new (options: object) => { getWorkflow(id: string): Workflow } }>(
    '@mastra/core/mastra',
  )
  const { createWorkflow, createStep } = await loadPeer<Workflows>('@mastra/core/workflows')
  const { LibSQLStore } = await loadPeer<{ LibSQLStore: new (options: object) => unknown }>('@mastra/libsql')
  const { z } = await loadPeer<Schemas>('zod')
  const schema = z.object({ n: z.number() })
  let workflow = createWorkflow({ id: 'walk', inputSchema: schema, outputSchema: schema })
  for (let n = 0; n < stepsOfTask; n++) {
    const execute = async ({ inputData }: { inputData: { n: number } }) => ({ n: inputData.n + 1 })
    workflow = workflow.then(createStep({ id: `step-${n}`, inputSchema: schema, outputSchema: schema, execute }))
  }
  workflow.commit()
  const storage = new LibSQLStore({ id: 'bench', url: `file:${join(folder, 'mastra.db')}` })
  const mastra = new Mastra({ storage, workflows: { walk: workflow }, logger: false })
  const registered = mastra.getWorkflow('walk')
  return () => registered.createRun()
}

async function runTasks(world: World, tasks: number, concurrency: number, stepsOfTask: number): Promise<number> {
  const createRun = await open(world, stepsOfTask)
  return callWithin(tasks, concurrency, async () => {
    const run = await createRun()
    const { status } = await run.start({ inputData: { n: 0 } })
    if (status !== 'success') throw new Error(`a run of Mastra ended as ${status}`)
  })
}

export const mastra: Peer = {
  packages: { '@mastra/core': '1.71.0', '@mastra/libsql': '1.23.1', zod: '4.6.7' },
  rows: {
    throughput: {
      Mastra: {
        durability: normalDurability,
        cases: ['concurrency 10', 'concurrency 100'],
        measure: async ({ tasks, concurrency }: Given, world) => ({
          rate: await runTasks(world, tasks, concurrency, 1),
        }),
      },
    },
    steps: {
      Mastra: {
        durability: normalDurability,
        measure: async ({ tasks, steps, concurrency }: StepsGiven, world) => ({
          rate: steps * (await runTasks(world, tasks, concurrency, steps)),
        }),
      },
    },
  },
}
