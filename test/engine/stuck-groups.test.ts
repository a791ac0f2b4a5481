// Groups in which no task can move: they fail with the cause, and are reopened by whatever unblocks a task in them.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import type { CreateOptions } from '../../src/index.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/index.ts'
import { counting } from './counting.ts'
import { history, openEngine, reached, refusalOf } from './world.ts'

type Tasks = Record<string, Omit<CreateOptions, 'parentId'> & { after?: string | string[] }>

/** Tasks that are worked on by hand, in a group; each by its name, the group as `group`. */
async function plan(tasks: Tasks, options: Partial<CreateOptions> = {}) {
  const engine = await openEngine()
  const group = await engine.create({ name: 'group', tasks, ...options } as CreateOptions)
  const named: Record<string, Task> = { group }
  const note = async (parent: Task): Promise<void> => {
    for (const child of await engine.children(parent)) {
      named[child.name] = child
      await note(child)
    }
  }
  await note(group)
  const of = (name: string) => named[name] as Task
  const statuses = async (...names: string[]) =>
    Promise.all(names.map(async (name) => (await engine.get(of(name)))?.status))
  const fail = async (name: string) => {
    await engine.start(of(name))
    await engine.fail(of(name), 'broke')
  }
  const complete = async (name: string) => {
    await engine.start(of(name))
    await engine.complete(of(name))
  }
  return { engine, of, statuses, fail, complete, add: (name: string, task: Task) => (named[name] = task) }
}

const eventTypesOf = async (engine: Pick<Engine, 'events'>, { id }: Task) =>
  (await history(engine, id)).map(({ type }) => type)

const chain = { build: {}, publish: { after: 'build' }, announce: { after: 'publish' } }

