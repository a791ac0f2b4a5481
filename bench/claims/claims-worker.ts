// A process of the row `claims`: claims and completes tasks until none is left, and prints how long each claim took.
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { loadEntry } from '../runner/package.ts'
import type { Errand } from '../runner/row.ts'

export interface WorkReport {
  /** Epoch milliseconds. */
  started: number
  ended: number
  /** Milliseconds of each claim that got a task. */
  latencies: number[]
}

const [packageRoot, ledger, owner] = process.argv.slice(2) as [string, string, string]
const { createEngine } = await loadEntry<Errand>(packageRoot, 'errand')
const go = once(process.stdin, 'data')
process.stdout.write('ready\n')
await go
const engine = await createEngine({ ledger, work: false })
const started = performance.timeOrigin + performance.now()
const latencies: number[] = []
for (;;) {
  const since = performance.now()
  const task = await engine.claim(null, { owner, leaseMs: 60_000 })
  if (task === null) break
  latencies.push(performance.now() - since)
  await engine.complete(task)
}
const report: WorkReport = { started, ended: performance.timeOrigin + performance.now(), latencies }
await engine.close()
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0))
