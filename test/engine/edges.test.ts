// Dependencies added and removed while tasks are open: what can be blocked, what is refused, what could never end.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import { history, openEngine, puppet, reached, refusalOf, turns, typesOf } from './world.ts'

async function done(engine: Pick<Engine, 'start' | 'complete'>, task: { id: string }, result?: unknown): Promise<void> {
  await engine.start(task.id)
  await engine.complete(task.id, result)
}

async function childrenOf(engine: Pick<Engine, 'children'>, task: Task): Promise<Record<string, Task>> {
  return Object.fromEntries((await engine.children(task)).map((child) => [child.name, child]))
}

async function named<const N extends string>(engine: Pick<Engine, 'create'>, ...names: N[]): Promise<Record<N, Task>> {
  const made = (await engine.create(names.map((name) => ({ name })))) as Task[]
  return Object.fromEntries(names.map((name, at) => [name, made[at]])) as Record<N, Task>
}

describe('engine.block', () => {
  it('S4-021 S4-022 engine.block adds dependencies in the given order, each once, and blocks a ready task', async () => {
    const engine = await openEngine()
    const { task, a, b, c } = await named(engine, 'task', 'a', 'b', 'c')
    expect(await engine.block(task, b)).toMatchObject({ blockedBy: [b.id], ready: false })
    expect((await engine.block(task, [c, a.id, c, b])).blockedBy).toEqual([b.id, c.id, a.id])
    expect((await engine.dependencies(task)).map(({ name }) => name)).toEqual(['b', 'c', 'a'])
    expect((await history(engine, task.id)).at(-1)).toMatchObject({
      type: 'task.updated',
      data: { changed: ['blockedBy'] },
    })
  })

  it('S4-020 engine.block adds the same edges from the side of the blocker, for several dependents at once', async () => {
    const engine = await openEngine()
    const { blocker, one, two } = await named(engine, 'blocker', 'one', 'two')
    for (const task of [one, two]) await engine.block(task, blocker)
    await done(engine, blocker)
    for (const task of [one, two]) expect(await engine.get(task)).toMatchObject({ blockedBy: [], ready: true })
  })

  it('S4-023 engine.block changes nothing when one of the tasks is unknown', async () => {
    const engine = await openEngine()
    const { task, a } = await named(engine, 'task', 'a')
    const before = await history(engine)
    const refusal = await refusalOf(engine.block(task, [a.id, 'task-unknown']), 'NOT_FOUND')
    expect(refusal.details).toEqual({ taskId: 'task-unknown' })
    await refusalOf(engine.block('task-unknown', a), 'NOT_FOUND')
    await engine.delete(a)
    await refusalOf(engine.block(task, a), 'NOT_FOUND')
    expect((await engine.get(task))?.blockedBy).toEqual([])
    expect((await history(engine)).length).toBe(before.length + 2)
  })

  it('S4-026 engine.block adds a satisfied dependency on a completed task', async () => {
    const engine = await openEngine()
    const { task, a, b } = await named(engine, 'task', 'a', 'b')
    await done(engine, a, 'result of a')
    expect(await engine.block(task, a)).toMatchObject({ blockedBy: [], ready: true })
    expect((await engine.block(task, [a, b])).blockedBy).toEqual([b.id])
    expect((await engine.dependencies(task)).map(({ name }) => name)).toEqual(['a', 'b'])
  })

  it('S4-046 engine.block blocks a task with an executor before it starts, which runs by itself when unblocked', async () => {
    const order: string[] = []
    const engine = await openEngine({ executors: { work: (task: ExecutorTask) => void order.push(task.name) } })
    const gate = await engine.create({ name: 'gate' })
    const task = await engine.create({ executor: 'work', notBefore: 8e15 })
    await engine.block(task, gate)
    await engine.update(task, { notBefore: null })
    await engine.idle()
    expect(order).toEqual([])
    await done(engine, gate)
    await engine.settled(task)
    expect(order).toEqual(['work'])
  })

  it('engine.block blocks the next run of a paused, waiting or asking task', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const gate = await engine.create({ name: 'gate' })
    const task = await engine.create({ executor: 'work' })
    await hands.started(0)
    await engine.pause(task)
    await engine.block(task, gate)
    await engine.resume(task)
    await engine.idle()
    expect(await engine.why(task)).toMatchObject({ reason: 'blocked', tasks: [gate.id] })
    expect(hands.runs).toHaveLength(1)
    await done(engine, gate)
    ;(await hands.started(1)).end.resolve('done')
    expect(await engine.result(task)).toBe('done')
  })

  it.each(['working', 'completed', 'canceled'] as const)(
    'S4-029 engine.block refuses to block a task that is %s',
    async (status) => {
      const engine = await openEngine()
      const { task, a } = await named(engine, 'task', 'a')
      if (status === 'canceled') await engine.cancel(task)
      else await engine.start(task)
      if (status === 'completed') await engine.complete(task)
      for (const verb of ['block', 'unblock'] as const) {
        const refusal = await refusalOf(engine[verb](task, a), 'INVALID_TRANSITION')
        expect(refusal.details).toMatchObject({ taskId: task.id, from: status, event: verb })
        expect(refusal.message).toContain(status === 'working' ? 'Pause it first' : 'Create a new task')
      }
      expect((await engine.get(a))?.status).toBe('submitted')
    },
  )
})

