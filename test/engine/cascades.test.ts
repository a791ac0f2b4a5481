// Cancel and completion through whole families: which tasks change, their events, and that it is one transaction.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createFaultyLedger } from '../../src/testing/index.ts'
import { history, openEngine, puppet, reached, refusalOf } from './world.ts'

async function statusOf(
  engine: Pick<Engine, 'get'>,
  ...tasks: Array<{ id: string }>
): Promise<Array<string | undefined>> {
  return Promise.all(tasks.map(async (task) => (await engine.get(task.id))?.status))
}

/** A completed, a failed and an open child, each with an open child of its own; one of those runs. */
async function family() {
  const hands = puppet()
  const engine = await openEngine({ executors: { work: hands.executor } })
  const root = await engine.create({ name: 'root' })
  const child = (name: string, parent: Task) => engine.create({ name, parentId: parent.id })
  const [completed, failed, live] = [
    await child('completed', root),
    await child('failed', root),
    await child('live', root),
  ] as const
  const belowCompleted = await child('below completed', completed)
  const belowFailed = await engine.create({ name: 'below failed', executor: 'work', parentId: failed.id })
  const deep = await child('deep', belowFailed)
  await engine.start(completed)
  await engine.complete(completed, 'mine')
  await engine.start(failed)
  await engine.fail(failed, 'broke')
  const held = await hands.started(0)
  return { engine, root, completed, failed, live, belowCompleted, belowFailed, deep, held }
}

/** A group with an open child, and an inner group in which two failed, one below the other. */
async function groupFamily() {
  const engine = await openEngine()
  const root = await engine.create({ name: 'root', tasks: { live: {}, inner: { tasks: { failed: {}, open: {} } } } })
  const inner = (await engine.children(root)).find(({ name }) => name === 'inner') as Task
  const live = (await engine.children(root)).find(({ name }) => name === 'live') as Task
  const failed = (await engine.children(inner)).find(({ name }) => name === 'failed') as Task
  const belowFailed = await engine.create({ name: 'below failed', parentId: failed.id })
  for (const task of [belowFailed, failed]) {
    await engine.start(task)
    await engine.fail(task, 'broke')
  }
  return { engine, root, failed, live, belowFailed }
}

