// task:create: its fields, and what a task may create.
import { expect, it } from 'vitest'
import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import type { Caller } from '../../src/bus/caller.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { openEngine, puppet, reached, refusalOf, turns } from '../engine/world.ts'
import { heldModel, modelOf, surface } from './world.ts'

async function setup(options: { maxConcurrent?: number; autoStart?: boolean } = {}) {
  const held = heldModel()
  const engine = await openEngine({ model: held.model, ...options })
  return { engine, held, call: surface(engine) }
}

it('C-07 task:create creates a task with name, priority, model, executor, input, abilities and blockers besides its goal', async () => {
  const other = createScriptedModel([{ text: 'Reviewed' }], { modelId: 'other' })
  const engine = await openEngine({ models: { other }, executors: { reviewer: agent({}) }, autoStart: false })
  const call = surface(engine)
  const first = await engine.create({ name: 'first' })
  const { taskId } = (await call('task:create', {
    goal: 'Review',
    name: 'review',
    priority: 3,
    model: 'other',
    executor: 'reviewer',
    input: { file: 'a.ts' },
    abilities: ['task:list'],
    blockedBy: [first.id],
  })) as { taskId: string }
  expect(await engine.get(taskId)).toMatchObject({
    name: 'review',
    priority: 3,
    executor: 'reviewer',
    input: { file: 'a.ts' },
    blockedBy: [first.id],
  })
  await engine.start(first)
  await engine.complete(first)
  await engine.start(taskId)
  expect(await engine.result(taskId)).toBe('Reviewed')
  expect(other.prompts[0]?.tools).toEqual(['ask_user', 'wait_for_tasks', 'task_list'])
})

it('a task records who created it: a task, a named caller, or the surface', async () => {
  const engine = await openEngine({
    executors: { parent: async (_task: ExecutorTask, run: Run) => (await run.spawn({ name: 'spawned' })).id },
  })
  const parent = await engine.create({ executor: 'parent' })
  const made = async (caller: Caller, abilityId: string, input: object) => {
    const answer = (await engine.bus.call(abilityId as string, input, { caller })) as {
      task: { taskId: string; id: string }
    }
    return (await engine.get(answer.task.taskId ?? answer.task.id))?.createdBy
  }
  expect(parent.createdBy).toBe('library')
  expect(await made({ surface: 'http', owner: 'ann' }, 'task:create', { name: 'a' })).toBe('ann')
  expect(await made({ surface: 'mcp', model: true }, 'board:create', { subject: 'b' })).toBe('mcp')
  const child = { name: 'c', parentId: parent.id }
  const open = await engine.create({ name: 'open' })
  expect(await made({ surface: 'model', taskId: open.id }, 'task:create', { ...child, parentId: open.id })).toBe(
    open.id,
  )
  await engine.result(parent)
  const [spawned] = await engine.children(parent)
  expect(spawned).toMatchObject({ name: 'spawned', createdBy: null })
})

it('S1-062 a task creates no more tasks than the engine allows', async () => {
  const { model } = heldModel()
  const engine = await openEngine({ model, autoStart: false, maxDepth: 1, maxChildren: 1 })
  const root = await engine.create({ goal: 'Root' })
  const { taskId } = await surface(engine, modelOf(root.id))('task:create', { goal: 'Child' })
  await refusalOf(surface(engine, modelOf(root.id))('task:create', { goal: 'Second' }), 'LIMIT_EXCEEDED')
  await refusalOf(surface(engine, modelOf(String(taskId)))('task:create', { goal: 'Deep' }), 'LIMIT_EXCEEDED')
})

it('I25 a task creates no root, no child or dependent of a task outside its subtree, and assigns work to agents only', async () => {
  const hands = puppet()
  const { model } = heldModel()
  const engine = await openEngine({ model, executors: { shell: hands.executor }, autoStart: false })
  const own = await engine.create({ goal: 'Own' })
  const unrelated = await engine.create({ goal: 'Unrelated' })
  const call = surface(engine, modelOf(own.id))
  const { taskId } = (await call('task:create', { goal: 'Child' })) as { taskId: string }
  expect(await engine.get(taskId)).toMatchObject({ parentId: own.id })
  await refusalOf(call('task:create', { goal: 'Child', parentTaskId: unrelated.id }), 'FORBIDDEN')
  await refusalOf(call('task:create', { goal: 'Child', blockedBy: [unrelated.id] }), 'FORBIDDEN')
  await refusalOf(call('task:create', { goal: 'Child', executor: 'shell', input: {} }), 'FORBIDDEN')
  expect(await engine.children(unrelated)).toEqual([])
})

it('I25 a task gives its subtasks no more abilities than it has, whichever list restricts it', async () => {
  const model = createScriptedModel([{ text: 'Done' }])
  const engine = await openEngine({ model, autoStart: false })
  const root = await engine.create({ goal: 'Root' })
  const narrow = modelOf(root.id, [['task:*'], ['task:create', 'task:list']])
  for (const [given, allowed] of [
    [undefined, ['task_create', 'task_list']],
    [['*'], ['task_create', 'task_list']],
    [['task:list', 'model:list'], ['task_list']],
    [[], []],
  ] as const) {
    const { taskId } = (await surface(engine, narrow)('task:create', {
      goal: 'Child',
      ...(given === undefined ? {} : { abilities: given }),
    })) as { taskId: string }
    await engine.start(taskId)
    await engine.settled(taskId)
    expect(model.prompts.at(-1)?.tools).toEqual(['ask_user', 'wait_for_tasks', ...allowed])
  }
})

it('a task that has ended creates no subtasks', async () => {
  const { engine, call } = await setup({ autoStart: false })
  const { taskId } = (await call('task:create', { goal: 'Over' })) as { taskId: string }
  await engine.cancel(taskId)
  await refusalOf(call('task:create', { goal: 'Late', parentTaskId: taskId }), 'PARENT_CLOSED')
  await turns(1)
  await reached(engine, taskId, 'canceled')
})
