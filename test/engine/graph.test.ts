// The graph of the open tasks: an order in which they can be done, the task that blocks the most, and why one is
// blocked.
import { describe, expect, it } from 'vitest'
import { openEngine, refusalOf } from './world.ts'

const names = (tasks: ReadonlyArray<{ name: string }>): string[] => tasks.map(({ name }) => name)

describe('engine.graph', () => {
  it('S4-049 engine.graph orders the open tasks, names the one that blocks the most, and gives each the reason why it is blocked', async () => {
    const engine = await openEngine()
    const top = await engine.create({ name: 'top' })
    const [left, right] = [
      await engine.create({ name: 'left', blockedBy: [top.id] }),
      await engine.create({ name: 'right', blockedBy: [top.id], priority: 2 }),
    ]
    const bottom = await engine.create({ name: 'bottom', blockedBy: [left.id, right.id], priority: 9 })
    await engine.create({ name: 'alone', priority: 1 })
    const graph = await engine.graph()
    expect(names(graph.order)).toEqual(['alone', 'top', 'right', 'left', 'bottom'])
    expect(graph.critical).toEqual([{ taskId: top.id, holdsUp: 3 }])
    expect(await engine.why(bottom)).toMatchObject({ reason: 'blocked', tasks: [left.id, right.id] })
    await engine.start(top)
    expect(names((await engine.graph()).order)).toContain('top')
    await engine.complete(top)
    const later = await engine.graph()
    expect(names(later.order)).toEqual(['right', 'alone', 'left', 'bottom'])
    expect(later.critical).toEqual([
      { taskId: right.id, holdsUp: 1 },
      { taskId: left.id, holdsUp: 1 },
    ])
  })

  it('engine.graph puts a task after a group after all that the group holds, at any depth, and does not list the group', async () => {
    const engine = await openEngine()
    const plan = await engine.create({
      name: 'plan',
      tasks: {
        after: { name: 'after', priority: 9, after: 'first' },
        first: { tasks: { a: {}, inner: { tasks: { b: {}, c: { after: 'b', priority: 5 } }, after: 'a' } } },
      },
    })
    const graph = await engine.graph({ parentId: plan.id })
    expect(names(graph.order)).toEqual(['a', 'b', 'c', 'after'])
    expect(graph.critical.map(({ holdsUp }) => holdsUp)).toEqual([3])
    expect(names((await engine.graph()).order)).toEqual(['a', 'b', 'c', 'after'])
  })

  it('engine.graph puts a task after a parent that its children complete after these children', async () => {
    const engine = await openEngine()
    const parent = await engine.create({ name: 'parent', autoComplete: true })
    await engine.create({ name: 'child', parentId: parent.id })
    const plain = await engine.create({ name: 'plain', priority: 2 })
    await engine.create({ name: 'its child', parentId: plain.id })
    await engine.create({ name: 'after', priority: 9, blockedBy: [parent.id, plain.id] })
    expect(names((await engine.graph()).order)).toEqual(['plain', 'parent', 'child', 'after', 'its child'])
  })

  it('engine.graph returns one family, nothing for none, and refuses an unknown task', async () => {
    const engine = await openEngine()
    const root = await engine.create({ name: 'root' })
    await engine.create({ name: 'child', parentId: root.id })
    await engine.create({ name: 'outsider' })
    expect(names((await engine.graph({ parentId: root.id })).order)).toEqual(['child'])
    await engine.cancel(root)
    expect(await engine.graph({ parentId: root.id })).toEqual({ order: [], critical: [] })
    await refusalOf(engine.graph({ parentId: 'task-unknown' }), 'NOT_FOUND')
  })
})
