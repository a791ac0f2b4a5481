// How many tasks models and single requests create. Goal: however they are created, at once or one after another, there are never more than
// the bounds allow, and never fewer; and no task, below another one or separate from it, has wider bounds than its creator had.
import { expect, it } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { type Bus, createBus } from '../../src/bus/bus.ts'
import type { Caller } from '../../src/bus/caller.ts'
import { createTaskManager } from '../../src/compat/agent-os.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { agent, boardTools, type ExecutorTask, maxTasksPerRequest, modelBounds, type Run } from '../../src/index.ts'
import { openEngine as open, refusalOf } from '../engine/world.ts'
import { openWorld, problemIn } from './http/world.ts'
import { connectByHand, toolErrorOf } from './mcp/world.ts'

/** No task runs by itself, so that only the test creates tasks. */
const openEngine = async (options = {}): Promise<Engine> =>
  (await open({ model: createScriptedModel(() => ({ text: 'done' })), autoStart: false, ...options })) as Engine

/** The caller of a call by the model of a task. */
const modelOf = (taskId: string, bounds?: Caller['bounds']): Caller => ({
  surface: 'model',
  taskId,
  run: 1,
  ...(bounds === undefined ? {} : { bounds }),
})
const overMcp = (bounds?: Caller['bounds']): Caller => ({ surface: 'mcp', model: true, ...(bounds ? { bounds } : {}) })

async function create(bus: Bus, caller: Caller, input: object = {}): Promise<string> {
  return (await bus.call('task:create', { goal: 'Work', ...input } as never, { caller })).taskId
}

/** The ids of those that are not refused; all are requested at once, and every refusal must be that of a bound. */
async function createAll(bus: Bus, wanted: ReadonlyArray<[caller: Caller, input?: object]>): Promise<number> {
  const outcomes = await Promise.allSettled(wanted.map(([caller, input]) => create(bus, caller, input)))
  const refused = outcomes.filter((each) => each.status === 'rejected')
  expect(refused.filter(({ reason }) => (reason as { code: string }).code !== 'LIMIT_EXCEEDED')).toEqual([])
  return outcomes.length - refused.length
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)

/** Ten equal subtasks for each. */
const spawning = createScriptedModel(({ turn }) =>
  turn === 0 ? { tools: times(10, { name: 'task_create', input: { goal: 'More' } }) } : { text: 'done' },
)

it('V-06 agents that spawn agents without end create exactly as many tasks as allowed, however many create at once, and all complete', async () => {
  const bounds = { maxTasks: 47 }
  // Without bounds there are 1,110 of them: the depth is that of the engine.
  const engine = await open({ model: spawning, maxDepth: 3, executors: { agent: agent({ bounds }) } })
  const root = await engine.create({ goal: 'More' })
  await engine.idle()
  const below = await engine.subtree(root)
  expect(below).toHaveLength(bounds.maxTasks)
  expect(new Set(below.map(({ status }) => status))).toEqual(new Set(['completed']))
})

it('V-06 the model of a task may create 1,000 tasks below it, 100 children of one task and 8 levels by default', async () => {
  const engine = await openEngine()
  const root = await engine.create({ goal: 'Lead' })
  const own = modelOf(root.id)
  expect(await createAll(engine.bus, times(modelBounds.maxChildren + 5, [own]))).toBe(modelBounds.maxChildren)
  const children = await engine.children(root)
  // The model of each child creates as many tasks as it can, all at once.
  const wanted = children.slice(0, 11).flatMap(({ id }) => times(90, [modelOf(id)] as [Caller]))
  expect(await createAll(engine.bus, wanted)).toBe(modelBounds.maxTasks - modelBounds.maxChildren)
  const refusal = await refusalOf(create(engine.bus, own, { parentId: children[50]?.id }), 'LIMIT_EXCEEDED')
  expect(refusal.details).toMatchObject({ limit: 'bounds.maxTasks', value: 1_000, taskId: root.id, made: 1_000 })
  expect(await engine.subtree(root)).toHaveLength(modelBounds.maxTasks)

  let deepest = (await engine.create({ goal: 'Deep' })).id
  for (let level = 0; level < modelBounds.maxDepth; level++) deepest = await create(engine.bus, modelOf(deepest))
  const tooDeep = await refusalOf(create(engine.bus, modelOf(deepest)), 'LIMIT_EXCEEDED')
  expect(tooDeep.details).toMatchObject({ limit: 'bounds.maxDepth', parentId: deepest })
})