describe('a cancel', () => {
  it('S3-080 S3-081 S3-082 C-42 a cancel leaves settled descendants as they are, and cancels the open ones below them', async () => {
    const { engine, root, completed, failed, live, belowCompleted, belowFailed, deep } = await family()
    const before = (await history(engine)).at(-1)!.seq
    await engine.cancel(root, 'enough')
    expect(await statusOf(engine, root, completed, failed, live, belowCompleted, belowFailed, deep)).toEqual([
      'canceled',
      'completed',
      'failed',
      'canceled',
      'canceled',
      'canceled',
      'canceled',
    ])
    expect(await engine.get(completed)).toMatchObject({ result: 'mine', statusReason: null })
    expect(await engine.get(failed)).toMatchObject({ error: { message: 'broke' } })
    const events = (await history(engine)).filter(({ seq, type }) => seq > before && type.startsWith('task.'))
    expect(events.map(({ type, taskId, data }) => [type, taskId, data.status])).toEqual(
      [root, live, belowCompleted, belowFailed, deep].map(({ id }) => ['task.canceled', id, 'canceled']),
    )
  })

  it('S3-083 a cancel aborts all runs below the task', async () => {
    const { engine, root, held, belowFailed } = await family()
    await engine.cancel(root)
    await held.aborted
    await engine.idle()
    expect((await engine.runs(belowFailed)).map(({ outcome, status }) => [outcome, status])).toEqual([
      ['canceled', 'closed'],
    ])
  })

  it('C-42 a cancel ends everything below the task for good: nothing there can be retried or added, however deep', async () => {
    const { engine, root, failed, belowFailed } = await family()
    const inner = await engine.create({ name: 'inner', parentId: failed.id })
    await engine.start(inner)
    await engine.fail(inner, 'broke')
    await engine.cancel(belowFailed)
    await engine.cancel(root)
    await engine.idle()
    const before = await history(engine)
    for (const { id } of [failed, inner]) {
      const retried = await refusalOf(engine.retry(id), 'PARENT_CLOSED')
      expect(retried.message).toMatch(`Cannot retry ${id}: ${root.id} (root), which it is below, was canceled`)
      const added = await refusalOf(engine.create({ name: 'late', parentId: id }), 'PARENT_CLOSED')
      expect(added.details).toEqual({ parentId: id, status: 'canceled', canceled: root.id })
    }
    await refusalOf(engine.update(failed, { status: 'submitted' }), 'PARENT_CLOSED')
    expect(await history(engine)).toEqual(before)
  })

  it('C-42 a cancel keeps failed tasks below it out of the retry of a group above it', async () => {
    const { engine, root, failed, live, belowFailed } = await groupFamily()
    await engine.cancel(failed.parentId!)
    await engine.cancel(live)
    expect(await statusOf(engine, root)).toEqual(['failed'])
    await engine.retry(root)
    expect(await statusOf(engine, failed, belowFailed)).toEqual(['failed', 'failed'])
  })

  it('C-42 a cancel is one transaction: when it fails, no task is canceled and no event is published', async () => {
    const inner = await openLedger(':memory:')
    const ledger = createFaultyLedger(inner)
    const engine = await openEngine({ ledger })
    const root = await engine.create({ name: 'root' })
    const child = await engine.create({ name: 'child', parentId: root.id })
    await engine.create({ name: 'grandchild', parentId: child.id })
    const before = await history(engine)
    ledger.fail('cancel', 'refused')
    await refusalOf(engine.cancel(root), 'LEDGER_WRITE_FAILED')
    expect((await engine.list({ status: 'submitted' })).total).toBe(3)
    expect(await history(engine)).toEqual(before)
    const steps = ledger.steps.length
    await engine.cancel(root)
    expect(ledger.steps.slice(steps)).toEqual(['cancel'])
    expect((await engine.list({ status: 'canceled' })).total).toBe(3)
    expect(await history(engine)).toHaveLength(before.length + 3)
    await engine.close()
    await inner.close()
  })

  it('a cancel wakes tasks outside that wait for a canceled one, and unblocks no dependents', async () => {
    const engine = await openEngine({
      executors: { waits: (task: ExecutorTask<string>, run: Run) => run.wait(task.input, { settled: true }) },
    })
    const root = await engine.create({ name: 'root' })
    const deep = await engine.create({ name: 'deep', parentId: root.id })
    const after = await engine.create({ name: 'after', blockedBy: [deep.id] })
    const waiter = await engine.create({ executor: 'waits', input: deep.id })
    await reached(engine, waiter, 'waiting')
    await engine.cancel(root, 'enough')
    expect(await engine.result(waiter)).toEqual({ status: 'canceled', statusReason: 'enough' })
    expect(await engine.get(after)).toMatchObject({ status: 'submitted', blockedBy: [deep.id], ready: false })
  })

  it('a cancel ends the questions, sleeps and waits of the family, which wake no task any more', async () => {
    const engine = await openEngine({
      executors: {
        asks: (_task: ExecutorTask, run: Run) => run.ask('Go on?'),
        waits: (task: ExecutorTask<string>, run: Run) => run.wait(task.input),
      },
    })
    const root = await engine.create({ name: 'root' })
    const outside = await engine.create({ name: 'outside' })
    const asks = await engine.create({ executor: 'asks', parentId: root.id })
    const waits = await engine.create({ executor: 'waits', input: outside.id, parentId: root.id })
    await reached(engine, asks, 'input_required')
    await reached(engine, waits, 'waiting')
    await engine.cancel(root)
    await engine.start(outside)
    await engine.complete(outside)
    await engine.idle()
    expect(await statusOf(engine, asks, waits)).toEqual(['canceled', 'canceled'])
    await refusalOf(engine.answer(asks, 'yes'), 'INVALID_TRANSITION')
  })
})