describe('engine.unblock', () => {
  it('engine.unblock removes one dependency when the same task is named twice', async () => {
    const engine = await openEngine({ executors: { work: () => 'done' } })
    const { a, b } = await named(engine, 'a', 'b')
    const task = await engine.create({ executor: 'work', blockedBy: [a.id, b.id] })
    expect(await engine.unblock(task, [a, a.id])).toMatchObject({ ready: false, blockedBy: [b.id] })
    await done(engine, b)
    expect(await engine.settled(task)).toMatchObject({ status: 'completed' })
  })

  it('S4-028 engine.unblock removes dependencies, and accepts a missing one', async () => {
    const engine = await openEngine()
    const { task, a, b } = await named(engine, 'task', 'a', 'b')
    await engine.block(task, [a, b])
    expect(await engine.unblock(task, a)).toMatchObject({ blockedBy: [b.id], ready: false })
    expect((await engine.unblock(task, [a, 'task-unknown'])).blockedBy).toEqual([b.id])
    expect(await engine.unblock(task, b)).toMatchObject({ blockedBy: [], ready: true })
    expect(await engine.dependencies(task)).toEqual([])
    expect(typesOf(await history(engine, task.id)).filter((type) => type === 'task.unblocked')).toHaveLength(1)
  })

  it('engine.unblock unblocks a task that stayed blocked by a failed one', async () => {
    const engine = await openEngine({ executors: { work: () => 'done' } })
    const { broken } = await named(engine, 'broken')
    const task = await engine.create({ executor: 'work', blockedBy: [broken.id] })
    await engine.cancel(broken)
    await engine.unblock(task, broken)
    expect(await engine.result(task)).toBe('done')
  })
})

describe('an update of dependencies and status', () => {
  it('S4-027 S4-030 an update of dependencies and status is atomic: unblocked and working, or neither', async () => {
    const engine = await openEngine()
    const { task, a, b } = await named(engine, 'task', 'a', 'b')
    await engine.block(task, a)
    const refusal = await refusalOf(engine.update(task, { blockedBy: [b.id], status: 'working' }), 'BLOCKED')
    expect(refusal.details).toEqual({ taskId: task.id, blockedBy: [b.id] })
    expect(refusal.message).toContain(b.id)
    expect(await engine.get(task)).toMatchObject({ status: 'submitted', blockedBy: [a.id] })
    expect(await engine.update(task, { blockedBy: [], status: 'working' })).toMatchObject({
      status: 'working',
      blockedBy: [],
    })
  })

  it('S4-030 S4-031 an update to COMPLETED is refused while the task is blocked, and one back from COMPLETED always', async () => {
    const engine = await openEngine()
    const { task, a } = await named(engine, 'task', 'a')
    await engine.block(task, a)
    await refusalOf(engine.update(task, { status: 'completed' }), 'INVALID_TRANSITION')
    await refusalOf(engine.start(task), 'BLOCKED')
    await done(engine, a)
    for (const status of ['submitted', 'working', 'paused', 'failed', 'canceled'] as const) {
      await refusalOf(engine.update(a, { status }), 'INVALID_TRANSITION')
    }
  })
})