describe('a group in which no task can move', () => {
  it('C-52 S4-047 a group in which no task can move fails with GROUP_STUCK and names the cause; waiting tasks stay submitted', async () => {
    const { engine, of, statuses, fail } = await plan(chain)
    await fail('build')
    expect(await statuses('group', 'build', 'publish', 'announce')).toEqual([
      'failed',
      'failed',
      'submitted',
      'submitted',
    ])
    const [build, publish] = [of('build'), of('publish')]
    expect((await engine.get(of('group')))?.error).toMatchObject({
      code: 'GROUP_STUCK',
      message: `Nothing in it can move: #${publish.seq} (publish) waits for #${build.seq} (build), which failed`,
      details: { cause: build.id },
    })
    await refusalOf(engine.result(of('group')), 'TASK_FAILED')
  })

  it('a group in which no task can move fails for canceled tasks too, and for a cause outside of it', async () => {
    const engine = await openEngine()
    const outside = await engine.create({ name: 'outside' })
    const group = await engine.create({
      name: 'group',
      tasks: { a: {}, b: { after: 'a' } },
      blockedBy: [outside.id],
    })
    await engine.cancel(outside)
    expect(await engine.get(group)).toMatchObject({
      status: 'failed',
      error: { code: 'GROUP_STUCK', details: { cause: outside.id } },
    })
  })

  it('a group continues while one of its tasks can move, whatever this task waits for', async () => {
    const { of, engine, statuses, fail } = await plan({ ...chain, claimed: {}, timed: { notBefore: Date.now() + 1e9 } })
    await fail('build')
    expect(await statuses('group')).toEqual(['working'])
    await engine.cancel(of('claimed'))
    expect(await statuses('group')).toEqual(['working'])
    await engine.cancel(of('timed'))
    expect(await statuses('group')).toEqual(['failed'])
  })

  it('a group in which no task can move fails when the last task that could move completes, and through any number of waiting ones', async () => {
    const { statuses, fail, complete } = await plan({ ...chain, other: {} })
    await fail('build')
    expect(await statuses('group')).toEqual(['working'])
    await complete('other')
    expect(await statuses('group')).toEqual(['failed'])
  })

  it('a group in which no task can move is judged after the groups in it', async () => {
    const { engine, of, statuses, fail } = await plan({
      inner: { tasks: chain },
      later: { after: 'inner' },
    } as Tasks)
    await fail('build')
    expect(await statuses('inner', 'group', 'later')).toEqual(['failed', 'failed', 'submitted'])
    expect((await engine.get(of('group')))?.error).toMatchObject({
      code: 'GROUP_STUCK',
      details: { cause: of('inner').id, task: of('later').id },
    })
    await engine.retry(of('build'))
    expect(await statuses('inner', 'group')).toEqual(['submitted', 'submitted'])
  })

  it('a group continues only as long as a child of a stuck task can move', async () => {
    const { engine, of, statuses, fail } = await plan(chain)
    const below = await engine.create({ name: 'below', parentId: of('publish').id })
    await fail('build')
    expect(await statuses('group')).toEqual(['working'])
    await engine.start(below)
    await engine.complete(below)
    expect(await statuses('group')).toEqual(['failed'])
    await engine.create({ name: 'more', parentId: of('publish').id })
    expect(await statuses('group')).toEqual(['submitted'])
  })

  it('a group in which no task can move fails when the child of a stuck task waits for that task', async () => {
    const { engine, of, statuses, fail } = await plan(chain)
    await engine.create({ name: 'below', parentId: of('publish').id, blockedBy: [of('publish').id] })
    await fail('build')
    expect(await statuses('group')).toEqual(['failed'])
  })

  it('a group in which no task can move fails at its creation when its tasks depend on failed ones', async () => {
    const engine = await openEngine()
    const broken = await engine.create({ name: 'broken' })
    await engine.start(broken)
    await engine.fail(broken, 'broke')
    const group = await engine.create({ name: 'group', tasks: { a: {}, b: { after: 'a' } }, blockedBy: [broken.id] })
    expect(group).toMatchObject({ status: 'failed', error: { code: 'GROUP_STUCK' } })
    await engine.retry(broken)
    expect(await engine.get(group)).toMatchObject({ status: 'submitted', error: null, attempt: 2 })
  })

  it('S3-089 a stuck group is not kept alive by a parent that only awaits children of which none can move', async () => {
    const engine = await openEngine({
      executors: {
        spawns: async (_task: unknown, run: Run) => {
          await run.spawn({ name: 'child' } as never)
        },
      },
    })
    const group = await engine.create({ name: 'group', tasks: { parent: { executor: 'spawns', autoComplete: true } } })
    const [parent] = await engine.children(group)
    await reached(engine, parent!, 'waiting')
    const [child] = await engine.children(parent!)
    await engine.start(child!)
    await engine.fail(child!, 'broke')
    expect(await engine.get(parent!)).toMatchObject({ status: 'waiting', statusReason: 'children' })
    expect(await engine.get(group)).toMatchObject({ status: 'failed', error: { code: 'GROUP_STUCK' } })
    await engine.retry(child!)
    await engine.start(child!)
    await engine.complete(child!)
    expect(await engine.get(group)).toMatchObject({ status: 'completed' })
  })
})

