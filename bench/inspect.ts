// The cost of inspection: the same trivial tasks without an inspector, with an observer that does nothing, with the relay and one
// receiver in its own process, and without an inspector after all have disconnected. Rounds alternate, so that a slow phase of a
// shared machine affects all of them.
import { performance } from 'node:perf_hooks'
import { WebSocket } from 'ws'
import { createEngine } from '../src/index.ts'
import { serveInspector } from '../src/surfaces/inspector/serve-inspector.ts'

const tasks = Number(process.env.BENCH_INSPECTED_TASKS ?? 3_000)
const concurrency = 100

type BenchEngine = Awaited<ReturnType<typeof openEngine>>

function openEngine() {
  return createEngine({ maxConcurrent: concurrency, executors: { trivial: () => null } })
}

/** Attaches an inspector; resolves to a function that detaches it. */
type Watch = (engine: BenchEngine) => Promise<() => unknown>

const ways: Record<string, Watch> = {
  'no inspector': async () => () => {},
  'an observer that does nothing': async (engine) => engine.inspect(() => {}),
  'the relay with one receiver': async (engine) => {
    const server = await serveInspector(engine)
    const receiver = new WebSocket(server.url)
    await new Promise((resolve) => receiver.once('message', resolve))
    return () => server.close()
  },
  'no inspector any more': async (engine) => {
    engine.inspect(() => {})()
    return () => {}
  },
}

/** Creates, runs and completes all tasks; milliseconds. */
async function run(watch: Watch): Promise<number> {
  const engine = await openEngine()
  const leave = await watch(engine)
  const started = performance.now()
  await engine.create(Array.from({ length: tasks }, () => ({ executor: 'trivial' as const })))
  await engine.idle()
  const elapsed = performance.now() - started
  await leave()
  await engine.close()
  return elapsed
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

export async function inspect(rounds = 7): Promise<void> {
  const times = new Map(Object.keys(ways).map((name): [string, number[]] => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const [name, watch] of Object.entries(ways)) {
      const elapsed = await run(watch)
      // The first round warms up.
      if (round > 0) times.get(name)?.push(elapsed)
    }
  }
  const alone = median(times.get('no inspector') as number[])
  console.log(`inspect: ${tasks} tasks in memory, concurrency ${concurrency}, median of ${rounds}`)
  for (const [name, each] of times) {
    const ms = median(each)
    const more = (((ms - alone) / tasks) * 1_000).toFixed(0)
    console.log(
      `  ${name.padEnd(30)} ${((tasks / ms) * 1_000).toFixed(0)} tasks/s, ${more} µs more per task than without an inspector`,
    )
  }
}

if (process.argv[1] === import.meta.filename) await inspect()