describe('the completion of a dependency', () => {
  it('S4-018 S4-019 S4-045 the completion of a dependency unblocks all dependents, except those with other blockers', async () => {
    const engine = await openEngine()
    const { a, b, one, two, both } = await named(engine, 'a', 'b', 'one', 'two', 'both')
    await engine.block(one, a)
    await engine.block(two, a)
    await engine.block(both, [a, b])
    const before = (await history(engine)).at(-1)!.seq
    await done(engine, a)
    expect((await engine.get(one))?.blockedBy).toEqual([])
    expect((await engine.get(two))?.blockedBy).toEqual([])
    expect((await engine.get(both))?.blockedBy).toEqual([b.id])
    const freed = (await history(engine)).filter(({ seq, type }) => seq > before && type === 'task.unblocked')
    expect(freed.map(({ taskId, data }) => [taskId, data.by])).toEqual([
      [one.id, a.id],
      [two.id, a.id],
    ])
  })

  it('S4-041 the completion of a dependency in a chain unblocks only the next task', async () => {
    const engine = await openEngine()
    const { one, two, three } = await named(engine, 'one', 'two', 'three')
    await engine.block(two, one)
    await engine.block(three, two)
    await done(engine, one)
    expect((await engine.get(two))?.blockedBy).toEqual([])
    expect((await engine.get(three))?.blockedBy).toEqual([two.id])
  })

  it('S4-042 the completion of a dependency in a diamond unblocks the last task when both sides are done', async () => {
    const engine = await openEngine()
    const { top, left, right, bottom } = await named(engine, 'top', 'left', 'right', 'bottom')
    for (const side of [left, right]) await engine.block(side, top)
    await engine.block(bottom, [left, right])
    await done(engine, top)
    await done(engine, right)
    expect((await engine.get(bottom))?.blockedBy).toEqual([left.id])
    await done(engine, left)
    expect(await engine.get(bottom)).toMatchObject({ blockedBy: [], ready: true })
  })

  it('S4-043 S4-046 the completion of a dependency runs a plan in order: parse, transform, emit, test', async () => {
    const order: string[] = []
    const engine = await openEngine({ executors: { work: (task: ExecutorTask) => void order.push(task.name) } })
    const plan = await engine.create({
      name: 'compiler',
      tasks: {
        test: { executor: 'work', after: 'emit' },
        emit: { executor: 'work', after: 'transform' },
        transform: { executor: 'work', after: 'parse' },
        parse: { executor: 'work' },
      },
    })
    expect((await engine.settled(plan)).status).toBe('completed')
    expect(order).toEqual(['parse', 'transform', 'emit', 'test'])
  })

  it('S4-044 the completion of a dependency leaves lists of ready tasks by priority, then age', async () => {
    const engine = await openEngine()
    const [low, , high, owned, blocked] = (await engine.create([
      { name: 'low', priority: -1 },
      { name: 'usual' },
      { name: 'high', priority: 5 },
      { name: 'owned', priority: 9 },
      { name: 'blocked', priority: 9 },
    ])) as Task[]
    await engine.create({ name: 'usual too' })
    await engine.claim(owned!, { owner: 'ann' })
    await engine.block(blocked!, [low!, high!])
    const ready = (await engine.list({ ready: true })).tasks
    expect(ready.map(({ name }) => name)).toEqual(['high', 'usual', 'usual too', 'low'])
  })
})

describe('the dependencies of a group', () => {
  it('the dependencies of a group block its tasks that have not begun, whether the group works or not', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const gate = await engine.create({ name: 'gate' })
    const group = await engine.create({
      name: 'group',
      tasks: {
        a: { executor: 'work' },
        b: { executor: 'work', after: 'a' },
        g: { tasks: { c: { after: undefined } } },
      },
    } as never)
    const held = await hands.started(0)
    await reached(engine, group, 'working')
    await engine.block(group, gate)
    const { a, b, g } = await childrenOf(engine, group)
    expect((await engine.get(a!))?.blockedBy).toEqual([])
    expect((await engine.get(b!))?.blockedBy).toEqual([a!.id, gate.id])
    expect((await childrenOf(engine, g!)).c?.blockedBy).toEqual([gate.id])
    held.end.resolve(null)
    await engine.settled(a!)
    await turns()
    expect(hands.runs).toHaveLength(1)
    await engine.unblock(group, gate)
    expect((await hands.started(1)).task.name).toBe('b')
  })
})

