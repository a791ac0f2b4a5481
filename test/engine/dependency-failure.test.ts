// What happens to a task when one of its dependencies fails for good or is canceled: it stays blocked, is canceled, or
// runs (conformance C-52); at that moment, at its creation, and when the dependency is added later.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import type { OnDependencyFailure } from '../../src/entities/task-fields.ts'
import { history, openEngine, puppet, reached, typesOf } from './world.ts'

type Verbs = Pick<Engine, 'create' | 'start' | 'fail' | 'cancel' | 'complete' | 'get'>

async function statusOf(engine: Verbs, ...tasks: Task[]): Promise<Array<string | undefined>> {
  return Promise.all(tasks.map(async (task) => (await engine.get(task))?.status))
}

async function failed(engine: Verbs, task: Task): Promise<Task> {
  await engine.start(task)
  return engine.fail(task, 'broke')
}

const ways = {
  failed: (engine: Verbs, task: Task) => failed(engine, task),
  canceled: (engine: Verbs, task: Task) => engine.cancel(task, 'enough'),
}
const fates = [
  ['block', 'failed', { status: 'submitted', ready: false }],
  ['block', 'canceled', { status: 'submitted', ready: false }],
  ['cancel', 'failed', { status: 'canceled' }],
  ['cancel', 'canceled', { status: 'canceled' }],
  ['ignore', 'failed', { status: 'submitted', ready: true, blockedBy: [] }],
  ['ignore', 'canceled', { status: 'submitted', ready: true, blockedBy: [] }],
] as const

describe('a task whose dependency failed or was canceled', () => {
  it.each(fates)(
    'C-52 S4-047 a task whose dependency failed or was canceled with the policy %s when that %s does so at that moment',
    async (policy, way, expected) => {
      const engine = await openEngine()
      const blocker = await engine.create({ name: 'blocker' })
      const task = await engine.create({ name: 'task', blockedBy: [blocker.id], onDependencyFailure: policy })
      await ways[way](engine, blocker)
      expect(await engine.get(task)).toMatchObject(expected)
      const types = typesOf(await history(engine, task.id)).slice(1)
      expect(types).toEqual({ block: [], cancel: ['task.canceled'], ignore: ['task.unblocked'] }[policy])
      if (policy === 'cancel') {
        expect((await engine.get(task))?.statusReason).toBe(
          `dependency ${blocker.id} ${way === 'failed' ? 'failed' : 'was canceled'}`,
        )
      }
    },
  )

  it.each(fates)(
    'C-52 a task whose dependency failed or was canceled with the policy %s does so at its creation after one that %s',
    async (policy, way, expected) => {
      const engine = await openEngine()
      const blocker = await engine.create({ name: 'blocker' })
      await ways[way](engine, blocker)
      const task = await engine.create({ name: 'task', blockedBy: [blocker.id], onDependencyFailure: policy })
      expect(await engine.get(task)).toMatchObject(expected)
      // Creation returns the task as it is.
      expect(task).toEqual(await engine.get(task))
    },
  )

  it.each(fates)(
    'C-52 a task whose dependency failed or was canceled with the policy %s does so when it is blocked by one that %s before',
    async (policy, way, expected) => {
      const engine = await openEngine()
      const blocker = await engine.create({ name: 'blocker' })
      await ways[way](engine, blocker)
      const task = await engine.create({ name: 'task', onDependencyFailure: policy })
      expect(await engine.block(task, blocker)).toMatchObject(expected)
    },
  )

  it('C-52 a task whose dependency failed or was canceled takes the default of the engine, overridden by its own policy', async () => {
    const engine = await openEngine({ onDependencyFailure: 'cancel' })
    const blocker = await engine.create({ name: 'blocker' })
    const make = (onDependencyFailure?: OnDependencyFailure) =>
      engine.create({
        name: 'task',
        blockedBy: [blocker.id],
        ...(onDependencyFailure === undefined ? {} : { onDependencyFailure }),
      })
    const tasks = [await make(), await make('block'), await make('ignore')]
    await failed(engine, blocker)
    expect(await statusOf(engine, ...tasks)).toEqual(['canceled', 'submitted', 'submitted'])
    expect((await engine.get(tasks[2]!))?.blockedBy).toEqual([])
    expect((await engine.get(tasks[1]!))?.blockedBy).toEqual([blocker.id])
  })

  it('a task whose dependency failed or was canceled can change its policy before that happens', async () => {
    const engine = await openEngine()
    const blocker = await engine.create({ name: 'blocker' })
    const task = await engine.create({ name: 'task', blockedBy: [blocker.id] })
    await engine.update(task, { onDependencyFailure: 'cancel' })
    await failed(engine, blocker)
    expect(await statusOf(engine, task)).toEqual(['canceled'])
  })

  it('a task whose dependency failed or was canceled runs when it ignores the failure, and sees no result of the failed dependency', async () => {
    const engine = await openEngine({
      executors: {
        breaks: () => {
          throw new Error('broke')
        },
        needs: async (_task: ExecutorTask, run: Run) =>
          (await run.dependencies()).map(({ status, result }) => [status, result]),
      },
    })
    const [one, two] = (await engine.create([{ executor: 'breaks' }, { name: 'two' }])) as [Task, Task]
    const task = await engine.create({
      executor: 'needs',
      blockedBy: [one.id, two.id],
      onDependencyFailure: 'ignore',
    })
    await engine.settled(one)
    expect(await engine.get(task)).toMatchObject({ blockedBy: [two.id], ready: false })
    await engine.start(two)
    await engine.complete(two, 2)
    expect(await engine.result(task)).toEqual([
      ['failed', null],
      ['completed', 2],
    ])
  })

  it('a task whose dependency failed or was canceled reacts only to the last attempt of a dependency', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor }, onDependencyFailure: 'cancel' })
    const blocker = await engine.create({ executor: 'work', retry: { maxAttempts: 2 } })
    const task = await engine.create({ name: 'task', blockedBy: [blocker.id] })
    ;(await hands.started(0)).end.reject(new Error('once'))
    const second = await hands.started(1)
    expect(await statusOf(engine, task)).toEqual(['submitted'])
    second.end.reject(new Error('twice'))
    await engine.settled(blocker)
    expect(await statusOf(engine, task)).toEqual(['canceled'])
  })

  it('a task whose dependency failed or was canceled reacts also when it is paused', async () => {
    const engine = await openEngine()
    const blocker = await engine.create({ name: 'blocker' })
    const task = await engine.start(await engine.create({ name: 'task', onDependencyFailure: 'cancel' }))
    await engine.pause(task)
    await engine.block(task, blocker)
    await failed(engine, blocker)
    expect(await statusOf(engine, task)).toEqual(['canceled'])
  })
})

