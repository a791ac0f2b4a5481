// Create → start → complete of trivial tasks, compared with the limit of the machine: the same statements in the same transactions,
// replayed with bare better-sqlite3 in the same process. Rounds alternate, so that a slow phase of a shared machine affects both.
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createEngine } from '../src/index.ts'
import { openLedger } from '../src/ledger/open-ledger.ts'

const Database = createRequire(import.meta.url)('better-sqlite3') as typeof import('better-sqlite3')

export const tasks = Number(process.env.BENCH_TASKS ?? 10_000)
const concurrency = 100

type Trace = Array<[sql: string, values: unknown[]]>

/** Creates, runs and completes all tasks; returns milliseconds. */
async function runEngine(path: string): Promise<number> {
  const engine = await createEngine({ ledger: path, maxConcurrent: concurrency, executors: { trivial: () => null } })
  const started = performance.now()
  await Promise.all(Array.from({ length: concurrency }, (_, lane) => createLane(engine, lane)))
  await engine.idle()
  const elapsed = performance.now() - started
  const { total } = await engine.list({ status: 'completed', limit: 0 })
  if (total !== tasks) throw new Error(`${total} of ${tasks} tasks completed`)
  await engine.close()
  return elapsed
}

async function createLane(engine: Awaited<ReturnType<typeof createEngine>>, lane: number): Promise<void> {
  for (let n = lane; n < tasks; n += concurrency) await engine.create({ executor: 'trivial' } as never)
}

/** The statements of the engine, in order, with their transactions. */
async function traceEngine(path: string): Promise<Trace> {
  const trace: Trace = []
  const probe = new Database(':memory:')
  const prototype = Object.getPrototypeOf(probe.prepare('select 1')) as {
    run: (...values: unknown[]) => unknown
    source: string
  }
  const original = prototype.run
  prototype.run = function (this: { source: string }, ...values: unknown[]) {
    trace.push([this.source, values])
    return original.apply(this, values)
  }
  try {
    await runEngine(path)
  } finally {
    prototype.run = original
    probe.close()
  }
  return trace
}

async function runBare(path: string, trace: Trace): Promise<number> {
  await (await openLedger(path)).close()
  const db = new Database(path)
  db.pragma('journal_mode = wal')
  db.pragma('synchronous = full')
  db.pragma('foreign_keys = on')
  const statements = new Map<string, import('better-sqlite3').Statement>()
  for (const [sql] of trace) if (!statements.has(sql)) statements.set(sql, db.prepare(sql))
  const started = performance.now()
  for (const [sql, values] of trace) (statements.get(sql) as import('better-sqlite3').Statement).run(...values)
  const elapsed = performance.now() - started
  db.close()
  return elapsed
}

export async function throughput(rounds = 5): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  try {
    const trace = await traceEngine(join(folder, 'trace.db'))
    const commits = trace.filter(([sql]) => sql === 'commit').length
    const writes = trace.length - 2 * commits
    console.log(
      `throughput: ${tasks} tasks, concurrency ${concurrency}, synchronous=FULL; ${writes} writes in ${commits} commits (${(tasks / commits).toFixed(0)} tasks a commit)`,
    )
    const ratios: number[] = []
    for (let round = 1; round <= rounds; round++) {
      const engineMs = await runEngine(join(folder, `engine-${round}.db`))
      const bareMs = await runBare(join(folder, `bare-${round}.db`), trace)
      ratios.push(bareMs / engineMs)
      console.log(
        `  round ${round}: engine ${perSecond(engineMs)} tasks/s, bare ${perSecond(bareMs)} tasks/s, engine at ${percent(bareMs / engineMs)} of bare`,
      )
    }
    ratios.sort((a, b) => a - b)
    console.log(`  median: ${percent(ratios[Math.floor(ratios.length / 2)] as number)} of the bare rate (aim: 33 %)`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const perSecond = (ms: number): string => Math.round((tasks / ms) * 1000).toLocaleString('en')
const percent = (ratio: number): string => `${(ratio * 100).toFixed(0)} %`
