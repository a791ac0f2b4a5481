// Lists: order, filters, pages; children and subtrees, however deep or wide.
import { describe, expect, it } from 'vitest'
import type { Task } from '../../src/entities/task.ts'
import { openEngine, refusalOf } from './world.ts'

const names = (tasks: readonly Task[]) => tasks.map((task) => task.name)
/** Nothing runs here: created tasks stay as they are. */
const setup = () => openEngine({ work: false })

async function create(
  engine: Awaited<ReturnType<typeof setup>>,
  ...specs: Array<[name: string, priority: number]>
): Promise<void> {
  for (const [name, priority] of specs) await engine.create({ name, priority })
}

describe('engine.list', () => {
  it('S3-029 engine.list sorts by priority, the highest first, then by age', async () => {
    const engine = await setup()
    await create(engine, ['b', 0], ['a', 5], ['c', 0], ['d', -1], ['e', 5])
    expect(names((await engine.list()).tasks)).toEqual(['a', 'e', 'b', 'c', 'd'])
  })

  it('S3-029 X-041 engine.list keeps the order of creation when the clock stands still or runs backwards', async () => {
    let now = 5_000
    const clock = { now: () => now--, setTimeout: () => 0, clearTimeout: () => {} }
    const engine = await openEngine({ work: false, clock })
    await create(engine, ['first', 0], ['second', 0], ['third', 0])
    expect(names((await engine.list()).tasks)).toEqual(['first', 'second', 'third'])
    const tasks = await engine.create([{ name: 'x' }, { name: 'y' }])
    expect(tasks[0]?.createdAt).toBe(tasks[1]?.createdAt)
    expect(names((await engine.list()).tasks).slice(-2)).toEqual(['x', 'y'])
  })

  it('S3-030 engine.list filters by status, one or several', async () => {
    const engine = await setup()
    const [, b, c] = await engine.create([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
    await engine.start(b as Task)
    await engine.cancel(c as Task)
    expect(names((await engine.list({ status: 'submitted' })).tasks)).toEqual(['a'])
    expect(names((await engine.list({ status: ['working', 'canceled'] })).tasks)).toEqual(['b', 'c'])
    await refusalOf(engine.list({ status: 'dreaming' as never }), 'INVALID_INPUT')
  })

  it('engine.list filters by parent, executor and metadata', async () => {
    const engine = await setup()
    const root = await engine.create({ name: 'root', metadata: { run: 1, hot: true } })
    await engine.create({ name: 'child', parentId: root.id, executor: 'shell', metadata: { run: '1' } })
    expect(names((await engine.list({ parentId: root.id })).tasks)).toEqual(['child'])
    expect(names((await engine.list({ parentId: null })).tasks)).toEqual(['root'])
    expect(names((await engine.list({ executor: 'shell' })).tasks)).toEqual(['child'])
    expect(names((await engine.list({ metadata: { run: 1 } })).tasks)).toEqual(['root'])
    expect(names((await engine.list({ metadata: { run: '1' } })).tasks)).toEqual(['child'])
    expect(names((await engine.list({ metadata: { run: 1, hot: true } })).tasks)).toEqual(['root'])
    expect(names((await engine.list({ metadata: { hot: 1 } })).tasks)).toEqual([])
  })

  it('engine.list returns pages of at most `limit`, with the total count and a cursor', async () => {
    const engine = await setup()
    await engine.create(Array.from({ length: 25 }, (_, index) => ({ name: `${index}`, priority: index % 3 })))
    const whole = await engine.list()
    expect(whole).toMatchObject({ total: 25, next: null })
    const paged: Task[] = []
    let after: string | null = null
    do {
      const page: Awaited<ReturnType<typeof engine.list>> = await engine.list({ limit: 7, ...(after ? { after } : {}) })
      expect(page.total).toBe(25)
      expect(page.tasks.length).toBeLessThanOrEqual(7)
      paged.push(...page.tasks)
      after = page.next
    } while (after !== null)
    expect(paged).toEqual(whole.tasks)
    await refusalOf(engine.list({ after: 'nowhere' }), 'INVALID_INPUT')
    await refusalOf(engine.list({ limit: 5_000 }), 'INVALID_INPUT')
  })

  it('engine.list returns 100 tasks by default', async () => {
    const engine = await setup()
    await engine.create(Array.from({ length: 101 }, (_, index) => ({ name: `${index}` })))
    const { tasks, total, next } = await engine.list()
    expect([tasks.length, total, next === null]).toEqual([100, 101, false])
  })
})

describe('a family of tasks', () => {
  it('S3-031 S3-032 a family of tasks has children, sorted, and descendants, flat and without the root', async () => {
    const engine = await setup()
    const root = await engine.create({ name: 'root' })
    const low = await engine.create({ name: 'low', parentId: root.id })
    await engine.create({ name: 'high', parentId: root.id, priority: 2 })
    await engine.create({ name: 'grandchild', parentId: low.id, priority: 1 })
    await engine.create({ name: 'outsider' })
    expect(names(await engine.children(root))).toEqual(['high', 'low'])
    expect(names(await engine.subtree(root))).toEqual(['high', 'grandchild', 'low'])
    expect(await engine.subtree(low)).toHaveLength(1)
  })

  it('S3-031 S3-032 a family of tasks of an unknown task is NOT_FOUND', async () => {
    const engine = await setup()
    for (const read of ['children', 'subtree', 'calls', 'messages', 'runs', 'dependencies'] as const)
      await refusalOf(engine[read]('task-unknown'), 'NOT_FOUND')
  })

  it('S3-033 a family of tasks can be a thousand levels deep: read, canceled and deleted as a whole', async () => {
    const engine = await setup()
    let parentId = (await engine.create({ name: 'root' })).id
    const root = parentId
    for (let level = 1; level <= 1_000; level++) parentId = (await engine.create({ name: `${level}`, parentId })).id
    expect(await engine.subtree(root)).toHaveLength(1_000)
    await engine.cancel(root, 'too deep')
    expect((await engine.list({ status: 'canceled', limit: 0 })).total).toBe(1_001)
    expect(await engine.delete(root, { children: 'cascade' })).toBe(true)
    expect((await engine.list({ limit: 0 })).total).toBe(0)
  })

  it('S3-033 a family of tasks can be ten thousand wide: created, read and canceled as a whole', async () => {
    const engine = await setup()
    const tasks = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`t${index}`, {}]))
    const root = await engine.create({ name: 'root', tasks })
    expect(await engine.children(root)).toHaveLength(10_000)
    await engine.cancel(root)
    expect((await engine.list({ status: 'canceled', limit: 0 })).total).toBe(10_001)
  })

  it('S3-033 a family of tasks can be created at once with a hundred nested groups', async () => {
    const engine = await setup()
    let tasks: Record<string, object> = { leaf: {} }
    for (let level = 0; level < 100; level++) tasks = { [`level${level}`]: { tasks } }
    const root = await engine.create({ name: 'root', tasks })
    expect(await engine.subtree(root)).toHaveLength(101)
  })

  it('S3-034 a family of tasks has no cycle: a task cannot name a descendant as its parent', async () => {
    const engine = await setup()
    const root = await engine.create({ name: 'root' })
    const child = await engine.create({ name: 'child', parentId: root.id })
    await refusalOf(engine.update(root, { parentId: child.id } as never), 'UNKNOWN_OPTION')
    await refusalOf(engine.create({ name: 'own', parentId: 'task-own' }), 'NOT_FOUND')
  })
})