it('V-06 the model of a task may not exceed its bounds by naming tasks further down, or by other abilities', async () => {
  const engine = await openEngine()
  const root = await engine.create({ goal: 'Lead' })
  const own = modelOf(root.id, { maxTasks: 3, maxDepth: 2 })
  const child = await create(engine.bus, own)
  const grandchild = await create(engine.bus, own, { parentId: child })
  await refusalOf(create(engine.bus, own, { parentId: grandchild }), 'LIMIT_EXCEEDED')
  const onBoard = (input: object) =>
    engine.bus.call('board:create', { subject: 'x', ...input } as never, { caller: own })
  await refusalOf(onBoard({ parent: grandchild }), 'LIMIT_EXCEEDED')
  await onBoard({ blocks: [child] })
  await refusalOf(onBoard({}), 'LIMIT_EXCEEDED')
  await refusalOf(create(engine.bus, own), 'LIMIT_EXCEEDED')
  expect(await engine.subtree(root)).toHaveLength(3)
})

it('V-06 the model of a task has no wider bounds than the model that created its task', async () => {
  const engine = await openEngine()
  const root = await engine.create({ goal: 'Lead' })
  const child = await create(engine.bus, modelOf(root.id, { maxTasks: 4, maxChildren: 2, maxDepth: 2 }))
  const wide = modelOf(child, { maxTasks: 1_000_000, maxChildren: 1_000_000, maxDepth: 1_000_000 })
  expect(await createAll(engine.bus, times(5, [wide]))).toBe(2)
  const [grandchild] = await engine.children(child)
  await refusalOf(create(engine.bus, modelOf(grandchild?.id as string)), 'LIMIT_EXCEEDED')
  // One of the four is left.
  const own = modelOf(root.id, { maxTasks: 4, maxChildren: 100 })
  expect(await createAll(engine.bus, times(5, [own]))).toBe(1)
  // The same model gets no wider bounds later, below a task that it has created.
  const parentId = (await engine.children(root)).at(-1)?.id
  const wider = modelOf(root.id, { maxTasks: 1_000_000 })
  const refusal = await refusalOf(create(engine.bus, wider, { parentId }), 'LIMIT_EXCEEDED')
  expect(refusal.details).toMatchObject({ limit: 'bounds.maxTasks', value: 4, taskId: root.id })
})

it('V-06 the model of a task respects narrower bounds of its own, which only apply below it', async () => {
  const engine = await openEngine()
  const root = await engine.create({ goal: 'Lead' })
  const [first, second] = [await create(engine.bus, modelOf(root.id)), await create(engine.bus, modelOf(root.id))]
  const narrow = { maxTasks: 2 }
  expect(await createAll(engine.bus, times(5, [modelOf(first, narrow)]))).toBe(2)
  expect(await createAll(engine.bus, times(5, [modelOf(second, narrow)]))).toBe(2)
  const [below] = await engine.children(first)
  await refusalOf(create(engine.bus, modelOf(below?.id as string)), 'LIMIT_EXCEEDED')
  expect(await createAll(engine.bus, times(5, [modelOf(root.id)]))).toBe(5)
})

it('V-06 the model of a task gets no new budget for a task that is moved out of its tree', async () => {
  const engine = await openEngine()
  const root = await engine.create({ goal: 'Lead' })
  const own = modelOf(root.id, { maxTasks: 3, maxDepth: 2 })
  const child = await create(engine.bus, own)
  const grandchild = await create(engine.bus, modelOf(child))
  await engine.delete(child)
  expect(await engine.get(grandchild)).toMatchObject({ parentId: null })
  await refusalOf(create(engine.bus, modelOf(grandchild)), 'LIMIT_EXCEEDED')
  expect(await createAll(engine.bus, times(3, [own]))).toBe(1)
})

it('V-06 the model of a task is not charged for refused tasks, and finds by key what it has created', async () => {
  const engine = await openEngine()
  const root = await engine.create({ goal: 'Lead' })
  const caller = modelOf(root.id, { maxTasks: 2 })
  const input = { goal: 'Once' }
  const once = () => engine.bus.call('task:create', input, { caller, identity: 'a call' })
  const { taskId } = await once()
  await refusalOf(create(engine.bus, caller, { blockedBy: ['task-unknown'] }), 'FORBIDDEN')
  await refusalOf(create(engine.bus, caller, { agentId: 'unknown' }), 'INVALID_INPUT')
  await create(engine.bus, caller)
  expect((await once()).taskId).toBe(taskId)
  await refusalOf(create(engine.bus, caller), 'LIMIT_EXCEEDED')
})

