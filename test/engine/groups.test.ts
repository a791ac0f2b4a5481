// Groups and dependencies: trees created at once, the order of starts, how a group starts and ends, cycles refused.
import { describe, expect, it, vi } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import { sqliteDialect } from '../../src/ledger/sqlite/dialect.ts'
import { tablesOf } from '../../src/ledger/tables/tables.ts'
import { history, openEngine, puppet, reached, refusalOf, typesOf } from './world.ts'

async function setup() {
  const order: string[] = []
  const engine = await openEngine({
    executors: {
      work: (task: ExecutorTask) => {
        order.push(task.name)
        return task.name
      },
      breaks: (task: ExecutorTask<number | null>, run: Run) => {
        if (run.attempt <= (task.input ?? 1)) throw new Error('broke')
        return task.name
      },
      needs: async (task: ExecutorTask, run: Run) => {
        order.push(task.name)
        return (await run.dependencies()).map(({ name, result }) => [name, result])
      },
    },
  })
  return { engine, order }
}

async function childrenOf(engine: Pick<Engine, 'children'>, task: Task): Promise<Record<string, Task>> {
  return Object.fromEntries((await engine.children(task)).map((child) => [child.name, child]))
}

describe('a group', () => {
  it('S3-074 a group starts with its first child and completes with its last', async () => {
    const { engine } = await setup()
    const group = await engine.create({
      name: 'group',
      tasks: { a: { executor: 'work' }, b: { executor: 'work', after: 'a' } },
    })
    expect(group).toMatchObject({ status: 'submitted', executor: null })
    expect(await engine.settled(group)).toMatchObject({ status: 'completed' })
    const events = (await history(engine)).map(({ type, data }) => `${type} ${String(data.name)}`)
    expect(events).toEqual([
      'task.created group',
      'task.created a',
      'task.created b',
      'task.started a',
      'task.started group',
      'task.completed a',
      'task.unblocked b',
      'task.started b',
      'task.completed b',
      'task.completed group',
    ])
  })

  it('a group fails once all its tasks are settled and one has failed or was canceled', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const group = await engine.create({ name: 'group', tasks: { a: { executor: 'work' }, b: { executor: 'work' } } })
    ;(await hands.started(0)).end.reject(new Error('broke'))
    await reached(engine, hands.runs[0]!.task, 'failed')
    expect((await engine.get(group))?.status).toBe('working')
    ;(await hands.started(1)).end.resolve(null)
    expect(await engine.settled(group)).toMatchObject({
      status: 'failed',
      error: {
        code: 'CHILD_FAILED',
        message: 'Child #2 (a) failed: broke',
        details: { child: hands.runs[0]!.task.id },
      },
    })
  })

  it('a group names a failed child in its error before one that was canceled', async () => {
    const engine = await openEngine()
    const group = await engine.create({ name: 'group', tasks: { a: {}, b: {} } })
    const [a, b] = (await engine.children(group)) as [Task, Task]
    await engine.cancel(a, 'not needed')
    await engine.start(b)
    await engine.fail(b, 'broke')
    expect((await engine.get(group))?.error?.message).toBe(`Child #${b.seq} (b) failed: broke`)
    const other = await engine.create({ name: 'other', tasks: { c: {} } })
    const [c] = (await engine.children(other)) as [Task]
    await engine.cancel(c, 'not needed')
    expect((await engine.get(other))?.error?.message).toBe(`Child #${c.seq} (c) was canceled: not needed`)
  })

  it('a failed group is reopened when a failed child is retried, and a retry of the group retries its failed children', async () => {
    const { engine, order } = await setup()
    const tasks = { fine: { executor: 'work' }, broken: { executor: 'breaks' } }
    const group = await engine.create({ name: 'group', tasks })
    expect((await engine.settled(group)).status).toBe('failed')
    await engine.retry((await childrenOf(engine, group)).broken!)
    expect((await engine.settled(group)).status).toBe('completed')
    const other = await engine.create({ name: 'other', tasks })
    expect((await engine.settled(other)).status).toBe('failed')
    await engine.retry(other)
    expect((await engine.settled(other)).status).toBe('completed')
    // Completed tasks were left alone.
    expect(order).toEqual(['fine', 'fine'])
  })

  it('a group inside a group starts and ends like the outer one', async () => {
    const { engine, order } = await setup()
    const root = await engine.create({
      name: 'root',
      tasks: {
        first: { tasks: { a: { executor: 'work' }, b: { executor: 'work', after: ['a'] } } },
        second: { after: 'first', tasks: { c: { executor: 'work' }, inner: { tasks: { d: { executor: 'work' } } } } },
      },
    })
    expect((await engine.settled(root)).status).toBe('completed')
    expect(order).toEqual(['a', 'b', 'c', 'd'])
    expect((await engine.subtree(root)).every(({ status }) => status === 'completed')).toBe(true)
  })

  it('a task added to a group by parentId inherits the dependencies of the group at any depth', async () => {
    const { engine, order } = await setup()
    const gate = await engine.create({ name: 'gate' })
    const group = await engine.create({ name: 'group', blockedBy: [gate.id], tasks: { a: { executor: 'work' } } })
    const late = await engine.create({ executor: 'work', name: 'late', parentId: group.id })
    const nested = await engine.create({ name: 'nested', parentId: group.id, tasks: { deep: { executor: 'work' } } })
    expect(late.blockedBy).toEqual([gate.id])
    expect((await engine.children(nested))[0]?.blockedBy).toEqual([gate.id])
    await engine.idle()
    expect(order).toEqual([])
    await engine.start(gate)
    await engine.complete(gate)
    expect((await engine.settled(group)).status).toBe('completed')
    expect(order).toEqual(['a', 'late', 'deep'])
  })

  it('a failed group is reopened by a new child', async () => {
    const { engine } = await setup()
    const group = await engine.create({ name: 'group', tasks: { a: { executor: 'breaks', input: 1 } } })
    await engine.settled(group)
    await engine.create({ executor: 'work', parentId: group.id })
    expect((await engine.get(group))?.status).not.toBe('failed')
    await engine.retry((await childrenOf(engine, group)).a!)
    expect((await engine.settled(group)).status).toBe('completed')
  })

  it('starting a held group releases it with everything in it', async () => {
    const { engine, order } = await setup()
    const group = await engine.create({
      name: 'group',
      autoStart: false,
      tasks: { a: { executor: 'work' }, g: { tasks: { b: { executor: 'work' } } } },
    })
    await engine.idle()
    expect(order).toEqual([])
    await engine.start(group)
    expect((await engine.settled(group)).status).toBe('completed')
    expect(order).toEqual(['a', 'b'])
  })

  it('a group without tasks is refused, and one with an unknown sibling is refused with the nearest name', async () => {
    const { engine } = await setup()
    await refusalOf(engine.create({ name: 'group', tasks: {} }), 'INVALID_INPUT')
    const refusal = await refusalOf(
      engine.create({
        name: 'group',
        tasks: { lines: { executor: 'work' }, report: { executor: 'work', after: 'line' } },
      }),
      'NOT_FOUND',
    )
    expect(refusal.details).toMatchObject({ name: 'report', after: 'line', nearest: 'lines' })
    expect((await engine.list()).total).toBe(0)
  })
})

