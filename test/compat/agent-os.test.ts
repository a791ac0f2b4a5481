// Agent OS by its documents: their examples, run with a task manager over the engine.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import {
  createAgentBus,
  createBus,
  createModelManager,
  createTaskManager,
  getAllToolDefinitions,
  loadTaskContext,
} from '../../src/compat/agent-os.ts'
import { ledgerFile, refusalOf } from '../engine/world.ts'
import {
  ended,
  goalOf,
  heldModel,
  invokerOf,
  openManager,
  outputOf,
  registerModel,
  registerTool,
} from './agent-os-world.ts'

const answer = () => ({ content: 'All done.' })

describe('createTaskManager', () => {
  it('S0-112 S0-114 createTaskManager registers the task abilities at once, each with its metadata', async () => {
    const { bus, invoke } = openManager({ reply: answer, maxConcurrentTasks: 2, maxIterationsPerTask: 3 })
    const documented = ['route', 'create', 'cancel', 'active', 'spawn', 'send', 'stream', 'list', 'get', 'kill']
    expect(documented.filter((name) => !bus.has(`task:${name}`))).toEqual([])
    for (const abilityName of ['route', 'create', 'cancel', 'active']) {
      const { meta } = await invoke('bus:inspect', { abilityId: `task:${abilityName}` })
      expect(meta).toMatchObject({ id: `task:${abilityName}`, moduleName: 'task', abilityName, isStream: false })
      expect(meta.description).not.toBe('')
      expect(meta.inputSchema.type).toBe('object')
      expect(meta.outputSchema.type).toBe('object')
    }
  })

  it('S1-074 createTaskManager needs only a bus', async () => {
    const { bus, state, invoke } = openManager({ reply: answer })
    await state.ready
    const { taskId } = await invoke('task:spawn', { goal: 'Test task' })
    expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'success' })
  })

  it('C-31 createTaskManager runs ten tasks at once with ten steps each by default', async () => {
    const many = openManager({ reply: answer })
    const few = openManager({ reply: answer, maxConcurrentTasks: 3 })
    expect((await (await many.state.engine).limits()).engine.maxConcurrent).toBe(10)
    expect((await (await few.state.engine).limits()).engine.maxConcurrent).toBe(3)

    const forever = () => ({ content: '', tools: [['task_list', {}]] as Array<[string, unknown]> })
    for (const [config, steps] of [
      [{}, 10],
      [{ maxIterationsPerTask: 2 }, 2],
    ] as const) {
      const { bus, asked, invoke } = openManager({ reply: forever, ...config })
      const { taskId } = await invoke('task:create', { goal: 'Go on and on' })
      expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'failed: Maximum iterations reached' })
      expect(asked).toHaveLength(steps)
    }
  })

  it('createTaskManager names an unknown option and the nearest one', async () => {
    const refusal = await refusalOf(
      () => createTaskManager(createAgentBus(), { maxConcurentTasks: 3 } as never),
      'UNKNOWN_OPTION',
    )
    expect(refusal.details).toMatchObject({ option: 'maxConcurentTasks', nearest: 'maxConcurrentTasks' })
    await refusalOf(() => createTaskManager(createAgentBus(), { maxConcurrentTasks: 0 }), 'INVALID_INPUT')
    await refusalOf(() => createTaskManager({} as never), 'INVALID_INPUT')
    await refusalOf(() => createModelManager(undefined as never), 'INVALID_INPUT')
  })

  it('a task manager that cannot open its ledger rejects ready and every call with the reason, and leaves the bus when it is shut down', async () => {
    const bus = createAgentBus()
    const reported: unknown[] = []
    const noFolder = ledgerFile()
    writeFileSync(noFolder, 'a file')
    const ledger = join(noFolder, 'tasks.db')
    const state = createTaskManager(bus, { ledger, onError: (error) => reported.push(error) })
    const creating = invokerOf(bus)('task:create', { goal: 'Too early' })
    const refusal = await refusalOf(state.ready, 'LEDGER_UNAVAILABLE')
    await refusalOf(creating, 'LEDGER_UNAVAILABLE')
    expect(reported).toEqual([refusal])
    await refusalOf(invokerOf(bus)('task:create', { goal: 'Too late' }), 'LEDGER_UNAVAILABLE')
    await state.shutdown()
    expect(bus.has('task:create')).toBe(false)
  })

  it('a second task manager on the same bus is refused, and the first continues', async () => {
    const { bus, state, invoke } = openManager({ reply: answer })
    const second = createTaskManager(bus, { onError: () => {} })
    await refusalOf(second.ready, 'ALREADY_REGISTERED')
    await second.shutdown()
    await state.ready
    const { taskId } = await invoke('task:create', { goal: 'Still here' })
    expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'success' })
  })
})

