// For peers without a queue: callers in lanes, each with the next run when the one before has ended, until all are done or time is up.
import { performance } from 'node:perf_hooks'
import { inLanes } from '../floors/lanes.ts'
import { maxMs } from './durability.ts'

/** Runs per second. */
export async function callWithin(count: number, lanes: number, run: (n: number) => Promise<unknown>): Promise<number> {
  const began = performance.now()
  let done = 0
  await inLanes(count, lanes, async (n) => {
    if (performance.now() - began > maxMs) return
    await run(n)
    done++
  })
  return (done / (performance.now() - began)) * 1_000
}