describe('a stuck group is reopened', () => {
  const ways: Record<string, (world: Awaited<ReturnType<typeof plan>>) => Promise<unknown>> = {
    'the retry of the blocker': ({ engine, of }) => engine.retry(of('build')),
    'its own retry': ({ engine, of }) => engine.retry(of('group')),
    unblock: ({ engine, of }) => engine.unblock(of('publish'), [of('build')]),
    'an update of what it comes after': ({ engine, of }) => engine.update(of('publish'), { blockedBy: [] }),
    'an update of its policy': ({ engine, of }) => engine.update(of('publish'), { onDependencyFailure: 'ignore' }),
    'the deletion of the blocker': ({ engine, of }) => engine.delete(of('build')),
    'a new child': ({ engine, of }) => engine.create({ name: 'new', parentId: of('group').id }),
  }

  it.each(Object.entries(ways))('a stuck group is reopened by %s', async (_how, free) => {
    const world = await plan(chain)
    await world.fail('build')
    expect(await world.statuses('group')).toEqual(['failed'])
    await free(world)
    expect(await world.statuses('group')).toEqual(['submitted'])
    expect(await world.engine.get(world.of('group'))).toMatchObject({ attempt: 2, error: null })
  })

  it('a stuck group that was reopened completes with its last task', async () => {
    const { engine, of, fail, complete, statuses } = await plan(chain)
    await fail('build')
    await engine.retry(of('build'))
    for (const name of ['build', 'publish', 'announce']) await complete(name)
    expect(await statuses('group')).toEqual(['completed'])
    expect(await eventTypesOf(engine, of('group'))).toEqual([
      'task.created',
      'task.started',
      'task.failed',
      'task.retried',
      'task.started',
      'task.completed',
    ])
  })

  it('a stuck group is not reopened by the end of something that unblocks nothing in it', async () => {
    const { engine, of, fail, statuses } = await plan({ ...chain, other: { after: 'build' } })
    await fail('build')
    await engine.cancel(of('other'))
    expect(await statuses('group')).toEqual(['failed'])
    await engine.cancel(of('publish'))
    expect(await statuses('group', 'announce')).toEqual(['failed', 'submitted'])
  })
})

describe('a group is judged when everything that concerns it is known', () => {
  it('a group is judged when everything that concerns it is known by a deletion that removes both its last movable task and the dependency of the next one', async () => {
    const { engine, of, statuses } = await plan({ parent: {}, next: {} })
    const below = await engine.create({ name: 'below', parentId: of('parent').id })
    await engine.block(of('next'), [below.id])
    const later = await engine.create({ name: 'later', blockedBy: [of('group').id], onDependencyFailure: 'cancel' })
    await engine.start(of('parent'))
    await engine.start(below)
    await engine.fail(below, 'broke')
    await engine.delete(of('parent'), { children: 'cascade' })
    expect(await statuses('group', 'next')).toEqual(['working', 'submitted'])
    expect(await eventTypesOf(engine, of('group'))).toEqual(['task.created', 'task.started'])
    expect(await engine.get(later)).toMatchObject({ status: 'submitted' })
  })

  it('a group is judged when everything that concerns it is known when it is retried with a task that could not move when it failed', async () => {
    const start = Date.UTC(2030, 0, 1)
    const clock = new SimulatedClock(start)
    const engine = await openEngine({ clock, executors: { ends: async () => 1 } })
    const parent = { executor: 'ends', autoComplete: true, autoStart: false, deadline: start + 1_000 }
    const group = await engine.create({ name: 'group', tasks: { parent } } as CreateOptions)
    const [awaiting] = (await engine.children(group)) as [Task]
    const child = await engine.create({ name: 'child', parentId: awaiting.id })
    await engine.start(awaiting)
    await reached(engine, awaiting, 'waiting')
    await engine.start(child)
    await engine.fail(child, 'broke')
    expect(await engine.get(group)).toMatchObject({ error: { code: 'GROUP_STUCK' } })
    clock.increment(1_000)
    await reached(engine, awaiting, 'failed')
    await engine.retry(group)
    expect(await engine.get(group)).toMatchObject({ attempt: 2 })
    expect((await eventTypesOf(engine, group)).filter((type) => type === 'task.failed')).toHaveLength(1)
  })

  it('a stuck group is not reopened by a new or retried task that cannot move either', async () => {
    const { engine, of, fail, complete } = await plan({ ...chain, broken: {}, first: {} })
    await fail('broken')
    await engine.block(of('broken'), [of('build').id])
    await complete('first')
    await fail('build')
    const group = await engine.get(of('group'))
    expect(group).toMatchObject({ status: 'failed', attempt: 1 })
    await engine.create({ name: 'new', parentId: of('group').id, blockedBy: [of('build').id] })
    await engine.create({ name: 'inner', parentId: of('group').id, tasks: { a: {} }, blockedBy: [of('build').id] })
    await engine.retry(of('broken'))
    expect(await engine.get(of('group'))).toEqual(group)
    await engine.retry(of('build'))
    expect(await engine.get(of('group'))).toMatchObject({ status: 'submitted', attempt: 2 })
  })

  it('a stuck group is canceled when a task reopens it, if its own dependency failed meanwhile', async () => {
    const engine = await openEngine()
    const group = await engine.create({ name: 'group', tasks: { a: {} }, onDependencyFailure: 'cancel' })
    const [a] = (await engine.children(group)) as [Task]
    await engine.start(a)
    await engine.fail(a, 'broke')
    const before = await engine.create({ name: 'before' })
    await engine.block(group, [before.id])
    await engine.unblock(a, [before.id])
    await engine.start(before)
    await engine.fail(before, 'broke')
    await engine.retry(a)
    expect(await engine.get(group)).toMatchObject({ status: 'canceled' })
    expect(await engine.get(a)).toMatchObject({ status: 'canceled' })
  })
})

