// task:create and task:spawn: what they make, what they refuse, and what a task that calls them gets.
import { describe, expect, it } from 'vitest'
import { agent } from '../../src/executors/agent/agent.ts'
import { createScriptedModel } from '../../src/models/scripted-model.ts'
import { history, openEngine, puppet, reached, refusalOf, turns, typesOf } from '../engine/world.ts'
import { heldModel, modelOf, surface } from './world.ts'

async function setup(options: { maxConcurrent?: number; autoStart?: boolean } = {}) {
  const held = heldModel()
  const engine = await openEngine({ model: held.model, ...options })
  return { engine, held, call: surface(engine) }
}

describe('task:create', () => {
  it('S0-045 S0-046 S0-048 S1-001 makes a task of a goal and returns while its model has not said a word', async () => {
    const { engine, held, call } = await setup()
    const output = await call('task:create', { goal: 'Analyse Q1' })
    expect(Object.keys(output)).toEqual(['taskId', 'branch'])
    const { taskId } = output as { taskId: string }
    expect(await engine.get(taskId)).toMatchObject({ goal: 'Analyse Q1', name: 'Analyse Q1', executor: 'agent' })
    ;(await held.asked(0)).answer.resolve({ text: 'Done' })
    expect(await engine.result(taskId)).toBe('Done')
  })

  it('S0-002 S0-038 gives each task an id of its own, one that a message can mention', async () => {
    const { call } = await setup({ autoStart: false })
    const ids = await Promise.all(['a', 'b', 'c'].map(async (goal) => (await call('task:create', { goal }))['taskId']))
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id).toMatch(/^task-[a-z0-9]+$/)
  })

  it('S0-047 S0-049 stores the task, its instructions and its goal, in this order, before anybody works on it', async () => {
    const { engine, held, call } = await setup()
    const { taskId } = (await call('task:create', { goal: 'Go', systemPrompt: 'Be brief.' })) as { taskId: string }
    await held.asked(0)
    const events = await history(engine, taskId)
    expect(typesOf(events).slice(0, 4)).toEqual([
      'task.created',
      'message.appended',
      'message.appended',
      'task.started',
    ])
    expect(await engine.messages(taskId)).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Go' },
    ])
  })

  it('S0-008 S0-001 keeps instructions with the task; without any it has the usual ones', async () => {
    const { engine, call } = await setup({ autoStart: false })
    for (const [given, shown] of [
      [{ systemPrompt: 'Be brief.' }, 'Be brief.'],
      [{}, 'You are a helpful AI assistant.'],
    ] as const) {
      const { taskId } = await call('task:create', { goal: 'Go', ...given })
      expect((await engine.messages(taskId as string))[0]).toMatchObject({ role: 'system', content: shown })
    }
  })

  it('S0-010 S0-050 C-21 C-57 keeps the parent; one that does not exist is refused with nothing written', async () => {
    const { engine, call } = await setup({ autoStart: false })
    const { taskId: parentTaskId } = await call('task:create', { goal: 'Parent' })
    const { taskId } = await call('task:create', { goal: 'Child', parentTaskId })
    expect(await engine.get(taskId as string)).toMatchObject({ parentId: parentTaskId })
    const before = (await history(engine)).length
    const refusal = await refusalOf(call('task:create', { goal: 'Lost', parentTaskId: 'task-nobody' }), 'NOT_FOUND')
    expect(refusal.message).toContain('Task not found: task-nobody')
    expect((await history(engine)).length).toBe(before)
  })

  it.each([[{}], [{ goal: '' }], [{ goal: '  ' }], [{ goal: 7 }], [{ goal: 'Go', gaol: 1 }]])(
    'S0-051 refuses %j and writes nothing',
    async (input) => {
      const { engine, call } = await setup()
      await refusalOf(call('task:create', input), 'INVALID_INPUT')
      expect(await history(engine)).toEqual([])
    },
  )

  it('C-07 takes more than the goal: name, priority, model, executor, input, list of abilities, what comes first', async () => {
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
})

describe('task:spawn', () => {
  it('S1-024 S1-025 S1-064 runs at once while there is a slot, and is pending when there is none', async () => {
    const { engine, held, call } = await setup({ maxConcurrent: 1 })
    expect(await call('task:spawn', { goal: 'First' })).toMatchObject({ status: 'running' })
    const second = (await call('task:spawn', { goal: 'Second', systemPrompt: 'Wait.' })) as { taskId: string }
    expect(second).toMatchObject({ status: 'pending' })
    ;(await held.asked(0)).answer.resolve({ text: 'one' })
    ;(await held.asked(1)).answer.resolve({ text: 'two' })
    expect(await engine.result(second.taskId)).toBe('two')
  })

  it('S1-025 is pending while it may not run: what comes first is open, or nobody has started it', async () => {
    const { call } = await setup({ autoStart: false })
    const { taskId } = await call('task:spawn', { goal: 'Held' })
    expect(await call('task:spawn', { goal: 'Later', blockedBy: [taskId] })).toMatchObject({ status: 'pending' })
    expect((await call('task:get', { taskId }))['task']).toMatchObject({ status: 'pending' })
  })

  it('S1-026 S1-063 S1-066 queued tasks start by themselves, first come first served; those that wait take no slot', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor }, maxConcurrent: 2 })
    const call = surface(engine)
    const ids: string[] = []
    for (const goal of ['a', 'b', 'c', 'd']) {
      ids.push((await call('task:spawn', { goal, executor: 'work' }))['taskId'] as string)
    }
    expect((await call('task:list', { status: 'running' }))['total']).toBe(2)
    expect((await call('task:list', { status: 'pending' }))['total']).toBe(2)
    await call('task:pause', { taskId: ids[0] })
    await hands.started(2)
    ;(await hands.started(1)).end.resolve(null)
    await hands.started(3)
    expect(hands.runs.map(({ task }) => task.id)).toEqual(ids)
    expect((await call('task:list', { status: 'running' }))['total']).toBe(2)
  })

  it('S1-075 two of them are two that run', async () => {
    const { held, call } = await setup()
    await call('task:spawn', { goal: 'Task 1' })
    await call('task:spawn', { goal: 'Task 2' })
    await held.asked(1)
    expect(await call('task:list', { status: 'running' })).toMatchObject({ total: 2 })
  })
})

