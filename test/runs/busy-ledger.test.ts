// A ledger that another process locks for long says nothing about the work: runs wait, outside callers get an error.
import { describe, expect, it } from 'vitest'
import { ErrandError, type ExecutorTask, type Run } from '../../src/index.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { openEngine, refusalOf } from '../engine/world.ts'

/** Refuses each of the named steps, and each `read`, so many times, as a ledger does that has waited for too long. */
function busyLedger(inner: Ledger, left: Record<string, number>): Ledger {
  const isRefused = (name: string): boolean => {
    if ((left[name] ?? 0) === 0) return false
    left[name] = (left[name] as number) - 1
    return true
  }
  const refused = () => Promise.reject(new ErrandError('LEDGER_BUSY', 'Another process holds the write lock.', {}))
  return delegateLedger(inner, {
    step: <R>(step: Step<R>): Promise<R> => (isRefused(step.name) ? refused() : inner.step(step)),
    read: (query, options) => (isRefused('read') ? refused() : inner.read(query, options)),
  })
}

describe('a ledger that is busy for a long time', () => {
  it('a ledger that is busy for a long time fails no run: each step of a run is retried, and each failure is reported', async () => {
    const reported: string[] = []
    const inner = await openLedger(':memory:')
    const work = async (_task: ExecutorTask, run: Run) => {
      await run.message('assistant', 'hello')
      return run.call('step', () => 'done')
    }
    const engine = await openEngine({
      ledger: busyLedger(inner, { 'begin call': 2, 'finish call': 1, 'append message': 1, 'settle run': 1 }),
      executors: { work },
      onError: (error) => reported.push((error as ErrandError).code),
    })
    const task = await engine.create({ executor: 'work' })
    expect(await engine.result(task, { timeoutMs: 10_000 })).toBe('done')
    expect(await engine.calls(task)).toMatchObject([{ name: 'step', status: 'completed' }])
    expect(reported).toEqual(Array.from({ length: 5 }, () => 'LEDGER_BUSY'))
    await engine.close()
    await inner.close()
  })

  it('a ledger that cannot be read for a long time fails no run: each of its reads is repeated, and each failure is reported', async () => {
    const refusals: Record<string, number> = {}
    const reported: string[] = []
    const inner = await openLedger(':memory:')
    const work = async (_task: ExecutorTask, run: Run) => {
      await run.message('assistant', 'hello')
      refusals['read'] = 3
      const dependencies = await run.dependencies()
      return dependencies.map(({ name }) => name)
    }
    const engine = await openEngine({
      ledger: busyLedger(inner, refusals),
      executors: { work, child: () => 'done' },
      onError: (error) => reported.push((error as ErrandError).code),
    })
    const first = await engine.create({ name: 'first', executor: 'child' })
    await engine.settled(first)
    const task = await engine.create({ executor: 'work', blockedBy: [first.id] })
    expect(await engine.result(task, { timeoutMs: 10_000 })).toEqual(['first'])
    expect(reported).toEqual(Array.from({ length: 3 }, () => 'LEDGER_BUSY'))
    await engine.close()
    await inner.close()
  })

  it('outside callers get LEDGER_BUSY from a read that a busy ledger refuses, and the next one succeeds', async () => {
    const inner = await openLedger(':memory:')
    const refusals: Record<string, number> = {}
    const engine = await openEngine({ ledger: busyLedger(inner, refusals) })
    const { id } = await engine.create({ name: 'a' })
    refusals['read'] = 1
    await refusalOf(engine.get(id), 'LEDGER_BUSY')
    expect(await engine.get(id)).toMatchObject({ name: 'a' })
    await engine.close()
    await inner.close()
  })

  it('a ledger that is busy for a long time is reported to outside callers as LEDGER_BUSY: nothing was stored, and they may retry', async () => {
    const inner = await openLedger(':memory:')
    const engine = await openEngine({ ledger: busyLedger(inner, { create: 1 }) })
    await refusalOf(engine.create({ name: 'a' }), 'LEDGER_BUSY')
    expect((await engine.list()).total).toBe(0)
    expect((await engine.create({ name: 'a' })).status).toBe('submitted')
    await engine.close()
    await inner.close()
  })
})
