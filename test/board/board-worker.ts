// A member of a team in its own process: claims and completes tasks until all are done, and reports what it got. Used by the test of
// the four processes.
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { createEngine } from '../../src/index.ts'

export interface WorkReport {
  as: string
  started: number
  ended: number
  /** Numbers of the tasks that it completed, in order. */
  done: number[]
  /** By task id, when the completion was known to be durable, in epoch milliseconds. */
  durableAt: Record<string, number>
  /** Numbers of the tasks that it unblocked. */
  freed: number[]
  /** Duration of each successful claim, in milliseconds. */
  claimMs: number[]
  /** Unexpected refusals. */
  refusals: string[]
}

/** Works until the board has `total` completed tasks. */
export async function workOff(ledger: string, as: string, total: number): Promise<WorkReport> {
  const engine = await createEngine({ ledger, work: false })
  const report: WorkReport = {
    as,
    started: Date.now(),
    ended: 0,
    done: [],
    durableAt: {},
    freed: [],
    claimMs: [],
    refusals: [],
  }
  let wake = Promise.withResolvers<void>()
  const stop = new AbortController()
  const following = (async () => {
    for await (const event of engine.events({ signal: stop.signal })) {
      if (event.type !== 'task.unblocked' && event.type !== 'task.completed') continue
      wake.resolve()
      wake = Promise.withResolvers<void>()
    }
  })()
  for (;;) {
    const changed = wake.promise
    const since = performance.now()
    const { task } = await engine.bus.call('board:claim_next', { as, leaseMs: 60_000 })
    if (task === null) {
      if ((await engine.list({ status: 'completed', limit: 0 })).total === total) break
      await changed
      continue
    }
    report.claimMs.push(performance.now() - since)
    try {
      const { unblocked } = await engine.bus.call('board:complete', { id: task.id, as, fence: task.fence })
      report.durableAt[task.taskId] = Date.now()
      report.done.push(task.id)
      report.freed.push(...unblocked.map(({ id }) => id))
    } catch (error) {
      report.refusals.push(String(error))
    }
  }
  report.ended = Date.now()
  stop.abort()
  await following
  await engine.close()
  return report
}

if (import.meta.main) {
  const [ledger, as, total] = process.argv.slice(2) as [string, string, string]
  const go = once(process.stdin, 'data')
  process.stdout.write('"ready"\n')
  await go
  process.stdout.write(`${JSON.stringify(await workOff(ledger, as, Number(total)))}\n`, () => process.exit(0))
}