describe('a dependency of a task', () => {
  it('S3-060 a task is blocked until all its dependencies have completed, and gets their results in order', async () => {
    const { engine } = await setup()
    const [one, two] = await engine.create([{ name: 'one' }, { name: 'two' }])
    const task = await engine.create({ executor: 'needs', blockedBy: [two!.id, one!.id, two!.id] })
    expect(task).toMatchObject({ ready: false, blockedBy: [two!.id, one!.id] })
    expect(await engine.why(task)).toMatchObject({ reason: 'blocked', tasks: [two!.id, one!.id] })
    for (const each of [one!, two!]) {
      expect((await engine.get(task))?.status).toBe('submitted')
      await engine.start(each)
      await engine.complete(each, `result of ${each.name}`)
    }
    expect(await engine.result(task)).toEqual([
      ['two', 'result of two'],
      ['one', 'result of one'],
    ])
    expect((await engine.get(task))?.blockedBy).toEqual([])
    expect((await engine.dependencies(task)).map(({ name }) => name)).toEqual(['two', 'one'])
  })

  it('C-52 a dependency on a failed or canceled task stays open', async () => {
    const { engine, order } = await setup()
    const failing = await engine.create({ executor: 'breaks' })
    const canceled = await engine.create({ name: 'canceled' })
    const after = await engine.create({ executor: 'work', name: 'after', blockedBy: [failing.id] })
    const never = await engine.create({ executor: 'work', name: 'never', blockedBy: [canceled.id] })
    await engine.settled(failing)
    await engine.cancel(canceled)
    await engine.idle()
    expect((await engine.get(never))?.blockedBy).toEqual([canceled.id])
    expect(order).toEqual([])
    await engine.retry(failing)
    expect(await engine.result(after)).toBe('after')
  })

  it('a dependency on a completed task is satisfied at once', async () => {
    const { engine } = await setup()
    const done = await engine.create({ executor: 'work' })
    await engine.result(done)
    const task = await engine.create({ executor: 'needs', blockedBy: [done.id] })
    expect(task.blockedBy).toEqual([])
    expect(await engine.result(task)).toEqual([['work', 'work']])
  })

  it('the dependencies of a task can be changed while it waits', async () => {
    const { engine, order } = await setup()
    const [one, two] = await engine.create([{ name: 'one' }, { name: 'two' }])
    const task = await engine.create({ executor: 'work', name: 'a', blockedBy: [one!.id] })
    expect((await engine.update(task, { blockedBy: [two!.id, two!.id] })).blockedBy).toEqual([two!.id])
    await engine.start(one!)
    await engine.complete(one!)
    await engine.idle()
    expect(order).toEqual([])
    await engine.update(task, { blockedBy: [] })
    expect(await engine.result(task)).toBe('a')
    await refusalOf(engine.update(two!, { blockedBy: ['task-unknown'] }), 'NOT_FOUND')
  })

  it('a dependency also blocks a task that is worked on by hand', async () => {
    const { engine } = await setup()
    const one = await engine.create({ name: 'one' })
    const task = await engine.create({ name: 'by hand', blockedBy: [one.id] })
    expect((await refusalOf(engine.start(task), 'BLOCKED')).details).toEqual({ taskId: task.id, blockedBy: [one.id] })
  })
})

