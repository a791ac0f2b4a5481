// task:create and task:spawn of Agent OS: what they create and refuse, and calls by tasks.
import { describe, expect, it } from 'vitest'
import { agent } from '../../../src/agents/loop/agent.ts'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { history, puppet, refusalOf, typesOf } from '../../engine/world.ts'
import { heldModel, modelOf, surface } from '../../operations/world.ts'
import { openManager } from './world.ts'

async function setup(config: { maxConcurrentTasks?: number } = {}) {
  const held = heldModel()
  return { held, ...(await openManager({ model: held.model, ...config })) }
}

describe('task:create', () => {
  it('S0-045 S0-046 S0-048 S1-001 task:create returns before the model has answered', async () => {
    const { engine, held, call } = await setup()
    const output = await call('task:create', { goal: 'Analyse Q1' })
    expect(Object.keys(output)).toEqual(['taskId'])
    const { taskId } = output as { taskId: string }
    expect(await engine.get(taskId)).toMatchObject({ goal: 'Analyse Q1', name: 'Analyse Q1', executor: 'agent' })
    ;(await held.asked(0)).answer.resolve({ text: 'Done' })
    expect(await engine.result(taskId)).toBe('Done')
  })

  it('S0-002 S0-038 task:create gives each task a unique id that a message can mention', async () => {
    const { call } = await setup()
    const ids = await Promise.all(['a', 'b', 'c'].map(async (goal) => (await call('task:create', { goal }))['taskId']))
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id).toMatch(/^task-[a-z0-9]+$/)
  })

  it('S0-047 S0-049 task:create stores the task, its instructions and its goal in this order before any work begins', async () => {
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
    const { messages } = await call('ldg:msg:list', { taskId })
    expect(messages).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Go' },
    ])
  })

  it('S0-008 S0-001 task:create stores the system prompt with the task, by default the usual one', async () => {
    const { call } = await setup()
    for (const [given, shown] of [
      [{ systemPrompt: 'Be brief.' }, 'Be brief.'],
      [{}, 'You are a helpful AI assistant.'],
    ] as const) {
      const { taskId } = await call('task:create', { goal: 'Go', ...given })
      expect((await call('ldg:task:get', { taskId }))['task']).toMatchObject({ id: taskId, systemPrompt: shown })
    }
  })

  it('S0-010 S0-050 C-21 C-57 task:create stores the parent, and refuses an unknown one with nothing written', async () => {
    const { engine, call } = await setup()
    const { taskId: parentTaskId } = await call('task:create', { goal: 'Parent' })
    const { taskId } = await call('task:create', { goal: 'Child', parentTaskId })
    expect((await call('ldg:task:get', { taskId }))['task']).toMatchObject({ parentTaskId })
    const made = async () => typesOf(await history(engine)).filter((type) => type === 'task.created').length
    const before = await made()
    const refusal = await refusalOf(call('task:create', { goal: 'Lost', parentTaskId: 'task-missing' }), 'NOT_FOUND')
    expect(refusal.message).toContain('Task not found: task-missing')
    expect(await made()).toBe(before)
  })

  it.each([[{}], [{ goal: '' }], [{ goal: '  ' }], [{ goal: 7 }], [{ goal: 'Go', gaol: 1 }]])(
    'S0-051 task:create refuses %j and writes nothing',
    async (input) => {
      const { engine, call } = await setup()
      await refusalOf(call('task:create', input), 'INVALID_INPUT')
      expect(await history(engine)).toEqual([])
    },
  )

  it('C-07 task:create accepts name, priority, model, executor, input, abilities and blockers', async () => {
    const other = createScriptedModel([{ text: 'Reviewed' }], { modelId: 'other' })
    const { engine, call } = await openManager({ models: { other }, executors: { reviewer: agent({}) } })
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
    expect(await engine.result(taskId)).toBe('Reviewed')
    expect(other.prompts[0]?.tools).toEqual(['ask_user', 'wait_for_tasks', 'task_list'])
  })
})

describe('task:spawn', () => {
  it('S1-024 S1-025 S1-064 task:spawn starts a task at once while there is a slot, else it is pending', async () => {
    const { engine, held, call } = await setup({ maxConcurrentTasks: 1 })
    expect(await call('task:spawn', { goal: 'First' })).toMatchObject({ status: 'running' })
    const second = (await call('task:spawn', { goal: 'Second', systemPrompt: 'Wait.' })) as { taskId: string }
    expect(second).toMatchObject({ status: 'pending' })
    ;(await held.asked(0)).answer.resolve({ text: 'one' })
    ;(await held.asked(1)).answer.resolve({ text: 'two' })
    expect(await engine.result(second.taskId)).toBe('two')
  })

  it('S1-025 task:spawn returns pending for a task that is blocked or whose parent was not started', async () => {
    const { engine, call } = await setup()
    const { id } = await engine.create({ goal: 'Held', autoStart: false })
    expect(await call('task:spawn', { goal: 'Later', blockedBy: [id] })).toMatchObject({ status: 'pending' })
    expect((await call('task:get', { taskId: id }))['task']).toMatchObject({ status: 'pending' })
  })

  it('S1-026 S1-063 S1-066 queued tasks start by themselves in order, and waiting tasks take no slot', async () => {
    const hands = puppet()
    const { engine, call } = await openManager({ executors: { work: hands.executor }, maxConcurrentTasks: 2 })
    const ids: string[] = []
    for (const goal of ['a', 'b', 'c', 'd']) {
      ids.push((await call('task:spawn', { goal, executor: 'work' }))['taskId'] as string)
    }
    expect((await call('task:list', { status: 'running' }))['total']).toBe(2)
    expect((await call('task:list', { status: 'pending' }))['total']).toBe(2)
    await engine.pause(ids[0] as string)
    await hands.started(2)
    ;(await hands.started(1)).end.resolve(null)
    await hands.started(3)
    expect(hands.runs.map(({ task }) => task.id)).toEqual(ids)
    expect((await call('task:list', { status: 'running' }))['total']).toBe(2)
  })

  it('S1-075 two spawned tasks run at once', async () => {
    const { held, call } = await setup()
    await call('task:spawn', { goal: 'Task 1' })
    await call('task:spawn', { goal: 'Task 2' })
    await held.asked(1)
    expect(await call('task:list', { status: 'running' })).toMatchObject({ total: 2 })
  })
})

