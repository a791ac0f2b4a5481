// The functions of suspended runs are garbage: ten thousand of them leave a flat heap.
import { describe, expect, it, vi } from 'vitest'
import { settledHeap } from '../../../bench/runner/heap.ts'
import { RunCore } from '../../../src/actors/run-core.ts'
import { turns } from '../../engine/world.ts'
import { createWorld, gate } from '../../runs/world.ts'

const batch = 1_000
const batches = 10
const day = 86_400_000
/** What each function holds while it waits, in bytes. */
const heldBytes = 8 * 1_024

/** Suspends ten thousand runs, each of which holds an array over its sleep. Resolves to the bytes that each has left, without those of a first batch. */
async function bytesOfSuspended(): Promise<number> {
  const world = await createWorld(
    async (task, run) => {
      const held = Array.from<string>({ length: heldBytes / 8 }).fill(task.id)
      run.signal.addEventListener('abort', () => held.push('aborted'))
      run.onSuspend(() => held.push('released'))
      await run.sleep(day)
      return held.length
    },
    { maxConcurrent: 100 },
  )
  const { engine } = world
  let missing = 0
  let closed = gate()
  engine.subscribe('run.closed', () => {
    if (--missing === 0) closed.resolve()
  })
  const suspendBatch = async (): Promise<void> => {
    missing = batch
    closed = gate()
    await engine.create(Array.from({ length: batch }, () => ({ executor: 'work' as const })))
    await closed.promise
    await turns()
  }
  await suspendBatch()
  const before = settledHeap()
  for (let index = 0; index < batches; index++) await suspendBatch()
  const grown = settledHeap() - before
  expect((await engine.list({ status: 'waiting', limit: 0 })).total).toBe((1 + batches) * batch)
  expect(engine.status.get().context.slots.used).toBe(0)
  await engine.close()
  return grown / (batches * batch)
}

describe('ten thousand suspended runs', () => {
  it('ten thousand suspended runs leave a flat heap', async () => {
    expect(await bytesOfSuspended()).toBeLessThan(heldBytes / 10)
  })

  it('ten thousand suspended runs would be seen in the heap if something kept their requests', async () => {
    const kept: unknown[] = []
    const { request } = RunCore.prototype
    vi.spyOn(RunCore.prototype, 'request').mockImplementation(function (this: RunCore, work) {
      const promise = request.call(this, work)
      kept.push(promise)
      return promise
    })
    expect(await bytesOfSuspended()).toBeGreaterThan(heldBytes)
    expect(kept).toHaveLength((1 + batches) * batch)
  })
})