it('V-06 a program respects the limits of the engine, below a task with bounds too, and passes these on', async () => {
  const engine = await openEngine({
    executors: {
      fan: (_task: ExecutorTask, run: Run) => run.spawn(times(modelBounds.maxChildren + 1, { goal: 'Part' })),
    },
  })
  const tasks = Object.fromEntries(times(1_500, {}).map((child, n) => [`part ${n}`, child]))
  await engine.create({ name: 'All', tasks })
  const root = await create(engine.bus, overMcp({ maxTasks: 1 }), { goal: undefined, executor: 'fan' })
  await engine.start(root)
  await engine.settled(root)
  const parts = await engine.children(root)
  expect(parts).toHaveLength(modelBounds.maxChildren + 1)
  const models = parts.slice(0, 3).map(({ id }): [Caller] => [modelOf(id)])
  expect(await createAll(engine.bus, models)).toBe(1)
})

it('V-06 a model without a task of its own is limited below each root that it creates, and below a task that it adds to', async () => {
  const engine = await openEngine()
  const client = overMcp({ maxTasks: 3, maxChildren: 2, maxDepth: 2 })
  const root = await create(engine.bus, client)
  const below = times(5, [client, { parentId: root }] as [Caller, object])
  expect(await createAll(engine.bus, below)).toBe(2)
  expect(await createAll(engine.bus, [[modelOf(root)]])).toBe(0)
  const [child] = await engine.children(root)
  const leaf = await create(engine.bus, client, { parentId: child?.id })
  await refusalOf(create(engine.bus, client, { parentId: leaf }), 'LIMIT_EXCEEDED')
  expect(await engine.subtree(root)).toHaveLength(3)

  const board = await engine.create({ name: 'A board of people', tasks: { a: {}, b: {}, c: {} } })
  expect(await createAll(engine.bus, times(5, [client, { parentId: board.id }]))).toBe(3)
  await engine.create({ name: 'd', parentId: board.id })
})

it('V-06 a model over MCP is limited by the options of the server', async () => {
  const engine = await openEngine()
  const client = connectByHand(engine, { bounds: { maxTasks: 1 } })
  const created = await client.call('task_create', { name: 'root' })
  const { taskId } = created.structuredContent as { taskId: string }
  expect((await client.call('task_create', { name: 'a', parentId: taskId })).isError).toBeUndefined()
  const refused = await client.call('task_create', { name: 'b', parentId: taskId })
  expect(toolErrorOf(refused).code).toBe('LIMIT_EXCEEDED')
  client.input.end()
  await client.ended
})

it('V-06 a model with the tools of a board is limited', async () => {
  const engine = await openEngine()
  const top = await engine.create({ name: 'top' })
  await engine.bus.call('board:open', { board: 'team', parent: top.id })
  const { dispatch, close } = boardTools(engine, { as: 'ann', board: 'team', bounds: { maxTasks: 2 } })
  await dispatch('task_create', { subject: 'a' })
  await dispatch('task_create', { subject: 'b' })
  expect(await dispatch('task_create', { subject: 'c' })).toContain('models and clients have created 2 tasks below it')
  close()
  expect(await engine.children(top)).toHaveLength(2)
})

it('V-06 a model may create bounds.maxTasks below the task of a board in its whole life, and the refusal names the option that raises it', async () => {
  const engine = await openEngine()
  const top = await engine.create({ name: 'top' })
  await engine.bus.call('board:open', { board: 'team', parent: top.id })
  const createOnBoard = (maxTasks: number) =>
    engine.bus.call('board:create', { subject: 'x', board: 'team' }, { caller: overMcp({ maxTasks }) })
  for (const _ of times(2, 0)) {
    const { task } = await createOnBoard(2)
    await engine.bus.call('board:delete', { id: task.id, board: 'team' })
  }
  expect(await engine.children(top)).toHaveLength(0)
  const { message, details } = await refusalOf(createOnBoard(2), 'LIMIT_EXCEEDED')
  expect(details).toMatchObject({ limit: 'bounds.maxTasks', value: 2, taskId: top.id, made: 2 })
  expect(message).toContain('created 2 tasks below it in its whole life, ended and deleted ones included')
  expect(message).toContain('`errand mcp --max-tasks`')
  await createOnBoard(3)
  await engine.create({ name: 'by the program', parentId: top.id })
})