describe('a dependency that could never be satisfied is refused with its path:', () => {
  it('S4-024 S4-025 a task after itself, after one of its dependents, or at the end of a long chain of them', async () => {
    const engine = await openEngine()
    const { a, b } = await named(engine, 'a', 'b')
    expect((await refusalOf(engine.block(a, a), 'CYCLE')).details.path).toEqual([a.id, a.id])
    await engine.block(b, a)
    expect((await refusalOf(engine.block(a, b), 'CYCLE')).details.path).toEqual([a.id, b.id, a.id])
    let last = b
    for (let at = 0; at < 500; at++) last = await engine.create({ name: `${at}`, blockedBy: [last.id] })
    const { path } = (await refusalOf(engine.block(a, last), 'CYCLE')).details as { path: string[] }
    expect(path).toHaveLength(503)
    expect([path[0], path[1], path.at(-1)]).toEqual([a.id, last.id, a.id])
    expect((await engine.get(a))?.blockedBy).toEqual([])
  })

  it('a group after its own task, after itself, or after a dependent of its task', async () => {
    const engine = await openEngine()
    const group = await engine.create({ name: 'group', tasks: { a: {}, g: { tasks: { deep: {} } } } })
    const { a, g } = await childrenOf(engine, group)
    const { deep } = await childrenOf(engine, g!)
    const after = await engine.create({ name: 'after', blockedBy: [deep!.id] })
    for (const blocker of [group, a!, g!, deep!, after]) await refusalOf(engine.block(group, blocker), 'CYCLE')
    for (const task of [a!, g!, deep!]) await refusalOf(engine.block(task, group), 'CYCLE')
    const outside = await engine.create({ name: 'outside', blockedBy: [group.id] })
    expect((await refusalOf(engine.block(deep!, outside), 'CYCLE')).details.path).toEqual(
      expect.arrayContaining([deep!.id, outside.id, group.id, g!.id]),
    )
    await refusalOf(engine.update(deep!, { blockedBy: [outside.id] }), 'CYCLE')
  })

  it('a child of a group after the group, also when the child has failed and may be retried', async () => {
    const engine = await openEngine()
    const group = await engine.create({ name: 'group', tasks: { a: {}, b: {} } })
    const { a } = await childrenOf(engine, group)
    await engine.start(a!)
    await engine.fail(a!, 'broke')
    await refusalOf(engine.block(a!, group), 'CYCLE')
    await engine.retry(a!)
    await refusalOf(engine.block(a!, group), 'CYCLE')
  })

  it('a child after a parent that its children complete, in either order of the calls', async () => {
    const engine = await openEngine()
    const { parent, between } = await named(engine, 'parent', 'between')
    await engine.update(parent, { autoComplete: true })
    const child = await engine.create({ name: 'child', parentId: parent.id })
    await engine.block(between, parent)
    await refusalOf(engine.block(child, parent), 'CYCLE')
    await refusalOf(engine.block(child, between), 'CYCLE')
    await refusalOf(engine.create({ name: 'late', parentId: parent.id, blockedBy: [between.id] }), 'CYCLE')
    const plain = await engine.create({ name: 'plain' })
    const cleaner = await engine.create({ name: 'cleaner', parentId: plain.id, blockedBy: [plain.id] })
    const refusal = await refusalOf(engine.update(plain, { autoComplete: true }), 'CYCLE')
    expect(refusal.details.path).toEqual([plain.id, cleaner.id, plain.id])
    expect((await engine.get(cleaner))?.blockedBy).toEqual([plain.id])
    await engine.unblock(cleaner, plain)
    await engine.update(plain, { autoComplete: true })
    await refusalOf(engine.block(cleaner, plain), 'CYCLE')
  })

  it('a dependency on a task that waits for the dependent, directly or through a group', async () => {
    const engine = await openEngine({
      executors: { waits: (task: ExecutorTask<string>, run: Run) => run.wait(task.input) },
    })
    const { task } = await named(engine, 'task')
    const group = await engine.create({ name: 'group', tasks: { inside: {} } })
    const { inside } = await childrenOf(engine, group)
    const waiter = await engine.create({ executor: 'waits', input: task.id })
    const groupWaiter = await engine.create({ executor: 'waits', input: group.id })
    for (const each of [waiter, groupWaiter]) await reached(engine, each, 'waiting')
    expect((await refusalOf(engine.block(task, waiter), 'CYCLE')).details.path).toEqual([task.id, waiter.id, task.id])
    await refusalOf(engine.block(inside!, groupWaiter), 'CYCLE')
    await refusalOf(engine.create({ name: 'late', parentId: group.id, blockedBy: [groupWaiter.id] }), 'CYCLE')
  })

  it('a wait for a dependent of the waiting task, or for a group that holds one', async () => {
    const engine = await openEngine({
      executors: { waits: (task: ExecutorTask<string>, run: Run) => run.wait(task.input) },
    })
    const waiter = await engine.create({ executor: 'waits', input: 'a group to come', autoStart: false })
    const group = await engine.create({ name: 'group', tasks: { inside: { blockedBy: [waiter.id] } } })
    await engine.update(waiter, { input: group.id })
    await engine.start(waiter)
    const inside = (await childrenOf(engine, group)).inside!
    expect(await engine.settled(waiter)).toMatchObject({
      status: 'failed',
      error: { code: 'CYCLE', details: { path: [waiter.id, group.id, inside.id, waiter.id] } },
    })
  })

  it('a dependency among siblings, after a parent that does not wait, or in a diamond is accepted', async () => {
    const engine = await openEngine()
    const { parent, a, b } = await named(engine, 'parent', 'a', 'b')
    const child = await engine.create({ name: 'child', parentId: parent.id, blockedBy: [parent.id] })
    await engine.block(b, a)
    const end = await engine.create({ name: 'end', blockedBy: [a.id, b.id, child.id] })
    expect(end.blockedBy).toEqual([a.id, b.id, child.id])
  })
})
