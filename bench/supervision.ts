// The cost and latency of supervision: commits per wave of ten trivial tasks, tasks per second at two concurrencies, and the delay
// of waking a sleeping task whose engine has closed. BENCH_BASE names another built checkout to compare with; rounds alternate, so
// that a slow phase of a shared machine affects both.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'

const tasks = Number(process.env.BENCH_TASKS ?? 10_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const waves = 20
const waveSize = 10
const sleepMs = 1_000
const patienceMs = 4_000

interface Build {
  name: string
  createEngine: typeof import('../src/index.ts').createEngine
  openLedger: typeof import('../src/ledger/open-ledger.ts').openLedger
}

async function loadBuilds(): Promise<Build[]> {
  const current = [import('../src/index.ts'), import('../src/ledger/open-ledger.ts')] as const
  const builds: Build[] = [{ name: 'this', ...(await current[0]), ...(await current[1]) }]
  const base = process.env.BENCH_BASE
  if (base === undefined) return builds
  const [index, ledger] = ['index.js', 'testing.js'].map((file) => import(join(base, 'dist', file)))
  return [{ name: 'base', ...(await index), ...(await ledger) } as Build, ...builds]
}

function withFile<R>(use: (path: string) => Promise<R>): Promise<R> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  return use(join(folder, 'errand.db')).finally(() => rmSync(folder, { recursive: true, force: true }))
}

/** Commits with events, from the first start to the last end, per wave. */
function commitsPerWave({ createEngine, openLedger }: Build): Promise<number> {
  return withFile(async (path) => {
    const ledger = await openLedger(path)
    const engine = await createEngine({ ledger, maxConcurrent: waveSize, executors: { trivial: () => null } })
    await engine.create(Array.from({ length: waves * waveSize }, () => ({ executor: 'trivial', autoStart: false })))
    let commits = 0
    const stop = ledger.observe(
      { committed: () => commits++, changed: () => {}, failed: () => {} },
      { watchOthers: false },
    )
    await engine.schedule()
    stop()
    await engine.close()
    await ledger.close()
    // Two commits belong to no wave: releasing the tasks, and admitting the first wave.
    return (commits - 2) / waves
  })
}

/** Creates and runs all tasks with a concurrency; returns tasks per second. */
function tasksPerSecond({ createEngine }: Build, concurrency: number): Promise<number> {
  return withFile(async (path) => {
    const engine = await createEngine({ ledger: path, maxConcurrent: concurrency, executors: { trivial: () => null } })
    const began = performance.now()
    const lane = async (first: number): Promise<void> => {
      for (let n = first; n < tasks; n += concurrency) await engine.create({ executor: 'trivial' })
    }
    await Promise.all(Array.from({ length: concurrency }, (_, first) => lane(first)))
    await engine.idle()
    const seconds = (performance.now() - began) / 1_000
    await engine.close()
    return tasks / seconds
  })
}

/** Milliseconds between the end of a sleep and the end of its task. Its engine has closed; another one was open all the time. */
function wakeUpLatency({ createEngine }: Build): Promise<number> {
  return withFile(async (path) => {
    const released = Promise.withResolvers<void>()
    const executors = {
      nap: (_task: unknown, run: { sleep(ms: number): Promise<void> }) => run.sleep(sleepMs),
      hold: () => released.promise,
    }
    // The only slot of this engine is in use, so the other engine runs the sleeping task.
    const bystander = await createEngine({ ledger: path, maxConcurrent: 1, executors })
    const held = await bystander.create({ executor: 'hold' })
    for await (const { type } of bystander.events({ taskId: held.id })) if (type === 'task.started') break
    const sleeper = await createEngine({ ledger: path, executors })
    const task = await sleeper.create({ executor: 'nap' })
    let slept = 0
    for await (const event of sleeper.events({ taskId: task.id })) {
      slept = event.at
      if (event.type === 'run.closed') break
    }
    await sleeper.close()
    released.resolve()
    const outcome = bystander.settled(task.id, { timeoutMs: sleepMs + patienceMs }).catch(() => undefined)
    const late = (await outcome) === undefined ? Infinity : Date.now() - slept - sleepMs
    await bystander.close()
    return late
  })
}

const measures: Array<[name: string, unit: string, measure: (build: Build) => Promise<number>]> = [
  ['commits for a wave of ten', '', commitsPerWave],
  ['tasks a second, concurrency 10', '/s', (build) => tasksPerSecond(build, 10)],
  ['tasks a second, concurrency 100', '/s', (build) => tasksPerSecond(build, 100)],
  ['wake-up of a sleeper whose engine has closed', ' ms late', wakeUpLatency],
]

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

export async function supervision(): Promise<void> {
  const builds = await loadBuilds()
  console.log(`\nSupervision: ${tasks} tasks, median of ${rounds} rounds`)
  for (const [name, unit, measure] of measures) {
    const found = new Map(builds.map((build) => [build.name, [] as number[]]))
    for (let round = 0; round < rounds; round++) {
      for (const build of round % 2 === 0 ? builds : builds.toReversed()) {
        found.get(build.name)?.push(await measure(build))
      }
    }
    const figures = [...found].map(([build, values]) => {
      const value = median(values)
      const shown = value === Infinity ? `not within ${patienceMs} ms` : `${Math.round(value * 10) / 10}${unit}`
      return `${build} ${shown}`
    })
    console.log(`  ${name}: ${figures.join(', ')}`)
  }
}

if (import.meta.main) await supervision()