describe('a cycle of dependencies', () => {
  it('a cycle of dependencies among siblings is refused with its path, before anything is created', async () => {
    const { engine } = await setup()
    const tasks = { a: { after: 'c' }, b: { after: 'a' }, c: { after: 'b' } }
    const refusal = await refusalOf(engine.create({ name: 'group', tasks }), 'CYCLE')
    expect(refusal.details.path).toEqual(['a', 'c', 'b', 'a'])
    await refusalOf(engine.create({ name: 'group', tasks: { a: { after: 'a' } } }), 'CYCLE')
    expect((await engine.list()).total).toBe(0)
  })

  it('an update that would close a cycle of dependencies is refused with its path', async () => {
    const { engine } = await setup()
    const a = await engine.create({ name: 'a' })
    const b = await engine.create({ name: 'b', blockedBy: [a.id] })
    const c = await engine.create({ name: 'c', blockedBy: [b.id] })
    const refusal = await refusalOf(engine.update(a, { blockedBy: [c.id] }), 'CYCLE')
    expect(refusal.details.path).toEqual([a.id, c.id, b.id, a.id])
    await refusalOf(engine.update(a, { blockedBy: [a.id] }), 'CYCLE')
    expect((await engine.get(a))?.blockedBy).toEqual([])
  })

  it('a creation of many children searches for a cycle of dependencies once, and the refusal names the first child in the cycle', async () => {
    const { engine } = await setup()
    const parent = await engine.create({ name: 'parent', autoComplete: true })
    const before = await engine.create({ name: 'before' })
    const after = await engine.create({ name: 'after', blockedBy: [parent.id] })
    const path = vi.spyOn(tablesOf(sqliteDialect).dependency, 'path')
    const child = (name: string, blocker: { id: string }) => ({ name, parentId: parent.id, blockedBy: [blocker.id] })
    await engine.create(Array.from({ length: 50 }, (_, index) => child(`child ${index}`, before)))
    expect(path).toHaveBeenCalledTimes(1)
    const drafts = [child('first', before), child('second', after), child('third', after)]
    const refusal = await refusalOf(engine.create(drafts), 'CYCLE')
    expect(refusal.message).toContain('second cannot come after')
    expect(refusal.details.path).toEqual([after.id, parent.id, expect.any(String)])
  })

  it('a cycle of dependencies through a group that waits for its child is refused anywhere in the tree', async () => {
    const { engine } = await setup()
    const group = await engine.create({ name: 'group', tasks: { a: { executor: 'work', autoStart: false } } })
    const after = await engine.create({ name: 'after', blockedBy: [group.id] })
    const { a } = await childrenOf(engine, group)
    await refusalOf(engine.update(a!, { blockedBy: [after.id] }), 'CYCLE')
    await refusalOf(engine.create({ name: 'b', parentId: group.id, blockedBy: [after.id] }), 'CYCLE')
    await refusalOf(engine.create({ name: 'b', parentId: group.id, blockedBy: [group.id] }), 'CYCLE')
    const nested = { name: 'n', parentId: group.id, tasks: { deep: { blockedBy: [after.id] } } }
    await refusalOf(engine.create(nested), 'CYCLE')
    expect(await engine.subtree(group)).toHaveLength(1)
  })

  it('a child may depend on its own parent when the parent does not wait for its children', async () => {
    const { engine, order } = await setup()
    const parent = await engine.create({ name: 'parent' })
    const child = await engine.create({
      executor: 'work',
      name: 'cleans up',
      parentId: parent.id,
      blockedBy: [parent.id],
    })
    await engine.start(parent)
    await engine.complete(parent)
    await engine.settled(child)
    expect(order).toEqual(['cleans up'])
  })
})

