// `onFailure` and `onInputRequired`: tasks that are created when another one fails for good, or needs an answer.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { defineExecutor, type Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import { ledgerFile, openEngine, reached, refusalOf } from './world.ts'

const broken = () => {
  throw new Error('the bank is down')
}

async function systemTasks(engine: Awaited<ReturnType<typeof openEngine>>): Promise<Task[]> {
  return (await engine.list({ system: true })).tasks
}

/** The only handler. It exists: it was created in the transaction of the failure. */
async function handlerOf(engine: Awaited<ReturnType<typeof openEngine>>): Promise<string> {
  const [handler] = await systemTasks(engine)
  return handler?.id as string
}

it('a task that fails for good gets its handler, its executor’s, or that of the engine, in the same transaction', async () => {
  const seen: Array<[string, unknown]> = []
  const notify = (task: { name: string; input: unknown }) => void seen.push([task.name, task.input])
  const engine = await openEngine({
    onFailure: { executor: 'notify', name: 'of the engine' },
    executors: {
      notify,
      broken,
      own: defineExecutor({ run: broken, onFailure: { executor: 'notify', name: 'of the executor' } }),
    },
  })
  const [one, two, three] = await engine.create([
    { executor: 'broken', retry: { maxAttempts: 2 } },
    { executor: 'own' },
    { executor: 'own', onFailure: { executor: 'notify', name: 'of the task', input: 'given' } },
  ])
  await engine.create({ executor: 'own', onFailure: null })
  for (const task of [one, two, three]) await reached(engine, task as Task, 'failed')
  await engine.idle({ system: true })
  const about = { event: 'failure', taskId: one?.id, seq: one?.seq, name: 'broken', executor: 'broken', attempt: 2 }
  expect(seen.toSorted(([one], [other]) => one.localeCompare(other))).toEqual([
    ['of the engine', { ...about, error: { code: 'TASK_FAILED', message: 'the bank is down' } }],
    ['of the executor', expect.objectContaining({ taskId: two?.id })],
    ['of the task', 'given'],
  ])
  const handlers = await systemTasks(engine)
  expect(handlers).toHaveLength(3)
  expect(handlers.every(({ system, status }) => system && status === 'completed')).toBe(true)
  const { seq: at } = await engine.bus.call('task:list', {})
  expect((await engine.bus.call('task:list', { at })).tasks).toHaveLength(4)
  expect(handlers.find(({ name }) => name === 'of the task')?.metadata).toMatchObject({ about: { taskId: three?.id } })
})

it('a task that needs the answer of a person gets its handler, with the question', async () => {
  const seen: unknown[] = []
  const engine = await openEngine({
    onInputRequired: { executor: 'notify' },
    executors: {
      notify: ({ input }: { input: unknown }) => void seen.push(input),
      asks: (_task: unknown, run: Run) => run.ask('Pay 80?'),
      asksAnyone: (_task: unknown, run: Run) => run.ask('Which?', null, { for: 'anyone' }),
    },
  })
  const task = await engine.create({ executor: 'asks' })
  const other = await engine.create({ executor: 'asksAnyone' })
  await reached(engine, other, 'input_required')
  await reached(engine, task, 'input_required')
  await engine.idle({ system: true })
  expect(seen).toMatchObject([{ event: 'inputRequired', taskId: task.id, questions: [{ question: 'Pay 80?' }] }])
})

it('a failure that another process writes, such as of a task worked on by hand, has its handler too', async () => {
  const ledger = ledgerFile()
  const engine = await openEngine({ ledger, onFailure: { executor: 'notify' }, executors: { notify: () => 'done' } })
  const task = await engine.create({ name: 'by hand' })
  const other = await openEngine({ ledger, work: false })
  await other.start(task)
  await other.fail(task, 'no time')
  await reached(engine, await handlerOf(engine), 'completed')
  expect((await systemTasks(engine)).map(({ input }) => input)).toMatchObject([{ error: { message: 'no time' } }])
})

it('handlers that fail raise no handler, and are left out of lists, counts and idle', async () => {
  const engine = await openEngine({ onFailure: { executor: 'broken' }, executors: { broken } })
  const task = await engine.create({ executor: 'broken' })
  await reached(engine, task, 'failed')
  await engine.idle({ system: true })
  const handlers = await systemTasks(engine)
  expect(handlers.map(({ status }) => status)).toEqual(['failed'])
  expect((await engine.list()).tasks.map(({ id }) => id)).toEqual([task.id])
  expect((await engine.list({ system: 'include' })).total).toBe(2)
  expect((await engine.bus.call('task:list', {})).total).toBe(1)
  expect((await engine.bus.call('engine:status', {})).tasks).toMatchObject({ failed: 1 })
})

it('handlers have slots of their own: they run while the engine is full, and take no slot from others', async () => {
  const release = Promise.withResolvers<void>()
  const engine = await openEngine({
    maxConcurrent: 1,
    executors: {
      holds: (_task: unknown, run: Run) => run.call('hold', () => release.promise),
      handles: (_task: unknown, run: Run) => run.waitForSignal('end'),
      quick: () => 'done',
    },
  })
  const holds = await engine.create({ executor: 'holds' })
  await reached(engine, holds, 'working')
  const failed = await engine.create({ name: 'by hand', onFailure: { executor: 'handles' } })
  await engine.start(failed)
  await engine.fail(failed, 'no')
  const handler = await handlerOf(engine)
  await reached(engine, handler, 'waiting')
  release.resolve()
  await engine.result(holds)
  expect(await engine.result(await engine.create({ executor: 'quick' }))).toBe('done')
  await engine.signal(handler, 'end')
  await reached(engine, handler, 'completed')
})

