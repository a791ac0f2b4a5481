// The longest time in which the event loop was blocked.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

/** Milliseconds of the work, and its longest block of the event loop. */
export async function stallOf<R>(work: () => Promise<R>): Promise<{ stall: number; took: number; value: R }> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const began = performance.now()
  const value = await work()
  const took = performance.now() - began
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resume) => setImmediate(resume))
  delay.disable()
  // Work that ends before the first turn is not measured.
  return { stall: delay.count === 0 ? took : delay.max / 1e6, took, value }
}