describe('autoComplete', () => {
  it('C-43 autoComplete "all-settled" completes a parent whatever the outcome of its children', async () => {
    const engine = await openEngine({
      executors: {
        split: async (_task: ExecutorTask, run: Run) => {
          await run.spawn([{ name: 'kept' }, { name: 'dropped' }])
          return 'split'
        },
      },
    })
    const content = await engine.create({ executor: 'split', autoComplete: 'all-settled' })
    const strict = await engine.create({ executor: 'split', autoComplete: true })
    for (const parent of [content, strict]) {
      await reached(engine, parent, 'waiting')
      const [kept, dropped] = await engine.children(parent)
      await engine.complete(await engine.start(kept as Task))
      await engine.cancel(dropped as Task)
    }
    expect(await engine.get(content)).toMatchObject({ status: 'completed', result: 'split' })
    expect(await engine.get(strict)).toMatchObject({ status: 'waiting', statusReason: 'children' })
  })

  it('autoComplete set on a parent whose children have all settled completes it at once', async () => {
    const engine = await openEngine()
    const parent = await engine.start(await engine.create({ name: 'parent' }))
    const child = await engine.start(await engine.create({ name: 'child', parentId: parent.id }))
    await engine.complete(child)
    expect((await engine.get(parent))?.status).toBe('working')
    expect((await engine.update(parent, { autoComplete: true })).status).toBe('completed')
  })

  it('S3-074 S3-084 S3-085 S3-086 autoComplete completes a parent with its last child, up to the grandparent, each with its event', async () => {
    const engine = await openEngine({ autoComplete: true })
    const grandparent = await engine.start(await engine.create({ name: 'grandparent' }))
    const parent = await engine.start(await engine.create({ name: 'parent', parentId: grandparent.id }))
    const [one, two] = await engine.create([
      { name: 'one', parentId: parent.id },
      { name: 'two', parentId: parent.id },
    ])
    for (const each of [one!, two!]) {
      expect((await engine.get(parent))?.status).toBe('working')
      await engine.start(each)
      await engine.complete(each)
    }
    expect((await engine.get(grandparent))?.status).toBe('completed')
    expect(typesOf(await history(engine, grandparent.id)).at(-1)).toBe('task.completed')
  })

  it('S3-085 S3-088 S3-089 S3-091 autoComplete does not complete a parent without the option, without children, or with a failed child', async () => {
    const { engine } = await setup()
    const plain = await engine.start(await engine.create({ name: 'plain' }))
    const lonely = await engine.start(await engine.create({ name: 'lonely', autoComplete: true }))
    const broken = await engine.start(await engine.create({ name: 'broken', autoComplete: true }))
    const done = [
      await engine.create({ executor: 'work', parentId: plain.id }),
      await engine.create({ executor: 'work', parentId: broken.id }),
      await engine.create({ executor: 'breaks', parentId: broken.id }),
    ]
    await Promise.all(done.map((task) => engine.settled(task)))
    for (const parent of [plain, lonely, broken]) expect((await engine.get(parent))?.status).toBe('working')
    await engine.retry(done[2]!)
    expect((await engine.settled(broken)).status).toBe('completed')
  })

  it("S3-087 S3-090 autoComplete keeps the parent's own result and waits for children that are still open", async () => {
    const hands = puppet()
    const engine = await openEngine({
      autoComplete: true,
      executors: {
        parent: async (_task: ExecutorTask, run: Run) => {
          await run.spawn({ executor: 'child' })
          return 'mine'
        },
        child: hands.executor,
      },
    })
    const parent = await engine.create({ executor: 'parent' })
    const held = await hands.started(0)
    expect(await reached(engine, parent, 'waiting')).toMatchObject({ statusReason: 'children' })
    held.end.resolve(null)
    expect(await engine.result(parent)).toBe('mine')
    expect((await history(engine, parent.id)).map(({ data }) => data.status)).toEqual([
      'submitted',
      'working',
      'waiting',
      'working',
      'completed',
    ])
  })

  it('S3-087 autoComplete completes a parent that begins to work after its children have settled', async () => {
    const { engine } = await setup()
    const parent = await engine.create({ name: 'parent', autoComplete: true })
    await engine.result(await engine.create({ executor: 'work', parentId: parent.id }))
    expect((await engine.get(parent))?.status).toBe('submitted')
    await engine.start(parent)
    expect((await engine.get(parent))?.status).toBe('completed')
  })
})