it('a handler that waits in memory goes on while the engine is full', async () => {
  const [release, childEnds] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const engine = await openEngine({
    maxConcurrent: 1,
    executors: {
      holds: () => release.promise,
      looksUp: () => childEnds.promise,
      handles: async (_task: unknown, run: Run) =>
        run.wait(await run.spawn({ executor: 'looksUp' }), { inMemory: true }).then(() => 'handled'),
    },
  })
  const holds = await engine.create({ executor: 'holds' })
  await reached(engine, holds, 'working')
  const failed = await engine.create({ name: 'by hand', onFailure: { executor: 'handles' } })
  await engine.start(failed)
  await engine.fail(failed, 'no')
  for await (const { type } of engine.events({ taskId: await handlerOf(engine) })) if (type === 'run.parked') break
  childEnds.resolve()
  expect(await engine.result(await handlerOf(engine))).toBe('handled')
  expect(await engine.get(holds)).toMatchObject({ status: 'working' })
  release.resolve()
})

it('a spawn with handlers is found again by a later run, also in another engine whose own handlers are others', async () => {
  const ledger = ledgerFile()
  const executors = {
    handles: () => 'handled',
    child: () => 'done',
    parent: async (_task: unknown, run: Run) => {
      const child = await run.spawn({ executor: 'child', onFailure: { goal: 'repair', executor: 'handles' } })
      const other = await run.spawn({ executor: 'child' })
      await run.waitForSignal('on')
      return run.wait([child, other])
    },
  }
  const first = await openEngine({ ledger, executors, onFailure: { executor: 'handles' } })
  const task = await first.create({ executor: 'parent' })
  await reached(first, task, 'waiting')
  await first.close()
  const second = await openEngine({ ledger, executors, onFailure: { executor: 'handles', name: 'another' } })
  await second.signal(task, 'on')
  expect(await second.result(task)).toEqual(['done', 'done'])
  expect(await second.children(task)).toHaveLength(2)
})

it('handlers begin by themselves, also in an engine whose tasks wait for `start`', async () => {
  const engine = await openEngine({ autoStart: false, executors: { broken, handles: () => 'handled' } })
  const task = await engine.create({ executor: 'broken', onFailure: { executor: 'handles' } })
  await engine.start(task)
  await reached(engine, task, 'failed')
  expect(await engine.result(await handlerOf(engine))).toBe('handled')
})

it('the schema of its executor checks what a handler gets, when it runs, and its own input when it is drafted', async () => {
  const input = z.object({ error: z.object({ message: z.string() }) })
  const handles = defineExecutor({ input, run: ({ input: { error } }) => error.message })
  const engine = await openEngine({ executors: { broken, handles } })
  const task = await engine.create({ executor: 'broken', onFailure: { executor: 'handles' } })
  await reached(engine, task, 'failed')
  expect(await engine.result(await handlerOf(engine))).toBe('the bank is down')
  const unfit = { executor: 'handles', input: { error: 'text' } }
  await refusalOf(engine.create({ executor: 'broken', onFailure: unfit }), 'INVALID_INPUT')
})

it('an engine with a handler that it cannot create is refused when it opens', async () => {
  const executors = { broken }
  await refusalOf(openEngine({ executors, onFailure: { executor: 'handles' } }), 'UNKNOWN_EXECUTOR')
  const own = defineExecutor({ run: broken, onFailure: { executor: 'handles' } })
  await refusalOf(openEngine({ executors: { own } }), 'UNKNOWN_EXECUTOR')
})

it('an agent that handles a failure reads what has happened', async () => {
  const model = createScriptedModel(({ goal }) => ({ text: goal }))
  const engine = await openEngine({ model, executors: { broken } })
  const task = await engine.create({ executor: 'broken', onFailure: { goal: 'Find out why this failed.' } })
  await reached(engine, task, 'failed')
  await engine.idle({ system: true })
  const [handler] = await systemTasks(engine)
  expect(handler?.result).toMatch(/^Find out why this failed\.\n\n\{[\s\S]*the bank is down/)
})

it('a handler is refused with its task: unknown fields, neither executor nor goal, an unknown executor', async () => {
  const engine = await openEngine({ executors: { broken } })
  const refused = async (
    onFailure: object,
    code: 'INVALID_INPUT' | 'UNKNOWN_EXECUTOR' | 'UNKNOWN_OPTION' = 'INVALID_INPUT',
  ) => (await refusalOf(() => engine.create({ name: 'x', onFailure: onFailure as never }), code)).message
  expect(await refused({ executor: 'broken', tasks: {} }, 'UNKNOWN_OPTION')).toContain('has no option "tasks"')
  expect(await refused({ name: 'x' })).toContain('`executor` or a `goal`')
  expect(await refused({ executor: 'brokn' }, 'UNKNOWN_EXECUTOR')).toContain('broken')
  expect((await engine.list()).total).toBe(0)
})

it('the id of a handler begins unlike that of its task, so that a short id still names the task, and boards leave it out', async () => {
  const engine = await openEngine({ onFailure: { executor: 'notify' }, executors: { broken, notify: () => 1 } })
  const task = await engine.create({ executor: 'broken' })
  await reached(engine, task, 'failed')
  await engine.idle({ system: true })
  expect((await engine.find(task.id.slice(0, 13)))?.id).toBe(task.id)
  const board = await engine.bus.call('board:open', { board: 'main' })
  expect(JSON.stringify(board)).not.toContain('notify')
  expect((await engine.bus.call('board:list', { board: 'main' })).tasks).toHaveLength(1)
})