it('canceling a stuck group cancels the open tasks below it and leaves it failed', async () => {
  const { engine, of, fail, statuses } = await plan(chain)
  await fail('build')
  expect(await engine.cancel(of('group'), 'enough')).toMatchObject({ status: 'failed', error: { code: 'GROUP_STUCK' } })
  expect(await statuses('group', 'build', 'publish', 'announce')).toEqual(['failed', 'failed', 'canceled', 'canceled'])
  await refusalOf(engine.cancel(of('group')), 'INVALID_TRANSITION')
})

it('a settlement costs in proportion to its dependents, however wide or long', async () => {
  const statementsOf = async (n: number, after: (index: number) => string) => {
    const ledger = await openLedger(':memory:')
    const counted = { statements: 0 }
    const engine = await openEngine({ ledger: counting(ledger, 'fail', counted) })
    const tasks = Object.fromEntries(Array.from({ length: n }, (_, index) => [`t${index}`, { after: after(index) }]))
    const group = await engine.create({ name: 'group', tasks: { first: {}, ...tasks } } as never)
    const first = (await engine.children(group)).find(({ name }) => name === 'first') as Task
    await engine.start(first)
    await engine.fail(first, 'broke')
    expect(await engine.get(group)).toMatchObject({ status: 'failed', error: { code: 'GROUP_STUCK' } })
    return counted.statements
  }
  for (const after of [() => 'first', (index: number) => (index === 0 ? 'first' : `t${index - 1}`)]) {
    const [few, many] = [await statementsOf(50, after), await statementsOf(200, after)]
    expect(many / few).toBeLessThan(4.2)
  }
})

it('a task that depends on many stuck ones is judged once for all of them', async () => {
  const statementsOf = async (width: number) => {
    const ledger = await openLedger(':memory:')
    const counted = { statements: 0 }
    const engine = await openEngine({ ledger: counting(ledger, 'retry', counted) })
    const names = Array.from({ length: width }, (_, index) => `t${index}`)
    const wide = Object.fromEntries(names.map((name) => [name, { after: 'first' }]))
    const tasks = { first: {}, ...wide, last: { after: names } }
    const group = await engine.create({ name: 'group', tasks } as never)
    const first = (await engine.children(group)).find(({ name }) => name === 'first') as Task
    await engine.start(first)
    await engine.fail(first, 'broke')
    await engine.retry(first)
    expect(await engine.get(group)).toMatchObject({ status: 'submitted' })
    return counted.statements
  }
  const [few, many] = [await statementsOf(50), await statementsOf(200)]
  // For each unblocked task: itself, whether it is stuck, what is written, and its dependents.
  expect((many - few) / 150).toBeLessThan(6)
})
