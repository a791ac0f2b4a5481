// Groups in which nothing can move any more: they fail and say why, and are opened again by whatever frees a task in them.
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Task } from '../../src/entities/task.ts'
import type { Run } from '../../src/executor.ts'
import { type CreateOptions, createEngine } from '../../src/index.ts'
import type { Ledger, Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { history, ledgerFile, openEngine, reached, refusalOf } from './world.ts'

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

const chain = { build: {}, publish: { after: 'build' }, announce: { after: 'publish' } }

describe('a group in which nothing can move', () => {
  it('fails with GROUP_STUCK and names the cause; what waits stays submitted (C-52, S4-047)', async () => {
    const { engine, of, statuses, fail } = await plan(chain)
    await fail('build')
    expect(await statuses('group', 'build', 'publish', 'announce')).toEqual([
      'failed',
      'failed',
      'submitted',
      'submitted',
    ])
    const [build, publish] = [of('build').id, of('publish').id]
    expect((await engine.get(of('group')))?.error).toMatchObject({
      code: 'GROUP_STUCK',
      message: `Nothing in it can move: ${publish} (publish) waits for ${build} (build), which failed`,
      details: { cause: build },
    })
    await refusalOf(engine.result(of('group')), 'TASK_FAILED')
  })

  it('fails for what was canceled too, and for a cause outside of it', async () => {
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

  it('goes on while one of its tasks can move, whatever that waits for', async () => {
    const { of, engine, statuses, fail } = await plan({ ...chain, claimed: {}, timed: { notBefore: Date.now() + 1e9 } })
    await fail('build')
    expect(await statuses('group')).toEqual(['working'])
    await engine.cancel(of('claimed'))
    expect(await statuses('group')).toEqual(['working'])
    await engine.cancel(of('timed'))
    expect(await statuses('group')).toEqual(['failed'])
  })

  it('fails when the last that could move completes, and through any number of those that wait', async () => {
    const { statuses, fail, complete } = await plan({ ...chain, other: {} })
    await fail('build')
    expect(await statuses('group')).toEqual(['working'])
    await complete('other')
    expect(await statuses('group')).toEqual(['failed'])
  })

  it('is judged after the groups in it', async () => {
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

  it('fails at its creation when its tasks come after what has failed', async () => {
    const engine = await openEngine()
    const broken = await engine.create({ name: 'broken' })
    await engine.start(broken)
    await engine.fail(broken, 'broke')
    const group = await engine.create({ name: 'group', tasks: { a: {}, b: { after: 'a' } }, blockedBy: [broken.id] })
    expect(group).toMatchObject({ status: 'failed', error: { code: 'GROUP_STUCK' } })
    await engine.retry(broken)
    expect(await engine.get(group)).toMatchObject({ status: 'submitted', error: null, attempt: 2 })
  })

  it('is not kept alive by a parent that only awaits children of which none can move (S3-089)', async () => {
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

describe('a stuck group is opened again', () => {
  const ways: Record<string, (world: Awaited<ReturnType<typeof plan>>) => Promise<unknown>> = {
    'the retry of the blocker': ({ engine, of }) => engine.retry(of('build')),
    'its own retry': ({ engine, of }) => engine.retry(of('group')),
    unblock: ({ engine, of }) => engine.unblock(of('publish'), [of('build')]),
    'an update of what it comes after': ({ engine, of }) => engine.update(of('publish'), { blockedBy: [] }),
    'an update of its policy': ({ engine, of }) => engine.update(of('publish'), { onDependencyFailure: 'ignore' }),
    'the deletion of the blocker': ({ engine, of }) => engine.delete(of('build')),
    'a new child': ({ engine, of }) => engine.create({ name: 'new', parentId: of('group').id }),
  }

  it.each(Object.entries(ways))('by %s', async (_how, free) => {
    const world = await plan(chain)
    await world.fail('build')
    expect(await world.statuses('group')).toEqual(['failed'])
    await free(world)
    expect(await world.statuses('group')).toEqual(['submitted'])
    expect(await world.engine.get(world.of('group'))).toMatchObject({ attempt: 2, error: null })
  })

  it('and completes with its last task', async () => {
    const { engine, of, fail, complete, statuses } = await plan(chain)
    await fail('build')
    await engine.retry(of('build'))
    for (const name of ['build', 'publish', 'announce']) await complete(name)
    expect(await statuses('group')).toEqual(['completed'])
    const told = (await history(engine, of('group').id)).map(({ type }) => type)
    expect(told).toEqual([
      'task.created',
      'task.started',
      'task.failed',
      'task.retried',
      'task.started',
      'task.completed',
    ])
  })

  it('but not by the end of something that frees nothing in it', async () => {
    const { engine, of, fail, statuses } = await plan({ ...chain, other: { after: 'build' } })
    await fail('build')
    await engine.cancel(of('other'))
    expect(await statuses('group')).toEqual(['failed'])
    await engine.cancel(of('publish'))
    expect(await statuses('group', 'announce')).toEqual(['failed', 'submitted'])
  })
})

it('a cancel of a stuck group cancels what is open below it and leaves it failed', async () => {
  const { engine, of, fail, statuses } = await plan(chain)
  await fail('build')
  expect(await engine.cancel(of('group'), 'enough')).toMatchObject({ status: 'failed', error: { code: 'GROUP_STUCK' } })
  expect(await statuses('group', 'build', 'publish', 'announce')).toEqual(['failed', 'failed', 'canceled', 'canceled'])
  await refusalOf(engine.cancel(of('group')), 'INVALID_TRANSITION')
})

it('a settlement costs in proportion to what comes after it, however wide or long', async () => {
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

it('a ledger of an earlier version has its stuck groups failed when it is opened', async () => {
  const file = ledgerFile()
  const before = await createEngine({ ledger: file, work: false })
  const group = await before.create({ name: 'group', tasks: chain })
  const stranger = await before.create({ name: 'stranger', tasks: { build: {}, publish: { after: 'build' } } })
  const build = (await before.children(group)).find(({ name }) => name === 'build') as Task
  await before.start(build)
  await before.fail(build, 'broke')
  await before.close()
  // As the version before left it: nothing is known of what cannot move, and the group works on.
  const db = new Database(file)
  db.exec(`update task set stuck_by = null;
    update task set status = 'working', error = null, completed_at = null where id = '${group.id}';
    insert or replace into setting (name, value) values ('stuck groups', '"unjudged"')`)
  db.close()
  const engine = await createEngine({ ledger: file, work: false })
  onTestFinished(() => engine.close())
  expect(await engine.get(group)).toMatchObject({
    status: 'failed',
    error: { code: 'GROUP_STUCK', details: { cause: build.id } },
  })
  expect(await engine.get(stranger)).toMatchObject({ status: 'submitted' })
  expect((await history(engine, group.id)).at(-1)).toMatchObject({ type: 'task.failed' })
})

/** Counts the statements of the steps of a name. */
function counting(inner: Ledger, name: string, counted: { statements: number }): Ledger {
  const step = <R>(given: Step<R>): Promise<R> =>
    inner.step(
      given.name !== name
        ? given
        : {
            name,
            *decide(tx) {
              const statements = given.decide(tx)
              let turn = statements.next()
              while (!turn.done) {
                counted.statements++
                turn = statements.next(yield turn.value)
              }
              return turn.value
            },
          },
    )
  return {
    name: inner.name,
    step,
    read: (query) => inner.read(query),
    enlist: (id) => inner.enlist(id),
    isAlive: (id) => inner.isAlive(id),
    discharge: (id, options) => inner.discharge(id, options),
    observe: (observer, options) => inner.observe(observer, options),
    close: (options) => inner.close(options),
  }
}