describe('A task that calls', () => {
  it('S0-110 S0-111 S1-059 S1-060 gets subtasks of its own without naming itself, waits for them and goes on', async () => {
    const model = createScriptedModel([
      { when: { goal: 'Year' }, tools: [{ name: 'task_spawn', input: { goal: 'Quarter' } }] },
      { when: { goal: 'Year' }, tools: [{ name: 'wait_for_tasks', input: {} }] },
      { when: { goal: 'Year' }, text: 'All quarters are done.' },
      { when: { goal: 'Quarter' }, text: 'Q1 is fine.' },
    ])
    const engine = await openEngine({ model, maxConcurrent: 1 })
    const call = surface(engine)
    const { taskId } = (await call('task:create', { goal: 'Year' })) as { taskId: string }
    expect(await engine.result(taskId)).toBe('All quarters are done.')
    const { tasks } = (await call('task:list', { parentTaskId: taskId })) as { tasks: Array<{ id: string }> }
    expect(tasks).toMatchObject([{ goal: 'Quarter', status: 'completed', parentTaskId: taskId }])
    const { messages } = model.prompts.at(-1) as { messages: Array<{ text: string }> }
    expect(messages.some(({ text }) => text.includes('Q1 is fine.') && text.includes(String(tasks[0]?.id)))).toBe(true)
  })

  it('S1-061 S1-036 makes a tree, each level of which can be listed', async () => {
    const { engine, call } = await setup({ autoStart: false })
    const root = (await call('task:create', { goal: 'Year' }))['taskId'] as string
    const quarter = (await surface(engine, modelOf(root))('task:create', { goal: 'Quarter' }))['taskId'] as string
    const month = (await surface(engine, modelOf(quarter))('task:create', { goal: 'Month' }))['taskId'] as string
    for (const [parentTaskId, child] of [
      [root, quarter],
      [quarter, month],
    ]) {
      const { tasks, total } = await call('task:list', { parentTaskId })
      expect([total, tasks]).toMatchObject([1, [{ id: child, parentTaskId }]])
    }
    expect(await call('task:list', { parentTaskId: month })).toEqual({ tasks: [], total: 0 })
  })

  it('S1-062 makes no more than the engine allows', async () => {
    const { model } = heldModel()
    const engine = await openEngine({ model, autoStart: false, maxDepth: 1, maxChildren: 1 })
    const root = await engine.create({ goal: 'Root' })
    const { taskId } = await surface(engine, modelOf(root.id))('task:create', { goal: 'Child' })
    await refusalOf(surface(engine, modelOf(root.id))('task:create', { goal: 'Second' }), 'LIMIT_EXCEEDED')
    await refusalOf(surface(engine, modelOf(String(taskId)))('task:create', { goal: 'Deep' }), 'LIMIT_EXCEEDED')
  })

  it('I25 makes no root, no child of a stranger, nothing that comes after one, and gives work to agents only', async () => {
    const hands = puppet()
    const { model } = heldModel()
    const engine = await openEngine({ model, executors: { shell: hands.executor }, autoStart: false })
    const own = await engine.create({ goal: 'Own' })
    const stranger = await engine.create({ goal: 'Stranger' })
    const call = surface(engine, modelOf(own.id))
    const { taskId } = (await call('task:create', { goal: 'Child' })) as { taskId: string }
    expect(await engine.get(taskId)).toMatchObject({ parentId: own.id })
    await refusalOf(call('task:create', { goal: 'Child', parentTaskId: stranger.id }), 'FORBIDDEN')
    await refusalOf(call('task:create', { goal: 'Child', blockedBy: [stranger.id] }), 'FORBIDDEN')
    await refusalOf(call('task:create', { goal: 'Child', executor: 'shell', input: {} }), 'FORBIDDEN')
    expect(await engine.children(stranger)).toEqual([])
  })

  it('I25 gives its subtasks no more abilities than it has itself, whichever list narrows it', async () => {
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

  it('is heard only when it is open: a settled task gets no subtasks', async () => {
    const { engine, call } = await setup({ autoStart: false })
    const { taskId } = (await call('task:create', { goal: 'Over' })) as { taskId: string }
    await engine.cancel(taskId)
    await refusalOf(call('task:create', { goal: 'Late', parentTaskId: taskId }), 'PARENT_CLOSED')
    await turns(1)
    await reached(engine, taskId, 'canceled')
  })
})