describe('cancels by dependencies', () => {
  it('cancels by dependencies run down a chain of any length, each with its reason, in one step with the first', async () => {
    const engine = await openEngine({ onDependencyFailure: 'cancel' })
    const length = 1_000
    const chain: Task[] = [await engine.create({ name: '0' })]
    for (let at = 1; at < length; at++) {
      chain.push(await engine.create({ name: `${at}`, blockedBy: [chain[at - 1]!.id] }))
    }
    await failed(engine, chain[0]!)
    expect((await engine.list({ status: 'canceled', limit: 0 })).total).toBe(length - 1)
    expect((await engine.get(chain[7]!))?.statusReason).toBe(`dependency ${chain[6]!.id} was canceled`)
  })

  it('cancels by dependencies meet in a diamond once', async () => {
    const engine = await openEngine({ onDependencyFailure: 'cancel' })
    const top = await engine.create({ name: 'top' })
    const sides = [
      await engine.create({ name: 'left', blockedBy: [top.id] }),
      await engine.create({ name: 'right', blockedBy: [top.id] }),
    ]
    const bottom = await engine.create({ name: 'bottom', blockedBy: sides.map(({ id }) => id) })
    await failed(engine, top)
    expect(await statusOf(engine, ...sides, bottom)).toEqual(['canceled', 'canceled', 'canceled'])
    expect(typesOf(await history(engine, bottom.id))).toEqual(['task.created', 'task.canceled'])
  })

  it('cancels by dependencies include the family of the dependent, and continue with the dependents of that family', async () => {
    const engine = await openEngine()
    const blocker = await engine.create({ name: 'blocker' })
    const parent = await engine.create({ name: 'parent', blockedBy: [blocker.id], onDependencyFailure: 'cancel' })
    const child = await engine.create({ name: 'child', parentId: parent.id })
    const far = await engine.create({ name: 'far', blockedBy: [child.id], onDependencyFailure: 'cancel' })
    const blocked = await engine.create({ name: 'blocked', blockedBy: [child.id] })
    await engine.cancel(blocker)
    expect(await statusOf(engine, parent, child, far, blocked)).toEqual([
      'canceled',
      'canceled',
      'canceled',
      'submitted',
    ])
  })

  it('reach tasks outside that depend on tasks of a canceled family', async () => {
    const engine = await openEngine({ onDependencyFailure: 'cancel' })
    const root = await engine.create({ name: 'root' })
    const deep = await engine.create({ name: 'deep', parentId: root.id })
    const outside = await engine.create({ name: 'outside', blockedBy: [deep.id] })
    await engine.cancel(root)
    expect(await statusOf(engine, outside)).toEqual(['canceled'])
  })

  it('cancels by dependencies end a group of which all remaining tasks are blocked by a failed one', async () => {
    const engine = await openEngine({
      executors: { work: () => null, breaks: () => Promise.reject(new Error('broke')) },
    })
    const group = await engine.create({
      name: 'group',
      tasks: {
        a: { executor: 'breaks' },
        b: { executor: 'work', after: 'a', onDependencyFailure: 'cancel' },
        c: { executor: 'work', after: 'b', onDependencyFailure: 'cancel' },
      },
    })
    expect(await engine.settled(group)).toMatchObject({ status: 'failed' })
    const children = (await engine.children(group)).map(({ status }) => status)
    expect(children).toEqual(['failed', 'canceled', 'canceled'])
  })

  it('cancels by dependencies at creation end a group that could never begin', async () => {
    const engine = await openEngine({ executors: { work: () => null } })
    const blocker = await failed(engine, await engine.create({ name: 'blocker' }))
    const group = await engine.create({
      name: 'group',
      tasks: { a: { executor: 'work', blockedBy: [blocker.id], onDependencyFailure: 'cancel' } },
    })
    expect(group.status).toBe('failed')
    const whole = await engine.create({
      name: 'whole',
      blockedBy: [blocker.id],
      onDependencyFailure: 'cancel',
      tasks: { a: { executor: 'work' } },
    })
    expect(whole.status).toBe('canceled')
    expect((await engine.children(whole)).map(({ status }) => status)).toEqual(['canceled'])
  })

  it('cancels by dependencies wake tasks that wait for the dependent', async () => {
    const engine = await openEngine({
      executors: { waits: (task: ExecutorTask<string>, run: Run) => run.wait(task.input, { settled: true }) },
    })
    const blocker = await engine.create({ name: 'blocker' })
    const task = await engine.create({ name: 'task', blockedBy: [blocker.id], onDependencyFailure: 'cancel' })
    const waiter = await engine.create({ executor: 'waits', input: task.id })
    await reached(engine, waiter, 'waiting')
    await engine.cancel(blocker)
    expect(await engine.result(waiter)).toEqual({
      status: 'canceled',
      statusReason: `dependency ${blocker.id} was canceled`,
    })
  })
})