describe('the completion of parents', () => {
  it('S3-033 S3-086 the completion of parents reaches the top of a thousand levels in one step, without a stack overflow', async () => {
    const engine = await openEngine({ autoComplete: true })
    let parent = await engine.start(await engine.create({ name: 'root' }))
    const root = parent
    for (let level = 1; level <= 1_000; level++) {
      parent = await engine.start(await engine.create({ name: `${level}`, parentId: parent.id }))
    }
    await engine.complete(parent)
    expect(await statusOf(engine, root)).toEqual(['completed'])
    expect((await engine.list({ status: 'completed', limit: 0 })).total).toBe(1_001)
  })

  it('C-43 S3-087 the completion of parents moves a waiting parent through WORKING, with an event for each edge and without a run', async () => {
    const hands = puppet()
    const engine = await openEngine({
      executors: {
        parent: async (_task: ExecutorTask, run: Run) => {
          await run.spawn({ executor: 'child' })
          return 'mine'
        },
        child: hands.executor,
      },
    })
    const byHand = await engine.start(await engine.create({ name: 'by hand', autoComplete: true }))
    const child = await engine.create({ name: 'child', parentId: byHand.id })
    await engine.update(byHand, { status: 'waiting' })
    await engine.start(child)
    await engine.complete(child)
    const byRun = await engine.create({ executor: 'parent', autoComplete: true })
    const run = await hands.started(0)
    await reached(engine, byRun, 'waiting')
    run.end.resolve(null)
    expect(await engine.result(byRun)).toBe('mine')
    await engine.idle()
    for (const parent of [byHand, byRun]) {
      const states = (await history(engine, parent.id)).filter(({ data }) => data.status !== undefined)
      const last = states.slice(-3).map(({ type, data }) => [type, data.from ?? null, data.run ?? null])
      expect(last).toEqual([
        ['task.waiting', 'working', parent === byRun ? 1 : null],
        ['task.started', 'waiting', null],
        ['task.completed', 'working', null],
      ])
    }
    expect(await engine.runs(byHand)).toEqual([])
    expect(await engine.runs(byRun)).toHaveLength(1)
  })

  it('C-43 the completion of parents is checked again when a parent that was paused, or not begun, continues', async () => {
    const engine = await openEngine({ autoComplete: true })
    const paused = await engine.start(await engine.create({ name: 'paused' }))
    const asked = await engine.start(await engine.create({ name: 'asked' }))
    const children = [
      await engine.create({ name: 'one', parentId: paused.id }),
      await engine.create({ name: 'two', parentId: asked.id }),
    ]
    await engine.pause(paused)
    await engine.update(asked, { status: 'input_required' })
    for (const child of children) {
      await engine.start(child)
      expect((await engine.complete(child)).status).toBe('completed')
    }
    expect(await statusOf(engine, paused, asked)).toEqual(['paused', 'input_required'])
    expect((await engine.resume(paused)).status).toBe('completed')
    expect((await engine.answer(asked, 'yes')).status).toBe('completed')
  })

  it('S3-090 the completion of parents waits for a child that was added late, however often', async () => {
    const engine = await openEngine({ autoComplete: true })
    const parent = await engine.start(await engine.create({ name: 'parent' }))
    const [one, two] = [
      await engine.create({ name: 'one', parentId: parent.id }),
      await engine.create({ name: 'two', parentId: parent.id }),
    ]
    await engine.start(one)
    await engine.complete(one)
    const late = await engine.create({ name: 'late', parentId: parent.id })
    await engine.start(two)
    await engine.complete(two)
    expect(await statusOf(engine, parent)).toEqual(['working'])
    await engine.start(late)
    await engine.complete(late)
    expect(await statusOf(engine, parent)).toEqual(['completed'])
  })

  it('S3-089 S3-093 the completion of parents is prevented by a canceled child until that is deleted', async () => {
    const engine = await openEngine({ autoComplete: true })
    const parent = await engine.start(await engine.create({ name: 'parent' }))
    const [one, two] = [
      await engine.create({ name: 'one', parentId: parent.id }),
      await engine.create({ name: 'two', parentId: parent.id }),
    ]
    await engine.cancel(one)
    await engine.start(two)
    await engine.complete(two)
    expect(await statusOf(engine, parent)).toEqual(['working'])
    await engine.delete(one)
    expect(await statusOf(engine, parent)).toEqual(['completed'])
  })
})

