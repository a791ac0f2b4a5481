// Which tasks run, which do not count, and their listeners: the registry of running tasks that a process-form task
// manager promises, on this engine.
import { describe, expect, it } from 'vitest'
import { createExoExecutor, TaskManager } from '../../src/compat/exo.ts'
import type { ExecutorTask, Run, StreamItem, Task } from '../../src/index.ts'
import { openEngine, puppet, reached, turns } from './world.ts'

describe('a running task', () => {
  it('S1-060 a running task is the parent of the tasks that it spawns', async () => {
    const engine = await openEngine({
      executors: {
        plan: async (task: ExecutorTask, run: Run) => {
          const child = await run.spawn({ name: 'month' })
          return { me: task.id, parent: child.parentId }
        },
      },
    })
    const root = await engine.create({ executor: 'plan' })
    expect(await engine.result(root)).toEqual({ me: root.id, parent: root.id })
  })

  it('S1-063 a running task is one of at most ten by default, and the others wait', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    await engine.create(Array.from({ length: 14 }, () => ({ executor: 'work' as const })))
    await hands.started(9)
    await turns()
    const { running, slots } = engine.status.get().context
    expect(slots).toEqual({ used: 10, free: 0, maxConcurrent: 10 })
    expect(running.map(({ taskId }) => taskId)).toEqual(hands.runs.map(({ task }) => task.id))
    hands.runs[0]?.end.resolve(null)
    await hands.started(10)
    expect(hands.runs).toHaveLength(11)
    for (const run of hands.runs.slice(1)) run.end.resolve(null)
    for (let next = 11; next < 14; next++) (await hands.started(next)).end.resolve(null)
    await engine.idle()
  })

  it('S1-064 S1-066 a running task takes a slot; one that waits, asks, is paused or has not begun takes none', async () => {
    const hands = puppet()
    const engine = await openEngine({ maxConcurrent: 2, executors: { work: hands.executor } })
    const free = () => engine.status.get().context.slots.free
    const create = () => engine.create({ executor: 'work' })
    const [asks, waits, pauses] = [await create(), await create(), await create()]
    void (await hands.started(0)).run.ask('Which one?')
    await reached(engine, asks, 'input_required')
    void (await hands.started(1)).run.sleep(3_600_000)
    await reached(engine, waits, 'waiting')
    await hands.started(2)
    await engine.pause(pauses)
    await turns()
    await engine.create({ executor: 'work', autoStart: false })
    expect(free()).toBe(2)
    await create()
    await hands.started(3)
    expect(free()).toBe(1)
    await create()
    await hands.started(4)
    expect(free()).toBe(0)
    for (const run of hands.runs.slice(3)) run.end.resolve(null)
  })

  it('S1-065 a running task has listeners of its own, each of whom gets it from the start', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const [one, two] = await engine.create([{ executor: 'work' as const }, { executor: 'work' as const }])
    const itemsOf = async (task: Task): Promise<StreamItem[]> => {
      const items: StreamItem[] = []
      for await (const item of engine.stream(task)) items.push(item)
      return items
    }
    const listeners = [itemsOf(one as Task), itemsOf(one as Task), itemsOf(two as Task)]
    ;(await hands.started(0)).end.resolve(1)
    ;(await hands.started(1)).end.resolve(2)
    const [first, again, other] = await Promise.all(listeners)
    expect(again).toEqual(first)
    expect(new Set(first?.map(({ taskId }) => taskId))).toEqual(new Set([one?.id]))
    expect(new Set(other?.map(({ taskId }) => taskId))).toEqual(new Set([two?.id]))
    expect(first?.map(({ type }) => type)).toEqual(['start', 'state', 'state', 'end'])
  })
})

describe('one order of priority', () => {
  it('X-024 one order of priority applies to the list, to slots and to claims alike', async () => {
    const started: string[] = []
    const engine = await openEngine({
      maxConcurrent: 1,
      autoStart: false,
      executors: { work: (task: ExecutorTask) => void started.push(task.name) },
    })
    const priorities = [0, 5, -1, 5, 3]
    const names = ['b', 'd', 'c', 'e', 'a'].map((letter, n) => `${letter}${priorities[n]}`)
    const order = ['d5', 'e5', 'a3', 'b0', 'c-1']
    await engine.create(
      names.map((name, n) => ({ name, priority: priorities[n] as number, executor: 'work' as const })),
    )
    await engine.create(names.map((name, n) => ({ name, priority: priorities[n] as number })))
    const listed = (await engine.list({ status: 'submitted' })).tasks
    expect(listed.filter(({ executor }) => executor === 'work').map(({ name }) => name)).toEqual(order)
    await engine.startHeld()
    expect(started).toEqual(order)
    const claimed: string[] = []
    for (let task = await claimNext(); task !== null; task = await claimNext()) claimed.push(task.name)
    expect(claimed).toEqual(order)

    function claimNext(): Promise<Task | null> {
      return engine.claim(null, { owner: 'ada' })
    }
  })
})

describe('one task under two names', () => {
  it('X-018 X-020 one task under two names is the same in the library and in the vocabulary of Exo, whichever of them changes it', async () => {
    const exo = createExoExecutor()
    const engine = await openEngine({ executors: { exo } })
    const manager = new TaskManager({ engine, executor: exo })
    const task = await manager.create('research', { priority: 2, metadata: { a: 1 } })
    expect(await engine.get(task.id)).toMatchObject({ name: 'research', status: 'submitted', priority: 2 })
    const claimed = await engine.claim(task.id, { owner: 'ada' })
    expect(await manager.get(task.id)).toMatchObject({ status: 'working', metadata: { a: 1 } })
    await engine.pause(claimed)
    expect((await manager.get(task.id))?.status).toBe('paused')
    await manager.update(task.id, { status: 'canceled' })
    expect(await engine.get(task.id)).toMatchObject({ status: 'canceled', owner: 'ada' })
  })
})

describe('a dependency between claimed work and a run', () => {
  it('X-021 a dependency between claimed work and a run blocks the run until the owner is done, and the claim until the run is done', async () => {
    const started: string[] = []
    const engine = await openEngine({ executors: { work: (task: ExecutorTask) => void started.push(task.name) } })
    const draft = await engine.create({ name: 'draft' })
    const check = await engine.create({ name: 'check', executor: 'work', blockedBy: [draft.id] })
    const publish = await engine.create({ name: 'publish', blockedBy: [check.id] })
    await turns()
    expect(started).toEqual([])
    expect(await engine.why(check)).toMatchObject({ reason: 'blocked', tasks: [draft.id] })
    const mine = (await engine.claim(null, { owner: 'ada' })) as Task
    expect(mine.id).toBe(draft.id)
    expect(await engine.claim(null, { owner: 'bob' })).toBeNull()
    await engine.complete(mine)
    await engine.settled(check)
    expect(started).toEqual(['check'])
    expect(await engine.claim(null, { owner: 'bob' })).toMatchObject({ id: publish.id, owner: 'bob' })
  })
})