describe('A task of Agent OS', () => {
  it('S0-045 S0-046 S0-048 task:create stores a task before it runs and returns at once', async () => {
    const model = heldModel()
    const { bus, invoke } = openManager({ reply: model.reply })
    const { taskId } = await invoke('task:create', { goal: 'Test task', systemPrompt: 'You are a data analyst.' })
    expect(taskId).toMatch(/^task-[a-z0-9]+$/)
    const { task } = await invoke('ldg:task:get', { taskId })
    expect(task).toMatchObject({ id: taskId, systemPrompt: 'You are a data analyst.' })
    expect(task).not.toHaveProperty('completionStatus')
    const step = await model.began(0)
    expect(step.goal).toBe('Test task')
    step.end({ content: 'Tested.' })
    expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'success' })
  })

  it('S0-033 a message is routed to the only open task', async () => {
    const model = heldModel()
    const { invoke } = openManager({ reply: model.reply })
    const { taskId } = await invoke('task:create', { goal: 'Analyze sales' })
    expect(await invoke('task:route', { message: 'Can you also check Q2?' })).toMatchObject({ taskId, confidence: 1 })
  })

  it('S0-115 S0-116 a task with tool calls leaves the task, its messages and its calls in the ledger', async () => {
    const { bus, invoke } = openManager({
      ledger: ledgerFile(),
      reply: (_input, step) =>
        step === 0
          ? {
              content: 'Let me look. ',
              tools: [
                ['sales_figures', { quarter: 'Q1' }],
                ['sales_broken', {}],
              ],
            }
          : { content: 'Q1 was fine.' },
    })
    registerTool(bus, 'sales:figures', ({ quarter }) => ({ quarter, total: 42 }))
    registerTool(bus, 'sales:broken', () => {
      throw new Error('no such table')
    })
    const { taskId } = await invoke('task:create', { goal: 'Analyze Q1' })
    await outputOf(bus, taskId)

    const { task } = await invoke('ldg:task:get', { taskId })
    expect(task).toMatchObject({
      id: taskId,
      completionStatus: 'success',
      systemPrompt: 'You are a helpful AI assistant.',
    })
    expect(task.updatedAt).toBeGreaterThanOrEqual(task.createdAt)
    expect(await invoke('ldg:task:query', { completionStatus: 'success' })).toMatchObject({ tasks: [task], total: 1 })

    const { messages, total } = await invoke('ldg:msg:list', { taskId })
    expect(total).toBe(messages.length)
    const lines = messages.map(({ role, content }: any) => `${role}: ${content}`)
    expect(lines.slice(0, 3)).toEqual([
      'system: You are a helpful AI assistant.',
      'user: Analyze Q1',
      'assistant: Let me look. ',
    ])
    expect(lines.at(-1)).toBe('assistant: Q1 was fine.')
    expect(lines).toEqual(
      expect.arrayContaining([
        'assistant: 🔧 Calling sales:figures...',
        'assistant: ✓ sales:figures completed',
        'assistant: 🔧 Calling sales:broken...',
        'assistant: ✗ sales:broken failed: no such table',
      ]),
    )

    const { calls } = await invoke('ldg:call:list', { taskId })
    expect(calls).toMatchObject([
      { taskId, abilityName: 'sales:figures', status: 'completed' },
      { taskId, abilityName: 'sales:broken', status: 'failed' },
    ])
    const [figures, broken] = calls
    expect(JSON.parse(figures.parameters)).toEqual({ quarter: 'Q1' })
    expect(JSON.parse(figures.details)).toEqual({ quarter: 'Q1', total: 42 })
    expect(JSON.parse(broken.details)).toMatchObject({ error: 'no such table' })
    const contentOf = new Map(messages.map(({ id, content }: any) => [id, content]))
    expect(contentOf.get(figures.startMessageId)).toBe('🔧 Calling sales:figures...')
    expect(contentOf.get(figures.endMessageId)).toBe('✓ sales:figures completed')
    expect(contentOf.get(broken.endMessageId)).toBe('✗ sales:broken failed: no such table')
  })

  it('S0-005 S0-053 a cancelled task has the status cancelled, and its model is not called again', async () => {
    const model = heldModel()
    const { bus, asked, invoke } = openManager({ reply: model.reply })
    const { taskId } = await invoke('task:create', { goal: 'Long work' })
    const step = await model.began(0)
    expect(await invoke('task:cancel', { taskId, reason: 'User requested cancellation' })).toMatchObject({
      success: true,
    })
    step.end({ content: 'Too late.' })
    expect(await ended(bus, taskId)).toMatchObject({
      completionStatus: 'cancelled',
      statusReason: 'User requested cancellation',
    })
    expect(asked).toHaveLength(1)
    expect((await loadTaskContext(taskId, bus)).map(({ content }) => content)).not.toContain('Too late.')
  })

  it('S1-024 S1-025 S1-075 two spawned tasks run at once while there are slots', async () => {
    const model = heldModel()
    const { invoke } = openManager({ reply: model.reply, maxConcurrentTasks: 2 })
    const spawned = [await invoke('task:spawn', { goal: 'Task 1' }), await invoke('task:spawn', { goal: 'Task 2' })]
    expect(spawned.map(({ status }) => status)).toEqual(['running', 'running'])
    expect(await invoke('task:list', { status: 'running' })).toMatchObject({ total: 2 })
    expect(await invoke('task:spawn', { goal: 'Task 3' })).toMatchObject({ status: 'pending' })
    expect(await invoke('task:list', { status: 'running' })).toMatchObject({ total: 2 })
  })

  it('S1-013 S1-014 S1-076 a task streams its output from its start to its end', async () => {
    const { bus, invoke } = openManager({ reply: () => ({ content: 'A few words of mine.' }) })
    const { taskId } = await invoke('task:spawn', { goal: 'Test' })
    const outputs = await outputOf(bus, taskId)
    expect(outputs[0]).toEqual({ type: 'start', taskId, goal: 'Test' })
    expect(outputs.at(-1)).toEqual({ type: 'end', taskId, status: 'completed' })
    const pieces = outputs.filter(({ type }) => type === 'content').map(({ content }) => content)
    expect(pieces.join('')).toBe('A few words of mine.')
  })

  it('S0-110 S0-111 S0-086 a model creates subtasks, receives their ids, and waits for them', async () => {
    const { bus, asked, invoke } = openManager({
      reply: (input, step) => {
        if (goalOf(input).startsWith('Part')) return { content: `${goalOf(input)} is done.` }
        if (step > 1) return { content: 'All parts are done.' }
        const goals = ['Part one', 'Part two']
        return step === 0
          ? { tools: goals.map((goal): [string, unknown] => ['task_create', { goal }]) }
          : { tools: [['wait_for_tasks', {}]] }
      },
    })
    const { taskId } = await invoke('task:create', { goal: 'The whole' })
    expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'success' })
    const { tasks } = await invoke('ldg:task:query', { parentTaskId: taskId })
    expect(tasks.map((task: any) => [task.parentTaskId, task.completionStatus])).toEqual([
      [taskId, 'success'],
      [taskId, 'success'],
    ])
    expect(await invoke('ldg:task:query', { parentTaskId: taskId, completionStatus: 'null' })).toMatchObject({
      total: 0,
    })
    const results: string[] = (asked.at(-1)?.messages ?? []).flatMap(({ role, content }) =>
      role === 'tool' ? [content] : [],
    )
    const returnedIds = results.slice(0, 2).map((text) => (JSON.parse(text) as { taskId: string }).taskId)
    expect(new Set(returnedIds)).toEqual(new Set(tasks.map(({ id }: any) => id)))
    expect(results[2]).toContain('Part one is done.')
  })

  it('S1-059 S1-061 S1-036 subtasks spawned by models form a tree, each level of which can be listed', async () => {
    const parts: Record<string, string[]> = {
      'Analyze annual sales': ['Analyze Q1 data', 'Analyze Q2 data'],
      'Analyze Q1 data': ['Analyze January', 'Analyze February', 'Analyze March'],
    }
    const { bus, invoke } = openManager({
      reply: (input, step) => {
        const goals = parts[goalOf(input)]
        if (goals === undefined || step > 1) return { content: 'Analyzed.' }
        return step === 0
          ? { tools: goals.map((goal): [string, unknown] => ['task_spawn', { goal }]) }
          : { tools: [['wait_for_tasks', {}]] }
      },
    })
    const { taskId } = await invoke('task:spawn', { goal: 'Analyze annual sales' })
    await outputOf(bus, taskId)
    const childrenOf = async (parentTaskId: string) => (await invoke('task:list', { parentTaskId })).tasks
    const goalsOf = (tasks: Array<{ goal: string }>): string[] => tasks.map(({ goal }) => goal).sort()
    const quarters = await childrenOf(taskId)
    expect(goalsOf(quarters)).toEqual(['Analyze Q1 data', 'Analyze Q2 data'])
    const firstQuarter = quarters.find(({ goal }: any) => goal === 'Analyze Q1 data')
    const months = await childrenOf(firstQuarter.id)
    expect(goalsOf(months)).toEqual(['Analyze February', 'Analyze January', 'Analyze March'])
    expect(await childrenOf(months[0].id)).toEqual([])
  })
})

