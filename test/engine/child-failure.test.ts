// The effect of the final failure of a child on its parent: none, its failure, or the end of the siblings (conformance
//
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import type { OnChildFailure } from '../../src/entities/task-fields.ts'
import { history, openEngine, puppet, reached, turns } from './world.ts'

type Verbs = Pick<Engine, 'create' | 'start' | 'fail' | 'complete' | 'get'>

async function failed(engine: Verbs, task: Task): Promise<void> {
  await engine.start(task)
  await engine.fail(task, 'broke')
}

async function statusOf(engine: Verbs, ...tasks: Task[]): Promise<Array<string | undefined>> {
  return Promise.all(tasks.map(async (task) => (await engine.get(task))?.status))
}

/** A parent working by hand, with a child that fails and an open one. */
async function pair(engine: Verbs, policy: OnChildFailure | undefined) {
  const parent = await engine.start(
    await engine.create({ name: 'parent', ...(policy === undefined ? {} : { onChildFailure: policy }) }),
  )
  const breaks = await engine.create({ name: 'breaks', parentId: parent.id })
  const sibling = await engine.create({ name: 'sibling', parentId: parent.id })
  const nephew = await engine.create({ name: 'nephew', parentId: sibling.id })
  await failed(engine, breaks)
  return { parent, sibling, nephew, breaks }
}

describe('a parent with onChildFailure', () => {
  it.each([
    [undefined, ['working', 'submitted', 'submitted']],
    ['ignore', ['working', 'submitted', 'submitted']],
    ['fail', ['failed', 'submitted', 'submitted']],
    ['cancel-siblings', ['working', 'canceled', 'canceled']],
  ] as const)('Q-06 S3-091 S3-092 set to %s gets that status, with its other descendants', async (policy, expected) => {
    const engine = await openEngine()
    const { parent, sibling, nephew, breaks } = await pair(engine, policy)
    expect(await statusOf(engine, parent, sibling, nephew)).toEqual(expected)
    if (policy === 'fail') {
      expect(await engine.get(parent)).toMatchObject({
        error: {
          code: 'CHILD_FAILED',
          message: `Child #${breaks.seq} (breaks) failed: broke`,
          details: { child: breaks.id },
        },
      })
    }
    if (policy === 'cancel-siblings') {
      expect((await engine.get(sibling))?.statusReason).toBe(`child ${breaks.id} failed`)
      expect(await statusOf(engine, breaks)).toEqual(['failed'])
    }
  })

  it('Q-06 a parent with onChildFailure takes the default of the engine, overridden by its own value', async () => {
    const engine = await openEngine({ onChildFailure: 'fail' })
    expect(await statusOf(engine, (await pair(engine, undefined)).parent)).toEqual(['failed'])
    expect(await statusOf(engine, (await pair(engine, 'ignore')).parent)).toEqual(['working'])
    const gentle = await pair(engine, 'cancel-siblings')
    expect(await statusOf(engine, gentle.parent, gentle.sibling)).toEqual(['working', 'canceled'])
  })

  it('a parent with onChildFailure can be changed while the parent works', async () => {
    const engine = await openEngine()
    const parent = await engine.start(await engine.create({ name: 'parent' }))
    await failed(engine, await engine.create({ name: 'one', parentId: parent.id }))
    await engine.update(parent, { onChildFailure: 'fail' })
    expect(await statusOf(engine, parent)).toEqual(['working'])
    await failed(engine, await engine.create({ name: 'two', parentId: parent.id }))
    expect(await statusOf(engine, parent)).toEqual(['failed'])
  })

  it('S3-093 a parent with onChildFailure ignores a canceled child', async () => {
    const engine = await openEngine({ onChildFailure: 'fail' })
    const parent = await engine.start(await engine.create({ name: 'parent' }))
    const calls = ['fail', 'cancel-siblings'] as const
    for (const policy of calls) {
      await engine.update(parent, { onChildFailure: policy })
      const child = await engine.create({ name: 'child', parentId: parent.id })
      const sibling = await engine.create({ name: 'sibling', parentId: parent.id })
      await engine.cancel(child)
      expect(await statusOf(engine, parent, sibling)).toEqual(['working', 'submitted'])
    }
  })

  it('a parent with onChildFailure reacts only to the last attempt of a child', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor }, onChildFailure: 'fail' })
    const parent = await engine.start(await engine.create({ name: 'parent' }))
    const child = await engine.create({ executor: 'work', parentId: parent.id, retry: { maxAttempts: 2 } })
    ;(await hands.started(0)).end.reject(new Error('once'))
    const second = await hands.started(1)
    expect(await statusOf(engine, parent)).toEqual(['working'])
    second.end.reject(new Error('twice'))
    await engine.settled(child)
    expect(await statusOf(engine, parent)).toEqual(['failed'])
  })

  it('Q-06 a parent with onChildFailure reacts to its own children only: a failure climbs from parent to parent', async () => {
    const engine = await openEngine()
    const top = await engine.start(await engine.create({ name: 'top', onChildFailure: 'cancel-siblings' }))
    const aunt = await engine.create({ name: 'aunt', parentId: top.id })
    const parent = await engine.start(await engine.create({ name: 'parent', parentId: top.id, onChildFailure: 'fail' }))
    const child = await engine.create({ name: 'child', parentId: parent.id })
    const quiet = await engine.start(await engine.create({ name: 'quiet', parentId: top.id }))
    await failed(engine, await engine.create({ name: 'own', parentId: quiet.id }))
    expect(await statusOf(engine, top, aunt, quiet)).toEqual(['working', 'submitted', 'working'])
    await failed(engine, child)
    expect(await statusOf(engine, top, parent, aunt, quiet)).toEqual(['working', 'failed', 'canceled', 'canceled'])
  })
})

