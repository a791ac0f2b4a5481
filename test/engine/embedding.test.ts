import { describe, expect, it } from 'vitest'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { history, ledgerFile, openEngine, puppet, refusalOf } from './world.ts'

describe('several engines in one process', () => {
  it('X-029 several engines in one process with ledgers of their own do not affect each other', async () => {
    const ledgers = [':memory:', ':memory:', ledgerFile(), ledgerFile()]
    const engines = await Promise.all(
      ledgers.map((ledger, index) => openEngine({ ledger, executors: { which: () => index } })),
    )
    const received: string[][] = engines.map(() => [])
    engines.forEach((engine, index) => void engine.subscribe('*', ({ taskId }) => void received[index]?.push(taskId)))
    // The same executor's name and the same key in each of them.
    const tasks = await Promise.all(engines.map((engine) => engine.create({ executor: 'which', key: 'the same' })))
    expect(await Promise.all(engines.map((engine, index) => engine.result(tasks[index]!)))).toEqual([0, 1, 2, 3])
    expect(new Set(engines.map((engine) => engine.instanceId)).size).toBe(4)
    await Promise.all(engines.map((engine) => engine.idle()))
    for (const [index, engine] of engines.entries()) {
      expect((await engine.list()).tasks.map(({ id }) => id)).toEqual([tasks[index]?.id])
      expect(await engine.get(tasks[(index + 1) % 4]!)).toBeNull()
      expect(new Set(received[index])).toEqual(new Set([tasks[index]?.id]))
    }
  })

  it('X-029 several engines in one process have slots of their own, and can be closed separately', async () => {
    const ends = [puppet(), puppet()]
    const [first, second] = await Promise.all(
      ends.map(({ executor }) => openEngine({ executors: { work: executor }, maxConcurrent: 1 })),
    )
    const [, task] = await Promise.all([first!, second!].map((engine) => engine.create({ executor: 'work' })))
    const [lost, kept] = await Promise.all(ends.map((each) => each.started(0)))
    await first!.close()
    await lost!.aborted
    await refusalOf(first!.list(), 'ENGINE_CLOSED')
    expect(kept!.run.signal.aborted).toBe(false)
    expect(second!.status.get().context).toMatchObject({ slots: { used: 1 }, working: true })
    kept!.end.resolve('untouched')
    expect(await second!.result(task!)).toBe('untouched')
  })
})

describe('two engines on one file in one process', () => {
  it('X-029 two engines on one file in one process run each task once, and both see all tasks', async () => {
    const ledger = ledgerFile()
    const runs: string[] = []
    const executors = { work: (task: ExecutorTask, run: Run) => run.call('work', () => void runs.push(task.id)) }
    const engines = await Promise.all([openEngine({ ledger, executors }), openEngine({ ledger, executors })])
    const tasks = (
      await Promise.all(
        engines.flatMap((engine) => Array.from({ length: 25 }, () => engine.create({ executor: 'work' }))),
      )
    ).map(({ id }) => id)
    for (const engine of engines) for (const id of tasks) await engine.result(id)
    expect(runs.toSorted()).toEqual(tasks.toSorted())
    // One key, used in both at the same time: one task.
    const twins = await Promise.all(engines.map((engine) => engine.create({ executor: 'work', key: 'once' })))
    expect(twins[0]?.id).toBe(twins[1]?.id)
    await Promise.all(engines.map((engine) => engine.settled(twins[0]!)))
    expect(runs).toHaveLength(51)
    expect(await history(engines[0])).toEqual(await history(engines[1]))
  })

  it('X-029 X-020 two engines on one file in one process follow commands given to the other, and take over what a closed one released', async () => {
    const ledger = ledgerFile()
    const works = [puppet(), puppet()]
    const first = await openEngine({ ledger, executors: { work: works[0]!.executor } })
    const canceled = await first.create({ executor: 'work' })
    const released = await first.create({ executor: 'work' })
    const runs = [await works[0]!.started(0), await works[0]!.started(1)]
    const second = await openEngine({ ledger, executors: { work: works[1]!.executor } })
    await second.cancel(canceled, 'from the other engine')
    const run = runs.find(({ task }) => task.id === canceled.id)
    await run?.aborted
    expect(await first.settled(canceled)).toEqual({ status: 'canceled', statusReason: 'from the other engine' })
    // Live engines keep their runs: the process of an engine does not show whether the engine is alive.
    expect(await second.runs(released)).toMatchObject([{ status: 'live', instanceId: first.instanceId }])

    await first.close()
    const taken = await works[1]!.started(0)
    expect(taken.task.id).toBe(released.id)
    taken.end.resolve('taken over')
    expect(await second.result(released)).toBe('taken over')
    expect((await second.runs(released)).map(({ outcome, instanceId }) => [outcome, instanceId])).toEqual([
      ['released', first.instanceId],
      ['completed', second.instanceId],
    ])
  })

  it('X-029 two engines on one file in one process can be closed and reopened repeatedly while the other works on', async () => {
    const ledger = ledgerFile()
    const work = puppet()
    const lasting = await openEngine({ ledger, executors: { work: work.executor } })
    const task = await lasting.create({ executor: 'work' })
    const held = await work.started(0)
    for (let round = 0; round < 5; round++) {
      const guest = await openEngine({ ledger, executors: { greet: () => 'hello' } })
      expect(await guest.result(await guest.create({ executor: 'greet' }))).toBe('hello')
      await guest.close()
    }
    expect(held.run.signal.aborted).toBe(false)
    held.end.resolve('done')
    expect(await lasting.result(task)).toBe('done')
    expect(await lasting.runs(task)).toHaveLength(1)
  })
})