describe('a dependency', () => {
  it('S4-048 a dependency unblocks the tasks that stayed blocked, when it completes after a retry', async () => {
    const engine = await openEngine()
    const blocker = await engine.create({ name: 'blocker' })
    const task = await engine.create({ name: 'task', blockedBy: [blocker.id] })
    await failed(engine, blocker)
    expect((await engine.get(task))?.blockedBy).toEqual([blocker.id])
    await engine.retry(blocker)
    expect((await engine.get(task))?.blockedBy).toEqual([blocker.id])
    await engine.start(blocker)
    await engine.complete(blocker)
    expect(await engine.get(task)).toMatchObject({ blockedBy: [], ready: true, status: 'submitted' })
  })

  it.each(['block', 'cancel', 'ignore'] as const)(
    'C-53 a dependency on a deleted task blocks nothing, under %s',
    async (policy) => {
      const engine = await openEngine()
      const live = await engine.create({ name: 'live' })
      const broken = await engine.create({ name: 'broken' })
      const one = await engine.create({ name: 'one', blockedBy: [live.id], onDependencyFailure: policy })
      await engine.delete(live)
      expect(await engine.get(one)).toMatchObject({ status: 'submitted', blockedBy: [], ready: true })
      const two = await engine.create({ name: 'two', blockedBy: [broken.id] })
      await engine.cancel(broken)
      expect((await engine.get(two))?.ready).toBe(false)
      await engine.delete(broken)
      expect(await engine.get(two)).toMatchObject({ status: 'submitted', blockedBy: [], ready: true })
    },
  )
})