describe('A model that the program registers itself', () => {
  it('S0-062 S0-064 a `model:llm` registered before the manager receives the conversation and the tools', async () => {
    const bus = createAgentBus()
    registerTool(bus, 'sales:figures', () => 42)
    const asked = registerModel(bus, (_input, step) => (step === 0 ? { tools: [['sales_figures', {}]] } : answer()))
    const { invoke } = openManager({ bus })
    const { taskId } = await invoke('task:create', { goal: 'Analyze', systemPrompt: 'Be brief.' })
    expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'success' })
    expect(asked[0]?.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Analyze' },
    ])
    expect(asked[0]?.tools?.map((tool) => tool.function.name)).toContain('sales_figures')
    expect(asked[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: '42' })
  })

  it('a `model:llm` registered after the manager lets waiting tasks run', async () => {
    const file = ledgerFile()
    const model = heldModel()
    const first = openManager({ ledger: file, reply: model.reply })
    const { taskId: left } = await first.invoke('task:create', { goal: 'Left over' })
    await model.began(0)
    await first.state.shutdown()

    const { bus, state, invoke } = openManager({ ledger: file })
    await state.ready
    expect((await invoke('task:get', { taskId: left })).task).toMatchObject({ status: 'pending' })
    registerModel(bus, answer)
    const { taskId, status } = await invoke('task:spawn', { goal: 'The first of the new ones' })
    expect(status).toBe('running')
    expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'success' })
    expect(await ended(bus, left)).toMatchObject({ completionStatus: 'success' })
    await state.shutdown()

    const { taskId: again } = await (async () => {
      const third = openManager({ ledger: file })
      registerModel(third.bus, answer)
      const created = await third.invoke('task:create', { goal: 'Right after' })
      expect(await ended(third.bus, created.taskId)).toMatchObject({ completionStatus: 'success' })
      return created
    })()
    expect(again).not.toBe(taskId)
  })

  it('S0-048 a goal created without a model waits for one', async () => {
    const { bus, state, invoke } = openManager()
    const { taskId, status } = await invoke('task:spawn', { goal: 'Who will do it?' })
    expect(status).toBe('pending')
    const engine = await state.engine
    await engine.idle()
    expect(await engine.why(String(taskId))).toMatchObject({ reason: 'model' })
    registerModel(bus, answer)
    expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'success' })
  })

  it('the error of a registered model is the error of its task', async () => {
    const { bus, invoke } = openManager({
      reply: () => {
        throw new Error('the model is on strike')
      },
      modelRetry: { maxAttempts: 1 },
    })
    const { taskId } = await invoke('task:create', { goal: 'Anything' })
    expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'failed: the model is on strike' })
  })
})

