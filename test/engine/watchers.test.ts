// Listeners in the same process can fail without stopping the engine.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createEngine } from '../../src/index.ts'

const setup = async (onError: (error: unknown) => void) => {
  const engine = await createEngine({ executors: { work: () => 'done' }, maxConcurrent: 1, onError })
  const tasks = await engine.create(Array.from({ length: 5 }, () => ({ executor: 'work' as const })))
  return { engine, tasks }
}

afterEach(() => vi.restoreAllMocks())

describe('a listener of the engine', () => {
  it('a listener of the engine of status is notified of each change, with what runs now', async () => {
    const { engine } = await setup(() => {})
    const slots = new Set<number>()
    const watching = engine.status.subscribe(({ context }) => slots.add(context.slots.used))
    await engine.idle()
    watching.unsubscribe()
    expect(slots).toEqual(new Set([0, 1]))
    await engine.close()
  })

  it('a listener of the engine that throws is reported, and every task runs nevertheless', async () => {
    const reported: unknown[] = []
    const { engine, tasks } = await setup((error) => reported.push(error))
    engine.status.subscribe(() => {
      throw new Error('bad watcher')
    })
    for (const task of tasks) expect(await engine.result(task, { timeoutMs: 5_000 })).toBe('done')
    expect(reported.length).toBeGreaterThan(0)
    await engine.close()
  })

  it('an onError that throws is reported on the console, and the engine continues and closes', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { engine, tasks } = await setup(() => {
      throw new Error('bad reporter')
    })
    engine.subscribe('task.completed', () => {
      throw new Error('bad subscriber')
    })
    for (const task of tasks) expect(await engine.result(task, { timeoutMs: 5_000 })).toBe('done')
    await engine.close()
    expect(printed).toHaveBeenCalled()
  })
})
