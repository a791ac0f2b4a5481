// A process of bench/claims.ts: claims and completes tasks until none is left, and prints how long each claim took.
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { createEngine } from '../src/index.ts'

/** Milliseconds of each claim that got a task. */
export async function workOff(path: string, owner: string): Promise<number[]> {
  const engine = await createEngine({ ledger: path, work: false })
  const latencies: number[] = []
  for (;;) {
    const started = performance.now()
    const task = await engine.claim(null, { owner, leaseMs: 60_000 })
    if (task === null) break
    latencies.push(performance.now() - started)
    await engine.complete(task)
  }
  await engine.close()
  return latencies
}

if (process.argv[1] === import.meta.filename) {
  const [path, owner] = process.argv.slice(2) as [string, string]
  const go = once(process.stdin, 'data')
  process.stdout.write('ready\n')
  await go
  const started = Date.now()
  const latencies = await workOff(path, owner)
  process.stdout.write(`${JSON.stringify({ started, ended: Date.now(), latencies })}\n`, () => process.exit(0))
}
