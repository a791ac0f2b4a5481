// Exo's vocabulary as a whole: scheduled families, a given engine, and a restart.
import { describe, expect, it } from 'vitest'
import { createExoExecutor, type Task, TaskError, TaskManager, TaskScheduler } from '../../src/compat/exo.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import { ledgerFile, openEngine, turns } from '../engine/world.ts'
import { createIn, hands, namesOf, openExo, recorder } from './exo-world.ts'

describe('Tasks for other owners', () => {
  it('S3-036 X-018 schedule leaves tasks with an owner, a role or a team, both existing and new ones', async () => {
    const exo = createExoExecutor()
    const engine = await openEngine({ executors: { exo } })
    const manager = new TaskManager({ engine, executor: exo })
    const scheduler = new TaskScheduler(manager)
    const others = async () => {
      await engine.create({ name: 'for a role', role: 'reviewer' })
      await engine.create({ goal: 'A goal for a role', role: 'reviewer' })
      await engine.create({ name: 'for a team', team: true })
      await engine.create({ goal: 'For an agent' })
    }
    await engine.update(await engine.create({ name: 'for ann' }), { owner: 'ann' })
    await others()
    await manager.create('first')
    const { executor, order } = recorder()
    let isLate = false
    const handled = await scheduler.schedule(async (task, signal) => {
      if (!isLate) {
        isLate = true
        await others()
        await manager.create('second')
      }
      return executor(task, signal, undefined as never)
    })
    expect(namesOf(handled)).toEqual(['first', 'second'])
    expect(order).toEqual(['first', 'second'])
    const rest = (await engine.list({ status: 'submitted' })).tasks
    const left = [null, null, null, 'agent']
    expect(rest.map(({ executor: name }) => name)).toEqual([null, ...left, ...left])
    await manager.close()
  })
})

describe('a family that is scheduled', () => {
  it('S3-074 S3-084 S3-110 a scheduled family is shared among executors up to the limit, and its head completes', async () => {
    const { manager, scheduler, received } = openExo({ scheduler: { maxConcurrent: 2, autoComplete: true } })
    const head = await manager.create('Analyze the quarter')
    for (const agent of ['collector', 'analyst', 'writer']) {
      await manager.create(`work of ${agent}`, { parentId: head.id, metadata: { agent } })
    }
    await manager.update(head.id, { status: 'working' })
    const busy = { now: 0, most: 0 }
    const agents: Record<string, (task: Task) => string> = {
      collector: () => 'numbers',
      analyst: () => 'trends',
      writer: () => 'summary',
    }
    const handled = await scheduler.schedule(async (task) => {
      busy.most = Math.max(busy.most, ++busy.now)
      await turns(3)
      busy.now--
      return agents[task.metadata['agent'] as string]?.(task)
    })
    expect(handled.map((task) => task.result)).toEqual(['numbers', 'trends', 'summary'])
    expect(busy.most).toBe(2)
    expect((await manager.get(head.id))?.status).toBe('completed')
    expect((await received('task.completed', head)).data).toMatchObject({ status: 'completed' })
  })

  it('S3-084 S3-086 a scheduled head waits for its children before it completes', async () => {
    const { manager, scheduler } = openExo({ autoComplete: true, scheduler: { maxConcurrent: 1 } })
    const root = await manager.create('root', { priority: 2 })
    const parent = await manager.create('parent', { parentId: root.id, priority: 1 })
    await manager.create('child', { parentId: parent.id })
    const { executor, order } = recorder()
    await scheduler.schedule(executor)
    expect(order).toEqual(['root', 'parent', 'child'])
    expect((await manager.list()).map((task) => [task.status, task.result])).toEqual([
      ['completed', 'root'],
      ['completed', 'parent'],
      ['completed', 'child'],
    ])
  })

  it('S3-091 a scheduled family continues when a child fails', async () => {
    const { manager, scheduler } = openExo({ autoComplete: true })
    const head = await createIn(manager, 'working', 'head')
    await manager.create('bad', { parentId: head.id })
    await manager.create('good', { parentId: head.id })
    await scheduler.schedule((task) => {
      if (task.name === 'bad') throw new Error('broke')
    })
    expect((await manager.get(head.id))?.status).toBe('working')
    expect((await manager.getChildren(head.id)).map((task) => task.status)).toEqual(['failed', 'completed'])
  })
})

describe('A given engine', () => {
  it.each([
    ['within its limit', 2, 5],
    ['within the limit of the scheduler', 5, 2],
  ] as const)(
    "S3-035 S3-039 S3-108 a given engine runs Exo's tasks and its others, %s",
    async (_which, ofEngine, ofScheduler) => {
      const exo = createExoExecutor()
      const engine = await openEngine({ executors: { exo, other: () => 'other' }, maxConcurrent: ofEngine })
      const { manager, scheduler } = openExo({ engine, executor: exo, scheduler: { maxConcurrent: ofScheduler } })
      const other = await engine.create({ executor: 'other' })
      for (let index = 0; index < 6; index++) await manager.create(`${index}`)
      const { executor, seen } = recorder()
      expect((await scheduler.schedule(executor)).length).toBe(6)
      expect(seen.most).toBe(2)
      expect(await engine.result(other)).toBe('other')
    },
  )

  it('a given engine without the executor cannot schedule', async () => {
    const engine = await openEngine()
    const { manager, scheduler } = openExo({ engine })
    await manager.create('a')
    await expect(scheduler.schedule(() => null)).rejects.toMatchObject({ name: 'TaskError', code: 'UNKNOWN_EXECUTOR' })
    expect(() => new TaskManager({ engine, executor: {} as never })).toThrow(TaskError)
    expect(() => new TaskManager({ executor: createExoExecutor() })).toThrow(TaskError)
  })
})

describe('a restart', () => {
  it('S3-054 S3-108 after a restart the next schedule continues interrupted tasks', async () => {
    const ledger = ledgerFile()
    const work = hands()
    {
      await using manager = new TaskManager({ ledger })
      const scheduler = new TaskScheduler(manager, { maxConcurrent: 1 })
      await manager.create('a')
      await manager.create('b')
      void scheduler.schedule(work.executor).catch(() => {})
      await work.started(0)
    }
    await using manager = new TaskManager({ ledger })
    expect((await manager.list()).map(({ name, status }) => [name, status])).toEqual([
      ['a', 'waiting'],
      ['b', 'submitted'],
    ])
    const handled = await new TaskScheduler(manager).schedule((task) => `${task.name} again`)
    expect(handled.map((task) => String(task.result)).toSorted()).toEqual(['a again', 'b again'])
  })

  it('S3-054 a given engine holds interrupted tasks after a restart until the next schedule', async () => {
    const ledger = ledgerFile()
    const work = hands()
    {
      const exo = createExoExecutor()
      await using engine = await createEngine({ ledger, executors: { exo } })
      await using manager = new TaskManager({ engine, executor: exo })
      await manager.create('a')
      void new TaskScheduler(manager).schedule(work.executor).catch(() => {})
      await work.started(0)
    }
    const exo = createExoExecutor()
    const engine = await openEngine({ ledger, executors: { exo } })
    await using manager = new TaskManager({ engine, executor: exo })
    await turns()
    const handled = await new TaskScheduler(manager).schedule(() => 'again')
    expect((await manager.list()).map(({ status, result }) => [status, result])).toEqual([['completed', 'again']])
    expect(namesOf(handled)).toEqual(['a'])
  })
})