describe('a tree of ten levels in which each task waits for its child', () => {
  it('X-025 S3-061 a tree of ten levels in which each task waits for its child completes with one slot', async () => {
    let open = 0
    let most = 0
    const engine = await openEngine({
      maxConcurrent: 1,
      executors: {
        level: async (task: ExecutorTask<number>, run: Run): Promise<number> => {
          most = Math.max(most, ++open)
          run.onSuspend(() => open--)
          try {
            if (task.input === 0) return 0
            const child = await run.spawn({ executor: 'level', input: task.input - 1 })
            const [below] = (await run.wait([child])) as [number]
            return below + 1
          } finally {
            open--
          }
        },
      },
    })
    const root = await engine.create({ executor: 'level', input: 10 })
    expect(await engine.result(root, { timeoutMs: 20_000 })).toBe(10)
    expect(await engine.subtree(root)).toHaveLength(10)
    expect(most).toBe(1)
  })
})

describe('a delete', () => {
  it('C-53 a delete makes the children roots, satisfies edges, aborts runs, and hides the record; false for an unknown task', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const grandparent = await engine.create({ name: 'grandparent' })
    const parent = await engine.create({ executor: 'work', parentId: grandparent.id })
    const child = await engine.create({ name: 'child', parentId: parent.id })
    const grandchild = await engine.create({ name: 'grandchild', parentId: child.id })
    const after = await engine.create({ executor: 'work', name: 'after', blockedBy: [parent.id] })
    const held = await hands.started(0)
    expect(await engine.delete(parent)).toBe(true)
    await held.aborted
    expect(await engine.get(parent)).toBeNull()
    expect(await engine.get(child)).toMatchObject({ parentId: null, status: 'submitted' })
    expect(await engine.get(grandchild)).toMatchObject({ parentId: child.id })
    expect((await hands.started(1)).task.id).toBe(after.id)
    expect(await engine.delete(parent)).toBe(false)
    expect(await engine.delete('task-unknown')).toBe(false)
  })

  it('C-53 a delete can include the children, or be refused because of them', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const root = await engine.create({ name: 'root' })
    const child = await engine.create({ name: 'child', parentId: root.id })
    await engine.start(child)
    await engine.complete(child)
    const deep = await engine.create({ executor: 'work', name: 'deep', parentId: root.id })
    const after = await engine.create({ executor: 'work', name: 'after', blockedBy: [deep.id] })
    const held = await hands.started(0)
    const refusal = await refusalOf(engine.delete(root, { children: 'refuse' }), 'HAS_CHILDREN')
    expect(refusal.details).toEqual({ taskId: root.id, children: [child.id, deep.id] })
    const before = (await history(engine)).at(-1)!.seq
    expect(await engine.delete(root, { children: 'cascade' })).toBe(true)
    await held.aborted
    for (const task of [root, child, deep]) expect(await engine.get(task)).toBeNull()
    const events = (await history(engine)).filter(({ seq }) => seq > before)
    const of = (type: string) => events.filter((event) => event.type === type).map(({ taskId }) => taskId)
    expect(of('task.canceled')).toEqual([root.id, deep.id])
    expect(of('task.deleted')).toEqual([root.id, child.id, deep.id])
    expect((await hands.started(1)).task.id).toBe(after.id)
  })
})
