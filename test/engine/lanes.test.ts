// Lanes: how many of a parent's children run at once, in all executors and engines together, and that a full lane
// delays no task outside.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { deferred, ledgerFile, openEngine, puppet, turns } from './world.ts'

/** Executors `a` and `b` that count the open runs of one parent, and their maximum. */
function counted() {
  const open = new Map<string, number>()
  const most = new Map<string, number>()
  const run = async (task: ExecutorTask): Promise<string> => {
    const lane = String(task.metadata['lane'])
    open.set(lane, (open.get(lane) ?? 0) + 1)
    most.set(lane, Math.max(most.get(lane) ?? 0, open.get(lane) as number))
    await turns(3)
    open.set(lane, (open.get(lane) as number) - 1)
    return task.name
  }
  return { most, executors: { a: run, b: run } }
}

function children(count: number, lane: string): Record<string, object> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`t${at}`, { executor: at % 2 ? 'a' : 'b', metadata: { lane } }]),
  )
}

const holding = (engine: Pick<Engine, 'list'>) => engine.list({ status: 'working', executor: 'work' })

describe('a lane', () => {
  it('a lane limits the children of its parent, over executors, and other parents have their own', async () => {
    const { most, executors } = counted()
    const engine = await openEngine({ executors, maxConcurrent: 8 })
    const groups = (await engine.create([
      { name: 'one', concurrency: 1, tasks: children(8, 'one') },
      { name: 'three', concurrency: 3, tasks: children(12, 'three') },
    ] as never)) as unknown as Array<{ id: string }>
    for (const group of groups) expect((await engine.settled(group.id)).status).toBe('completed')
    expect(Object.fromEntries(most)).toEqual({ one: 1, three: 3 })
  })

  it('a lane limits over two engines on one file', async () => {
    const ledger = ledgerFile()
    const { most, executors } = counted()
    const one = await openEngine({ ledger, executors, maxConcurrent: 5 })
    const two = await openEngine({ ledger, executors, maxConcurrent: 5 })
    const group = await one.create({ name: 'two', concurrency: 2, tasks: children(16, 'two') } as never)
    expect((await two.settled(group.id)).status).toBe('completed')
    expect(most.get('two')).toBe(2)
    const runs = (await Promise.all((await one.children(group.id)).map((child) => one.runs(child)))).flat()
    expect(runs).toHaveLength(16)
  })

  it('a lane counts a run until its executor has returned, whatever the status of its task', async () => {
    const hands = puppet({ stubborn: true })
    const engine = await openEngine({ executors: { work: hands.executor } })
    const group = await engine.create({
      name: 'group',
      concurrency: 1,
      tasks: { a: { executor: 'work' }, b: { executor: 'work' } },
    })
    const first = await hands.started(0)
    await engine.cancel(first.task.id)
    await first.aborted
    await turns(30)
    expect(hands.runs).toHaveLength(1)
    first.end.resolve(null)
    expect((await hands.started(1)).task.name).toBe('b')
    expect(group.status).toBe('submitted')
  })

  it('a lane that is full delays no task outside, however many and urgent tasks wait in it', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor }, maxConcurrent: 3 })
    const many = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, at) => [`t${at}`, { executor: 'work', priority: 100 }]),
    )
    await engine.create({ name: 'full', concurrency: 1, tasks: many })
    await hands.started(0)
    await engine.create({ name: 'other', concurrency: 1, tasks: { other: { executor: 'work' } } })
    expect((await hands.started(1)).task.name).toBe('other')
    await engine.create({ executor: 'work', name: 'alone', priority: -5 })
    expect((await hands.started(2)).task.name).toBe('alone')
    hands.runs[0]!.end.resolve(null)
    expect((await hands.started(3)).task.priority).toBe(100)
  })

  it('among very many lanes is chosen by the priority of its first task', async () => {
    const order: string[] = []
    const engine = await openEngine({
      executors: { work: (task: ExecutorTask) => void order.push(task.name) },
      maxConcurrent: 2,
    })
    const lanes = 60
    await engine.create(
      Array.from({ length: lanes }, (_, at) => ({
        name: `lane ${at}`,
        concurrency: 1,
        tasks: { [`${at}`]: { executor: 'work', priority: (at * 7) % lanes, autoStart: false } },
      })) as never,
    )
    await engine.startHeld()
    expect(order.map((at) => (Number(at) * 7) % lanes)).toEqual(
      Array.from({ length: lanes }, (_, at) => lanes - 1 - at),
    )
  })

  it('a lane can be created, widened, narrowed and removed by an update, with immediate effect', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const tasks = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`t${at}`, { executor: 'work' }]))
    const group = await engine.create({ name: 'group', concurrency: 1, tasks })
    await hands.started(0)
    await turns(30)
    expect(hands.runs).toHaveLength(1)
    await engine.update(group, { concurrency: 3 })
    await hands.started(2)
    await turns(30)
    expect(hands.runs).toHaveLength(3)
    await engine.update(group, { concurrency: 1 })
    hands.runs[0]!.end.resolve(null)
    await engine.settled(hands.runs[0]!.task.id)
    await turns(30)
    // Running tasks are not ended; the narrower lane is reached as runs end.
    expect(hands.runs).toHaveLength(3)
    expect((await holding(engine)).total).toBe(2)
    await engine.update(group, { concurrency: null })
    await hands.started(7)
  })

  it('a lane that is added later counts what runs already', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor }, maxConcurrent: 2 })
    const parent = await engine.create({ name: 'parent' })
    const add = () => engine.create({ executor: 'work', parentId: parent.id })
    await add()
    await hands.started(0)
    await engine.update(parent, { concurrency: 1 })
    await add()
    await turns(30)
    expect(hands.runs).toHaveLength(1)
    hands.runs[0]!.end.resolve(null)
    await hands.started(1)
  })

  it('a lane is left by children that become roots', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const parent = await engine.create({ name: 'parent', concurrency: 1 })
    for (let at = 0; at < 3; at++) await engine.create({ executor: 'work', parentId: parent.id })
    await hands.started(0)
    await turns(30)
    expect(hands.runs).toHaveLength(1)
    await engine.delete(parent)
    await hands.started(2)
  })

  it('a lane contains direct children only: grandchildren have the lane of their own parent', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    await engine.create({
      name: 'outer',
      concurrency: 1,
      tasks: {
        inner: { tasks: { a: { executor: 'work' }, b: { executor: 'work' } } },
        c: { executor: 'work' },
        d: { executor: 'work' },
      },
    })
    await hands.started(2)
    await turns(30)
    expect(hands.runs.map(({ task }) => task.name).toSorted()).toEqual(['a', 'b', 'c'])
  })

  it('a lane of a parent that runs and waits limits its spawned children', async () => {
    let open = 0
    let most = 0
    const gate = deferred()
    const engine = await openEngine({
      executors: {
        parent: async (_task: ExecutorTask, run: Run) => {
          const spawned = await run.spawn(Array.from({ length: 6 }, (_, at) => ({ executor: 'child', input: at })))
          return run.wait(spawned)
        },
        child: async (task: ExecutorTask<number>) => {
          most = Math.max(most, ++open)
          if (task.input === 1) gate.resolve()
          await gate.promise
          open--
          return task.input
        },
      },
    })
    const parent = await engine.create({ executor: 'parent', concurrency: 2 })
    expect(await engine.result(parent)).toEqual([0, 1, 2, 3, 4, 5])
    expect(most).toBe(2)
  })
})