describe('a parent that is not working', () => {
  it.each(['submitted', 'paused', 'waiting', 'input_required'] as const)(
    'a parent that is not working fails from %s through WORKING, with an event for each edge and without a run',
    async (status) => {
      const engine = await openEngine()
      const parent = await engine.create({ name: 'parent', onChildFailure: 'fail' })
      const child = await engine.create({ name: 'child', parentId: parent.id })
      if (status !== 'submitted') await engine.start(parent)
      if (status === 'paused') await engine.pause(parent)
      else if (status !== 'submitted') await engine.update(parent, { status })
      const before = (await history(engine, parent.id)).at(-1)!.seq
      await failed(engine, child)
      const events = (await history(engine, parent.id)).filter(({ seq }) => seq > before)
      expect(events.map(({ type, data }) => [type, data.from, data.status])).toEqual([
        ['task.started', status, 'working'],
        ['task.failed', 'working', 'failed'],
      ])
      expect(await engine.runs(parent)).toEqual([])
    },
  )

  it('a parent that failed with its child before its executor began is started only by a retry', async () => {
    const runs: string[] = []
    const engine = await openEngine({
      executors: { work: (task: ExecutorTask) => void runs.push(task.name) },
      autoStart: false,
    })
    const parent = await engine.create({ executor: 'work', onChildFailure: 'fail' })
    await failed(engine, await engine.create({ name: 'child', parentId: parent.id }))
    expect(await statusOf(engine, parent)).toEqual(['failed'])
    await engine.startHeld()
    expect(runs).toEqual([])
    await engine.retry(parent)
    await engine.settled(parent)
    expect(runs).toEqual(['work'])
  })
})