describe('A calling task', () => {
  it('S0-110 S0-111 S1-059 S1-060 a calling task gets subtasks of its own by default, waits for them and continues', async () => {
    const model = createScriptedModel([
      { when: { goal: 'Year' }, tools: [{ name: 'task_spawn', input: { goal: 'Quarter' } }] },
      { when: { goal: 'Year' }, tools: [{ name: 'wait_for_tasks', input: {} }] },
      { when: { goal: 'Year' }, text: 'All quarters are done.' },
      { when: { goal: 'Quarter' }, text: 'Q1 is fine.' },
    ])
    const { engine, call } = await openManager({ model, maxConcurrentTasks: 1 })
    const { taskId } = (await call('task:create', { goal: 'Year' })) as { taskId: string }
    expect(await engine.result(taskId)).toBe('All quarters are done.')
    const { tasks } = (await call('task:list', { parentTaskId: taskId })) as { tasks: Array<{ id: string }> }
    expect(tasks).toMatchObject([{ goal: 'Quarter', status: 'completed', parentTaskId: taskId }])
    const { messages } = model.prompts.at(-1) as { messages: Array<{ text: string }> }
    expect(messages.some(({ text }) => text.includes('Q1 is fine.') && text.includes(String(tasks[0]?.id)))).toBe(true)
  })

  it('S1-061 S1-036 subtasks of calling tasks form a tree, each level of which can be listed', async () => {
    const { bus, call } = await setup()
    const root = (await call('task:create', { goal: 'Year' }))['taskId'] as string
    const quarter = (await surface({ bus }, modelOf(root))('task:create', { goal: 'Quarter' }))['taskId'] as string
    const month = (await surface({ bus }, modelOf(quarter))('task:create', { goal: 'Month' }))['taskId'] as string
    for (const [parentTaskId, child] of [
      [root, quarter],
      [quarter, month],
    ]) {
      const { tasks, total } = await call('task:list', { parentTaskId })
      expect([total, tasks]).toMatchObject([1, [{ id: child, parentTaskId }]])
    }
    expect(await call('task:list', { parentTaskId: month })).toEqual({ tasks: [], total: 0 })
  })

  it('I25 a calling task creates no root, no child or dependent of a foreign task, and only agents', async () => {
    const hands = puppet()
    const { model } = heldModel()
    const { bus, engine } = await openManager({ model, executors: { shell: hands.executor } })
    const own = await engine.create({ goal: 'Own' })
    const outsider = await engine.create({ goal: 'Stranger' })
    const call = surface({ bus }, modelOf(own.id))
    const { taskId } = (await call('task:create', { goal: 'Child' })) as { taskId: string }
    expect(await engine.get(taskId)).toMatchObject({ parentId: own.id })
    await refusalOf(call('task:create', { goal: 'Child', parentTaskId: outsider.id }), 'FORBIDDEN')
    await refusalOf(call('task:create', { goal: 'Child', blockedBy: [outsider.id] }), 'FORBIDDEN')
    await refusalOf(call('task:create', { goal: 'Child', executor: 'shell', input: {} }), 'FORBIDDEN')
    expect(await engine.children(outsider)).toEqual([])
  })

  it('I25 a calling task gives its subtasks at most its own abilities, whichever list limits it', async () => {
    const model = createScriptedModel([{ text: 'Done' }])
    const { bus, engine } = await openManager({ model })
    const root = await engine.create({ goal: 'Root', autoStart: false })
    const narrow = modelOf(root.id, [['task:*'], ['task:create', 'task:list']])
    for (const [given, allowed] of [
      [undefined, ['task_create', 'task_list']],
      [['*'], ['task_create', 'task_list']],
      [['task:list', 'model:list'], ['task_list']],
      [[], []],
    ] as const) {
      const { taskId } = (await surface({ bus }, narrow)('task:create', {
        goal: 'Child',
        ...(given === undefined ? {} : { abilities: given }),
      })) as { taskId: string }
      await engine.settled(taskId)
      expect(model.prompts.at(-1)?.tools).toEqual(['ask_user', 'wait_for_tasks', ...allowed])
    }
  })

  it('a settled task can create no subtasks', async () => {
    const { engine, call } = await setup()
    const { taskId } = (await call('task:create', { goal: 'Over' })) as { taskId: string }
    await engine.cancel(taskId)
    await refusalOf(call('task:create', { goal: 'Late', parentTaskId: taskId }), 'PARENT_CLOSED')
  })
})
