// LangGraph.js with its SQLite saver. It has no queue: callers invoke threads and wait for them, so the lanes of callers are its
// concurrency. It stores the whole state after each node. With better-sqlite3's default the saver runs with NORMAL.
import { join } from 'node:path'
import type DatabaseConstructor from 'better-sqlite3'
import { floorDurability } from '../floors/bare-database.ts'
import type { Size as StepsGiven } from '../rows/steps.ts'
import type { Given } from '../rows/throughput.ts'
import type { Peer, World } from '../runner/row.ts'
import { callWithin } from './call-within.ts'
import { normalDurability } from './durability.ts'
import { loadPeer } from './install.ts'

interface Graph {
  addNode(name: string, work: (state: { n: number }) => Promise<{ n: number }>): Graph
  addEdge(from: string, to: string): Graph
  compile(options: { checkpointer: unknown }): {
    invoke(state: { n: number }, options: object): Promise<{ n: number }>
  }
}

interface LangGraph {
  StateGraph: new (state: unknown) => Graph
  Annotation: (() => unknown) & { Root(shape: object): unknown }
  START: string
  END: string
}

type Synchronous = 'full' | 'normal'

async function runTasks(
  { folder }: World,
  synchronous: Synchronous,
  { tasks, concurrency, steps }: StepsGiven,
): Promise<number> {
  const { StateGraph, Annotation, START, END } = await loadPeer<LangGraph>('@langchain/langgraph')
  const { SqliteSaver } = await loadPeer<{ SqliteSaver: new (database: unknown) => unknown }>(
    '@langchain/langgraph-checkpoint-sqlite',
  )
  const { default: Database } = await loadPeer<{ default: typeof DatabaseConstructor }>('better-sqlite3')
  const database = new Database(join(folder, 'langgraph.db'))
  database.pragma('journal_mode = wal')
  database.pragma(`synchronous = ${synchronous}`)
  const graph = new StateGraph(Annotation.Root({ n: Annotation() }))
  for (let n = 0; n < steps; n++) graph.addNode(`step-${n}`, async (state) => ({ n: state.n + 1 }))
  const names = [START, ...Array.from({ length: steps }, (_, n) => `step-${n}`), END]
  for (const [index, name] of names.slice(1).entries()) graph.addEdge(names[index] as string, name)
  const app = graph.compile({ checkpointer: new SqliteSaver(database) })
  const rate = await callWithin(tasks, concurrency, async (task) => {
    const { n } = await app.invoke({ n: 0 }, { configurable: { thread_id: `thread-${task}` } })
    if (n !== steps) throw new Error(`a thread of LangGraph ended after ${n} of ${steps} nodes`)
  })
  database.close()
  return rate
}

const durabilities = { full: floorDurability, normal: normalDurability }

const throughput = (synchronous: Synchronous) => ({
  durability: durabilities[synchronous],
  cases: ['concurrency 10', 'concurrency 100'],
  measure: async (given: Given, world: World) => ({ rate: await runTasks(world, synchronous, { ...given, steps: 1 }) }),
})

const steps = (synchronous: Synchronous) => ({
  durability: durabilities[synchronous],
  measure: async (given: StepsGiven, world: World) => ({
    rate: given.steps * (await runTasks(world, synchronous, given)),
  }),
})

export const langGraph: Peer = {
  packages: {
    '@langchain/langgraph': '1.7.3',
    '@langchain/langgraph-checkpoint-sqlite': '1.0.4',
    '@langchain/core': '1.4.0',
    'better-sqlite3': '13.2.0',
  },
  rows: {
    throughput: { 'LangGraph FULL': throughput('full'), 'LangGraph NORMAL': throughput('normal') },
    steps: { 'LangGraph FULL': steps('full'), 'LangGraph NORMAL': steps('normal') },
  },
}
