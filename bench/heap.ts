// The memory of a submitted task: it exists only as a row, so the heap must not grow with the number of tasks.
import { createEngine } from '../src/index.ts'

const count = 100_000

export async function heap(): Promise<void> {
  if (globalThis.gc === undefined) throw new Error('Run with --expose-gc.')
  const engine = await createEngine({ executors: { later: () => null }, autoStart: false })
  await engine.create(Array.from({ length: 1_000 }, () => ({ executor: 'later' })))
  const before = settledHeap()
  for (let made = 0; made < count; made += 1_000) {
    await engine.create(Array.from({ length: 1_000 }, () => ({ executor: 'later' })))
  }
  const grown = settledHeap() - before
  console.log(
    `heap: ${count.toLocaleString('en')} submitted tasks cost ${(grown / count).toFixed(1)} bytes of heap each (aim: under 100)`,
  )
  await engine.close()
}

function settledHeap(): number {
  for (let round = 0; round < 3; round++) globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
