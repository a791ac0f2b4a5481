// Late changes: a policy changed after the failure that it is about, and a retry of a task whose dependencies ended, or
// were deleted, meanwhile.
import { describe, expect, it } from 'vitest'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { history, openEngine, reached, refusalOf, typesOf } from './world.ts'

/** An engine with a task that failed by its deadline while `blocker`, a child of `parent`, was still open. */
async function setup(policy: 'block' | 'cancel' | 'ignore') {
  const clock = new SimulatedClock()
  const engine = await openEngine({ clock, executors: { work: () => 'done' } })
  const parent = await engine.create({ name: 'parent' })
  const blocker = await engine.create({ name: 'blocker', parentId: parent.id })
  const task = await engine.create({
    executor: 'work',
    blockedBy: [blocker.id],
    deadline: clock.now() + 1000,
    onDependencyFailure: policy,
  })
  clock.increment(1000)
  await reached(engine, task, 'failed')
  const failBlocker = async () => engine.fail(await engine.start(blocker), 'no')
  return { clock, engine, parent, blocker, task, failBlocker }
}

describe('a failed task whose dependency failed meanwhile', () => {
  it('a failed task whose dependency failed meanwhile continues with a retry if it ignores the failure', async () => {
    const { engine, task, failBlocker } = await setup('ignore')
    await failBlocker()
    expect((await engine.retry(task)).blockedBy).toEqual([])
    expect(await engine.settled(task)).toEqual({ status: 'completed', result: 'done' })
  })

  it('a failed task whose dependency failed meanwhile is canceled at its retry if that is its policy', async () => {
    const { engine, task, blocker, failBlocker } = await setup('cancel')
    await failBlocker()
    expect(await engine.retry(task)).toMatchObject({
      status: 'canceled',
      statusReason: `dependency ${blocker.id} failed`,
    })
  })

  it('a failed task whose dependency failed meanwhile stays blocked after its retry without a policy', async () => {
    const { engine, task, blocker, failBlocker } = await setup('block')
    await failBlocker()
    expect(await engine.retry(task)).toMatchObject({ status: 'submitted', ready: false, blockedBy: [blocker.id] })
  })

  it('a failed task whose dependency failed meanwhile is retried with its group after its dependency, which is retried too', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({ clock })
    const deadline = clock.now() + 1000
    const last = { after: 'first', deadline, onDependencyFailure: 'cancel', priority: 1 } as const
    const group = await engine.create({ name: 'group', tasks: { last, first: { deadline } } })
    clock.increment(1000)
    await reached(engine, group, 'failed')
    await engine.retry(group)
    expect((await engine.children(group)).map(({ name, status }) => [name, status])).toEqual([
      ['last', 'submitted'],
      ['first', 'submitted'],
    ])
  })
})

describe('a failed task whose dependency was removed', () => {
  it('a failed task whose dependency was removed is not blocked by a dependency deleted with its parent', async () => {
    const { engine, task, parent } = await setup('block')
    await engine.delete(parent, { children: 'cascade' })
    await engine.retry(task)
    expect(await engine.settled(task)).toEqual({ status: 'completed', result: 'done' })
  })

  it('a failed task whose dependency was removed is not blocked by a dependency purged before', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({ clock, executors: { work: () => 'done' } })
    const blocker = await engine.create({ name: 'blocker' })
    const task = await engine.create({ executor: 'work', blockedBy: [blocker.id], deadline: clock.now() + 1000 })
    await engine.cancel(blocker)
    clock.increment(1000)
    await reached(engine, task, 'failed')
    expect(await engine.purge({ before: clock.now() })).toMatchObject({ families: 1, tasks: 1 })
    expect(await engine.retry(task)).toMatchObject({ ready: true, blockedBy: [] })
    expect(await engine.settled(task)).toEqual({ status: 'completed', result: 'done' })
  })
})

describe('a changed policy', () => {
  it.each([
    ['ignore', { status: 'completed', result: 'done' }],
    ['cancel', { status: 'canceled' }],
  ] as const)(
    'a changed policy to %s applies to a dependency that has failed by then',
    async (onDependencyFailure, outcome) => {
      const engine = await openEngine({ executors: { work: () => 'done' } })
      const blocker = await engine.create({ name: 'blocker' })
      const task = await engine.create({ executor: 'work', blockedBy: [blocker.id] })
      await engine.cancel(blocker)
      await engine.update(task, { onDependencyFailure })
      expect(await engine.settled(task)).toMatchObject(outcome)
    },
  )

  it('a changed policy is refused where it would have no effect, as at creation; its removal is not', async () => {
    const engine = await openEngine({ executors: { work: () => 'done' } })
    const byHand = await engine.create({ name: 'by hand' })
    const run = await engine.create({ executor: 'work', autoStart: false })
    await refusalOf(engine.update(byHand, { retry: { maxAttempts: 2 } }), 'INVALID_INPUT')
    await refusalOf(engine.update(byHand, { timeoutMs: 5 }), 'INVALID_INPUT')
    expect((await refusalOf(engine.update(run, { role: 'reviewer' }), 'INVALID_INPUT')).details).toMatchObject({
      option: 'role',
    })
    await engine.update(run, { role: null })
    await engine.update(byHand, { retry: null })
    expect(await engine.update(byHand, { executor: 'work', timeoutMs: 5000 })).toMatchObject({ executor: 'work' })
  })

  it('a changed policy completes a parent that no longer waits for its children with the result that it kept', async () => {
    const engine = await openEngine({
      executors: {
        parent: async (_task: ExecutorTask, run: Run) => {
          await run.spawn({ name: 'child' })
          return 42
        },
      },
    })
    const parent = await engine.create({ executor: 'parent', autoComplete: true })
    await reached(engine, parent, 'waiting')
    expect(await engine.update(parent, { autoComplete: false })).toMatchObject({ status: 'completed', result: 42 })
    const types = typesOf(await history(engine, parent.id))
    expect(types.slice(-4)).toEqual(['task.waiting', 'task.updated', 'task.started', 'task.completed'])
    expect((await engine.children(parent)).map((child) => child.status)).toEqual(['submitted'])
    expect(await engine.runs(parent)).toHaveLength(1)
  })
})

describe('a parent that only waits for its children', () => {
  it('a parent that only waits for its children cannot be completed or failed again: its own work is done', async () => {
    const split = async (_task: ExecutorTask, run: Run) => {
      await run.spawn({ name: 'child' })
      return 'split'
    }
    const engine = await openEngine({ autoComplete: true, executors: { split } })
    const other = await engine.create({ name: 'other' })
    const parent = await engine.create({ executor: 'split' })
    await reached(engine, parent, 'waiting')
    for (const change of [
      () => engine.block(parent, other),
      () => engine.unblock(parent, other),
      () => engine.update(parent, { input: 1 }),
      () => engine.update(parent, { blockedBy: [other.id] }),
    ]) {
      expect((await refusalOf(change, 'INVALID_TRANSITION')).message).toContain('its own work is done')
    }
    expect((await engine.update(parent, { name: 'renamed', priority: 3 })).name).toBe('renamed')
    const [child] = await engine.children(parent)
    await engine.complete(await engine.start(child as Task))
    expect(await engine.get(parent)).toMatchObject({ status: 'completed', result: 'split' })
  })
})
