// One of many processes on a board: claims the best task and completes it until none is left, and reports its tasks and the duration of each
// claim and completion. It begins when it reads a line, so that all begin together.
import { once } from 'node:events'
import { createEngine } from '../../src/engine/create-engine.ts'

export interface ClaimReport {
  owner: string
  claimed: string[]
  claimMs: number[]
  completeMs: number[]
  refusals: string[]
}

const [ledger, owner] = process.argv.slice(2) as [string, string]
const report: ClaimReport = { owner, claimed: [], claimMs: [], completeMs: [], refusals: [] }
const engine = await createEngine({ ledger, work: false, onError: (error) => report.refusals.push(String(error)) })
process.stdout.write(`${JSON.stringify({ ready: owner })}\n`)
await once(process.stdin, 'data')

async function timed<T>(into: number[], work: () => Promise<T>): Promise<T> {
  const since = performance.now()
  try {
    return await work()
  } finally {
    into.push(performance.now() - since)
  }
}

try {
  for (;;) {
    const task = await timed(report.claimMs, () => engine.claim(null, { owner, leaseMs: 60_000 }))
    if (task === null) break
    report.claimed.push(task.id)
    await timed(report.completeMs, () => engine.complete(task, owner))
  }
  await engine.close()
} catch (error) {
  report.refusals.push(String(error))
}
process.stdout.write(`${JSON.stringify(report)}\n`)
process.stdin.destroy()
