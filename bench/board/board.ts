// The board: 3,000 dependent tasks claimed and completed through the abilities by four processes on one file, while a fifth follows
// the events of all of them; and the same by one process alone.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '../../src/index.ts'
import { type WorkReport, workOff } from '../../test/board/board-worker.ts'
import { createLayers } from '../../test/board/layered-tasks.ts'
import { startWorker } from '../../test/board/worker-process.ts'

const tasks = Number(process.env.BENCH_BOARD ?? 3_000)
const processes = 4

async function fill(ledger: string): Promise<void> {
  const engine = await createEngine({ ledger, work: false })
  await createLayers(engine, tasks)
  await engine.close()
}

interface Arrival {
  taskId: string
  /** When its step began, and when its event arrived here, in epoch milliseconds. */
  begunAt: number
  arrivedAt: number
}

/** Completions of other processes as they arrive here. */
async function followTail(ledger: string, signal: AbortSignal): Promise<Arrival[]> {
  const engine = await createEngine({ ledger, work: false })
  const arrivals: Arrival[] = []
  const { seq } = (await engine.list({ limit: 1 })).tasks[0] ?? { seq: 0 }
  for await (const { type, taskId, at } of engine.events({ after: seq, signal })) {
    if (type === 'task.completed') arrivals.push({ taskId, begunAt: at, arrivedAt: Date.now() })
  }
  await engine.close()
  return arrivals
}

export async function board(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  try {
    const [alone, shared] = [join(folder, 'alone.db'), join(folder, 'shared.db')]
    await fill(alone)
    await fill(shared)
    report('1 process', [await workOff(alone, 'agent', tasks)])
    const workers = Array.from({ length: processes }, (_, n) => startWorker(shared, `agent-${n}`, tasks))
    await Promise.all(workers.map((worker) => worker.ready))
    const stop = new AbortController()
    const tail = followTail(shared, stop.signal)
    const reports = await Promise.all(workers.map((worker) => worker.go()))
    report(`${processes} processes`, reports)
    stop.abort()
    const arrivals = await tail
    const durable: Record<string, number> = Object.assign({}, ...reports.map(({ durableAt }) => durableAt))
    const late = arrivals.map(({ taskId, arrivedAt }) => Math.max(0, arrivedAt - (durable[taskId] ?? arrivedAt)))
    console.log(
      `board: live tail of ${arrivals.length} completions across processes: received ${shares(late)} after the commit, ` +
        `${shares(arrivals.map(({ begunAt, arrivedAt }) => arrivedAt - begunAt))} after their step began (waiting for the lock included)`,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function report(who: string, reports: readonly WorkReport[]): void {
  const done = reports.flatMap((report) => report.done)
  if (done.length !== tasks || new Set(done).size !== tasks)
    throw new Error(`${done.length} of ${tasks} tasks, or doubles`)
  const tookMs = Math.max(...reports.map(({ ended }) => ended)) - Math.min(...reports.map(({ started }) => started))
  const rate = Math.round((tasks / tookMs) * 1000).toLocaleString('en')
  console.log(
    `board: ${tasks.toLocaleString('en')} dependent tasks by ${who}, synchronous=FULL: ${rate} tasks/s, a claim takes ${shares(reports.flatMap(({ claimMs }) => claimMs))}`,
  )
}

function shares(ms: readonly number[]): string {
  const sorted = [...ms].sort((a, b) => a - b)
  const at = (part: number): string => (sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(1)
  return `${at(0.5)} ms (median), ${at(0.99)} ms (p99)`
}
