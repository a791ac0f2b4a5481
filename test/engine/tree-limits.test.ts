// Maximum size of a tree: levels below a root, and children of one task.
import { describe, expect, it } from 'vitest'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { openEngine, refusalOf } from './world.ts'

describe('maxDepth', () => {
  it('S1-062 maxDepth refuses the level below it, in a growing tree and in one created at once', async () => {
    const engine = await openEngine({ maxDepth: 2 })
    const root = await engine.create({ name: 'root' })
    const child = await engine.create({ name: 'child', parentId: root.id })
    const deep = await engine.create({ name: 'deep', parentId: child.id })
    const refusal = await refusalOf(engine.create({ name: 'too deep', parentId: deep.id }), 'LIMIT_EXCEEDED')
    expect(refusal.details).toEqual({ limit: 'maxDepth', value: 2, parentId: deep.id })
    expect(refusal.message).toContain('raise `maxDepth`')
    const tree = { tasks: { one: { tasks: { two: { name: 'two', tasks: { three: {} } } } } } }
    await refusalOf(engine.create({ name: 'given', ...tree }), 'LIMIT_EXCEEDED')
    await refusalOf(
      engine.create({ name: 'given', parentId: child.id, tasks: { a: { tasks: { b: {} } } } }),
      'LIMIT_EXCEEDED',
    )
    expect((await engine.list()).total).toBe(3)
  })

  it('maxDepth counts from the present root of a promoted family', async () => {
    const engine = await openEngine({ maxDepth: 2 })
    const root = await engine.create({ name: 'root' })
    const child = await engine.create({ name: 'child', parentId: root.id })
    const deep = await engine.create({ name: 'deep', parentId: child.id })
    await engine.delete(root)
    const deeper = await engine.create({ name: 'deeper', parentId: deep.id })
    await refusalOf(engine.create({ name: 'too deep', parentId: deeper.id }), 'LIMIT_EXCEEDED')
  })

  it('maxDepth ends a task that spawns itself endlessly', async () => {
    const engine = await openEngine({
      maxDepth: 5,
      executors: {
        again: async (_task: ExecutorTask, run: Run): Promise<unknown> =>
          run.wait(await run.spawn({ executor: 'again' })),
      },
    })
    const root = await engine.create({ executor: 'again' })
    expect((await engine.settled(root)).status).toBe('failed')
    const family = await engine.subtree(root)
    expect(family).toHaveLength(5)
    expect(family.map(({ error }) => error?.code)).toContain('LIMIT_EXCEEDED')
  })
})

describe('maxChildren of an engine', () => {
  it('S1-062 maxChildren of an engine refuses one child more, one by one, in a list and in a tree, deleted ones counted', async () => {
    const engine = await openEngine({ maxChildren: 2 })
    const root = await engine.create({ name: 'root' })
    const first = await engine.create({ name: 'first', parentId: root.id })
    const pair = ['a', 'b'].map((name) => ({ name, parentId: root.id }))
    const refusal = await refusalOf(engine.create(pair), 'LIMIT_EXCEEDED')
    expect(refusal.details).toEqual({ limit: 'maxChildren', value: 2, parentId: root.id, children: 1 })
    await engine.create({ name: 'second', parentId: root.id })
    await engine.delete(first)
    await refusalOf(engine.create({ name: 'third', parentId: root.id }), 'LIMIT_EXCEEDED')
    await refusalOf(engine.create({ name: 'group', tasks: { a: {}, b: {}, c: {} } }), 'LIMIT_EXCEEDED')
    expect((await engine.list()).total).toBe(2)
  })

  it('maxChildren of an engine refuses a run that spawns too many, which may continue', async () => {
    const engine = await openEngine({
      maxChildren: 3,
      executors: {
        parent: async (_task: ExecutorTask, run: Run) => {
          const made = await run.spawn([{ name: 'a' }, { name: 'b' }])
          await refusalOf(run.spawn([{ name: 'c' }, { name: 'd' }]), 'LIMIT_EXCEEDED')
          await run.spawn({ name: 'c' })
          return made.length
        },
      },
    })
    const parent = await engine.create({ executor: 'parent' })
    expect(await engine.result(parent)).toBe(2)
    expect((await engine.children(parent)).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })
})

describe('maxChildren of a task', () => {
  it('maxChildren of a task applies to that task below the limit of the engine, from its creation on, and is changed by update', async () => {
    const engine = await openEngine({ maxChildren: 3 })
    const family = { name: 'family', maxChildren: 1, autoComplete: true, tasks: { a: {}, b: {} } }
    await refusalOf(engine.create(family), 'LIMIT_EXCEEDED')
    const root = await engine.create({ name: 'root', maxChildren: 1 })
    await engine.create({ name: 'first', parentId: root.id })
    const second = { name: 'second', parentId: root.id }
    const refusal = await refusalOf(engine.create(second), 'LIMIT_EXCEEDED')
    expect(refusal.details).toEqual({ limit: 'maxChildren', value: 1, parentId: root.id, children: 1 })
    expect(refusal.message).toContain(`raise \`maxChildren\` on ${root.id}`)
    await engine.update(root, { maxChildren: 9 })
    await engine.create(second)
    await engine.create({ name: 'third', parentId: root.id })
    const beyond = await refusalOf(engine.create({ name: 'fourth', parentId: root.id }), 'LIMIT_EXCEEDED')
    expect(beyond.message).toContain('in createEngine')
    await engine.update(root, { maxChildren: null })
    await refusalOf(engine.create({ name: 'fourth', parentId: root.id }), 'LIMIT_EXCEEDED')
  })
})

describe('a tree of goals', () => {
  it('S1-061 a tree of goals lists each of its levels: year, quarter, month', async () => {
    const engine = await openEngine()
    const year = await engine.create({ goal: 'the year' })
    const quarter = await engine.create({ goal: 'the quarter', parentId: year.id })
    await engine.create({ goal: 'another quarter', parentId: year.id })
    await engine.create({ goal: 'the month', parentId: quarter.id })
    const goals = async (parentId: string | null) => (await engine.list({ parentId })).tasks.map(({ goal }) => goal)
    expect(await goals(null)).toEqual(['the year'])
    expect(await goals(year.id)).toEqual(['the quarter', 'another quarter'])
    expect(await goals(quarter.id)).toEqual(['the month'])
    expect((await engine.subtree(year)).map(({ goal }) => goal)).toEqual([
      'the quarter',
      'another quarter',
      'the month',
    ])
  })
})