describe('A model object', () => {
  it('a model object may be passed to the task manager', async () => {
    const { bus, invoke } = openManager({ model: createScriptedModel([{ text: 'By the script.' }]) })
    const { taskId } = await invoke('task:create', { goal: 'Play' })
    expect((await outputOf(bus, taskId)).find(({ type }) => type === 'content')?.content).toContain('By')
  })

  it.each(['before', 'after'])(
    'a model object may be passed to createModelManager %s the task manager',
    async (when) => {
      const bus = createBus()
      const model = createScriptedModel([{ text: 'By the script.' }])
      const bring = () => createModelManager(bus, { model })
      const early = when === 'before' ? bring() : undefined
      const { invoke } = openManager({ bus })
      const manager = early ?? bring()
      expect(manager.list()).toMatchObject([{ provider: model.provider, modelId: model.modelId, isDefault: true }])
      const { taskId } = await invoke('task:create', { goal: 'Play' })
      expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'success' })
    },
  )

  it('a task may name one of several model objects', async () => {
    const bus = createBus()
    createModelManager(bus, {
      model: createScriptedModel([{ text: 'The usual one.' }]),
      models: { other: createScriptedModel([{ text: 'The other one.' }], { modelId: 'other' }) },
    })
    const { invoke } = openManager({ bus })
    const { taskId } = await invoke('task:create', { goal: 'Play', model: 'other' })
    expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'success' })
    expect((await loadTaskContext(taskId, bus)).at(-1)?.content).toBe('The other one.')
  })

  it('createModelManager refuses to replace a model, and reports when there is none', async () => {
    const bus = createBus()
    await refusalOf(() => createModelManager(bus), 'NO_MODEL')
    registerModel(bus, answer)
    expect(createModelManager(bus).list()).toEqual([])
    await refusalOf(
      () => createModelManager(bus, { model: createScriptedModel([{ text: 'x' }]) }),
      'ALREADY_REGISTERED',
    )
    expect(bus.has('model:llm')).toBe(true)
  })

  it('closing a model manager unregisters its model', () => {
    const bus = createBus()
    const manager = createModelManager(bus, { model: createScriptedModel([{ text: 'x' }]) })
    expect(bus.has('model:llm')).toBe(true)
    manager.close()
    expect(bus.has('model:llm')).toBe(false)
  })
})

describe('getAllToolDefinitions', () => {
  it('S0-081 S0-082 S1-056 getAllToolDefinitions returns the tools of all registered abilities for models', async () => {
    const { bus, asked, invoke } = openManager({ reply: answer })
    registerTool(bus, 'sales:figures', () => 42)
    const tools = await getAllToolDefinitions(bus)
    const names = tools.map((tool) => tool.function.name)
    expect(names).toEqual(expect.arrayContaining(['sales_figures', 'task_create', 'task_spawn']))
    expect(names.filter((name) => /^(ldg|bus)_|^model_(llm|register)/.test(name))).toEqual([])
    const create = tools.find((tool) => tool.function.name === 'task_create')
    expect(create).toMatchObject({
      type: 'function',
      function: { parameters: { type: 'object', properties: { goal: { type: 'string' } } } },
    })
    const { taskId } = await invoke('task:create', { goal: 'Look at the tools' })
    await ended(bus, taskId)
    const offered = asked[0]?.tools?.map((tool) => tool.function.name) ?? []
    expect(offered.filter((name) => !['ask_user', 'wait_for_tasks'].includes(name))).toEqual(
      names.filter((name) => name !== 'task_wait'),
    )
  })
})
