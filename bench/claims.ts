// Claims and completes tasks without an executor, one after the other, with one commit per claim and per completion: with one
// process, and with eight that compete for the same tasks in one file.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createEngine } from '../src/index.ts'
import { workOff } from './claims-worker.ts'

const tasks = Number(process.env.BENCH_CLAIMS ?? 1_000)
const processes = 8

async function fill(path: string): Promise<void> {
  const engine = await createEngine({ ledger: path, work: false })
  for (let made = 0; made < tasks; made += 1_000) {
    const count = Math.min(1_000, tasks - made)
    await engine.create(Array.from({ length: count }, (_, n) => ({ name: 'for anybody', priority: n % 5 })))
  }
  await engine.close()
}

interface Report {
  started: number
  ended: number
  latencies: number[]
}

/** Resolves when the process has loaded the engine; then `go` starts its work. */
async function startWorker(path: string, owner: string): Promise<{ go(): Promise<Report> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'claims-worker.ts'), path, owner], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  await lines.next()
  return {
    async go() {
      child.stdin.write('go\n')
      const { value } = await lines.next()
      child.stdin.end()
      return JSON.parse(value as string) as Report
    },
  }
}

async function race(path: string): Promise<Report> {
  const workers = await Promise.all(Array.from({ length: processes }, (_, n) => startWorker(path, `worker-${n}`)))
  const reports = await Promise.all(workers.map((worker) => worker.go()))
  return {
    started: Math.min(...reports.map((report) => report.started)),
    ended: Math.max(...reports.map((report) => report.ended)),
    latencies: reports.flatMap((report) => report.latencies),
  }
}

export async function claims(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  try {
    const [alone, shared] = [join(folder, 'alone.db'), join(folder, 'shared.db')]
    await fill(alone)
    await fill(shared)
    const started = Date.now()
    const latencies = await workOff(alone, 'worker')
    report('1 process', { started, ended: Date.now(), latencies })
    report(`${processes} processes`, await race(shared))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function report(who: string, { started, ended, latencies }: Report): void {
  if (latencies.length !== tasks) throw new Error(`${latencies.length} claims for ${tasks} tasks`)
  const sorted = [...latencies].sort((a, b) => a - b)
  const at = (part: number): string => (sorted[Math.floor((sorted.length - 1) * part)] as number).toFixed(2)
  const rate = Math.round((tasks / (ended - started)) * 1000).toLocaleString('en')
  console.log(
    `claims: ${tasks.toLocaleString('en')} tasks claimed and completed by ${who}, synchronous=FULL: ${rate} tasks/s, a claim takes ${at(0.5)} ms (median), ${at(0.99)} ms (p99)`,
  )
}