describe('a parent with a run', () => {
  it('a parent with a run is aborted by the failure of a child, and the result of its executor is ignored', async () => {
    const hands = puppet({ stubborn: true })
    const engine = await openEngine({ executors: { parent: hands.executor } })
    const parent = await engine.create({ executor: 'parent', onChildFailure: 'fail' })
    const held = await hands.started(0)
    await failed(engine, await engine.create({ name: 'child', parentId: parent.id }))
    await held.aborted
    held.end.resolve('late')
    await engine.idle()
    expect(await engine.get(parent)).toMatchObject({ status: 'failed', result: null, error: { code: 'CHILD_FAILED' } })
    expect((await engine.runs(parent))[0]).toMatchObject({ outcome: 'failed', status: 'closed' })
  })

  it('a parent with a run that waits for outcomes fails before all of them are there', async () => {
    const engine = await openEngine({
      executors: {
        parent: async (_task: ExecutorTask, run: Run) => {
          const children = await run.spawn([{ name: 'one' }, { name: 'two' }])
          return run.wait(children, { settled: true })
        },
      },
    })
    const parent = await engine.create({ executor: 'parent', onChildFailure: 'fail' })
    await reached(engine, parent, 'waiting')
    const [one, two] = (await engine.children(parent)) as [Task, Task]
    await failed(engine, one)
    expect(await engine.settled(parent)).toMatchObject({ status: 'failed', error: { code: 'CHILD_FAILED' } })
    await engine.start(two)
    await engine.complete(two)
    await turns()
    expect(await engine.runs(parent)).toHaveLength(1)
  })

  it('a parent with a run that cancels the siblings gets all their outcomes', async () => {
    const hands = puppet()
    const engine = await openEngine({
      executors: {
        parent: async (_task: ExecutorTask, run: Run) => {
          const children = await run.spawn([{ name: 'one' }, { executor: 'child' }])
          return (await run.wait(children, { settled: true })) as unknown[]
        },
        child: hands.executor,
      },
    })
    const parent = await engine.create({ executor: 'parent', onChildFailure: 'cancel-siblings' })
    const held = await hands.started(0)
    await reached(engine, parent, 'waiting')
    const one = (await engine.children(parent)).find(({ name }) => name === 'one') as Task
    await failed(engine, one)
    await held.aborted
    expect(await engine.result(parent)).toMatchObject([{ status: 'failed' }, { status: 'canceled' }])
  })
})

describe('a group with onChildFailure', () => {
  const tasks = { breaks: { executor: 'breaks' }, other: { executor: 'work' } }

  async function setup(onChildFailure: OnChildFailure) {
    const hands = puppet()
    const breaking = puppet()
    const engine = await openEngine({ executors: { breaks: breaking.executor, work: hands.executor } })
    const group = await engine.create({ name: 'group', onChildFailure, tasks })
    const other = await hands.started(0)
    ;(await breaking.started(0)).end.reject(new Error('broke'))
    const children = Object.fromEntries((await engine.children(group)).map((child) => [child.name, child])) as Record<
      keyof typeof tasks,
      Task
    >
    await engine.settled(children.breaks)
    return { engine, group, children, other, hands, breaking }
  }

  it('Q-06 a group with onChildFailure set to fail does so at once; its other children continue', async () => {
    const { engine, group, children, other } = await setup('fail')
    expect(await statusOf(engine, group, children.other)).toEqual(['failed', 'working'])
    other.end.resolve('done')
    expect(await engine.result(children.other)).toBe('done')
    expect(await statusOf(engine, group)).toEqual(['failed'])
  })

  it('Q-06 a group with onChildFailure set to cancel the siblings fails once they are canceled', async () => {
    const { engine, group, children, other } = await setup('cancel-siblings')
    await other.aborted
    expect(await statusOf(engine, group, children.other)).toEqual(['failed', 'canceled'])
  })

  it('a group with onChildFailure that failed at once is reopened by the next attempt of the child, and completes', async () => {
    const { engine, group, children, other, breaking } = await setup('fail')
    await engine.retry(children.breaks)
    ;(await breaking.started(1)).end.resolve('mended')
    await engine.settled(children.breaks)
    expect(await statusOf(engine, group)).toEqual(['working'])
    other.end.resolve('done')
    expect((await engine.settled(group)).status).toBe('completed')
  })
})

describe('a parent with autoComplete', () => {
  it('a parent with autoComplete fails with a child when onChildFailure says so, instead of never completing', async () => {
    const engine = await openEngine({ autoComplete: true })
    const parent = await engine.start(await engine.create({ name: 'parent', onChildFailure: 'fail' }))
    const one = await engine.create({ name: 'one', parentId: parent.id })
    await failed(engine, await engine.create({ name: 'two', parentId: parent.id }))
    expect(await statusOf(engine, parent)).toEqual(['failed'])
    await engine.start(one)
    await engine.complete(one)
    expect(await statusOf(engine, parent)).toEqual(['failed'])
  })
})