it('V-06 a model on the bus of Agent OS is limited', async () => {
  const bus = createBus()
  await using _manager = createTaskManager(bus, {} as never)
  const call = (id: string, input: object, caller: Caller) =>
    bus.call(id, input, { caller }) as Promise<{ taskId: string }>
  const client = overMcp({ maxTasks: 1 })
  const { taskId } = await call('task:spawn', { goal: 'Root' }, client)
  await call('task:spawn', { goal: 'Part', parentTaskId: taskId }, client)
  for (const abilityId of ['task:create', 'task:spawn']) {
    await refusalOf(call(abilityId, { goal: 'Part', parentTaskId: taskId }, client), 'LIMIT_EXCEEDED')
  }
})

const treeOf = (count: number, child: object = {}) => ({
  name: 'tree',
  tasks: Object.fromEntries(times(count - 1, child).map((each, n) => [`t${n}`, each])),
})

it('V-06 a request over HTTP creates at most a thousand tasks, and more are refused before any of them is parsed', async () => {
  const { engine, ask } = await openWorld()
  // The schema would report each of them.
  const branches = times(50, 0).map((_zero, n) => [`branch${n}`, treeOf(1_000, { x: 1 })])
  const unknown = { name: 'tree', tasks: Object.fromEntries(branches) }
  const problem = problemIn(await ask('POST', '/tasks', JSON.stringify(unknown)))
  expect(problem).toMatchObject({ status: 409, code: 'LIMIT_EXCEEDED' })
  expect(problem.detail).toContain('50001 tasks at once')
  const anyAbility = await ask('POST', '/abilities/task:create', treeOf(maxTasksPerRequest + 1))
  expect(problemIn(anyAbility).code).toBe('LIMIT_EXCEEDED')
  expect((await engine.list()).total).toBe(0)
  expect((await ask('POST', '/tasks', treeOf(maxTasksPerRequest))).status).toBe(201)
  expect((await engine.list({ limit: 0 })).total).toBe(maxTasksPerRequest)
})

it('V-06 a request over HTTP creates at most ten thousand dependencies, and more are refused before any of them is parsed', async () => {
  const { engine, ask } = await openWorld()
  const treeAfter = (count: (n: number) => number) => ({
    name: 'tree',
    tasks: Object.fromEntries(
      times(999, 0).map((_zero, n) => [`t${n}`, { name: 'a', after: times(count(n), 0).map((_each, m) => `t${m}`) }]),
    ),
  })
  const problem = problemIn(
    await ask(
      'POST',
      '/tasks',
      treeAfter((n) => (n < 190 ? 0 : 190)),
    ),
  )
  expect(problem).toMatchObject({ status: 409, code: 'LIMIT_EXCEEDED', details: { dependencies: 153_710 } })
  // The schema would report each of them.
  for (const fields of [
    { after: times(10_001, 0) },
    { blockedBy: times(10_001, 0) },
    { blocked_by: times(10_001, 0) },
  ]) {
    expect(problemIn(await ask('POST', '/abilities/task:create', { name: 'a', ...fields })).code).toBe('LIMIT_EXCEEDED')
  }
  expect((await engine.list()).total).toBe(0)
  expect(
    (
      await ask(
        'POST',
        '/tasks',
        treeAfter((n) => (n < 10 ? 0 : 10)),
      )
    ).status,
  ).toBe(201)
  expect((await engine.list()).total).toBe(1_000)
})

it('V-06 a request over HTTP creates as many tasks as the server is configured for', async () => {
  const { ask } = await openWorld({ maxTasksPerRequest: 2 })
  expect((await ask('POST', '/tasks', treeOf(2))).status).toBe(201)
  expect(problemIn(await ask('POST', '/tasks', treeOf(3))).code).toBe('LIMIT_EXCEEDED')
})

it('V-06 a request over HTTP of a principal with a task creates no more below it than a model may', async () => {
  let taskId = ''
  const { engine, ask } = await openWorld({ authenticate: () => ({ scopes: ['admin'], taskId }) })
  taskId = (await engine.create({ name: 'own' })).id
  expect(problemIn(await ask('POST', '/tasks', treeOf(modelBounds.maxChildren + 2))).code).toBe('LIMIT_EXCEEDED')
  expect((await ask('POST', '/tasks', treeOf(modelBounds.maxChildren + 1))).status).toBe(201)
  let deepest = taskId
  for (let level = 0; level < modelBounds.maxDepth; level++) {
    deepest = (await ask('POST', '/tasks', { name: 'deeper', parentId: deepest })).body.taskId
  }
  expect(problemIn(await ask('POST', '/tasks', { name: 'deeper', parentId: deepest })).code).toBe('LIMIT_EXCEEDED')
})
