// The state of a task manager: running tasks, their limit, what shutdown releases, what the next manager finds, and what memory receives.
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type AgentBus,
  canSpawnTask,
  createAgentBus,
  createTaskManager,
  loadTaskContext,
  shutdownTaskManager,
} from '../../src/compat/agent-os.ts'
import { deferred, ledgerFile, refusalOf } from '../engine/world.ts'
import {
  ended,
  heldModel,
  listener,
  openManager,
  registerModel,
  registerTool,
  running,
  waitsForUser,
} from './agent-os-world.ts'

describe('A running task manager', () => {
  it('S0-098 S1-063 S1-064 S1-066 a task manager shows its running tasks until their runs end, and whether a slot is free', async () => {
    const model = heldModel()
    const { bus, state, invoke } = openManager({ reply: model.reply, maxConcurrentTasks: 2 })
    expect([state.activeTaskIds.size, state.canSpawnTask()]).toEqual([0, true])
    const { taskId: one } = await invoke('task:spawn', { goal: 'One' })
    expect([...state.activeTaskIds]).toEqual([one])
    expect(state.canSpawnTask()).toBe(true)
    const { taskId: two } = await invoke('task:spawn', { goal: 'Two' })
    const { taskId: three } = await invoke('task:spawn', { goal: 'Three' })
    expect([...state.activeTaskIds]).toEqual([one, two])
    expect([...state.executionLoops.keys()]).toEqual([one, two])
    expect(state.canSpawnTask()).toBe(false)
    expect(canSpawnTask(state)).toBe(false)

    const loop = state.executionLoops.get(one)
    ;(await model.began(0)).end({ content: 'One is done.' })
    await loop
    expect(state.activeTaskIds.has(one)).toBe(false)
    expect(state.executionLoops.get(one)).toBeUndefined()
    ;(await model.began(2)).end({ tools: [['ask_user', { question: 'Go on?' }]] })
    await running(state, 1)
    expect((await invoke('task:get', { taskId: three })).task.status).toBe('waiting')
    expect(state.canSpawnTask()).toBe(true)
    ;(await model.began(1)).end({ content: 'Two is done.' })
    await ended(bus, two)
    expect(await running(state, 0)).toEqual([])
  })

  it('S0-113 S1-025 S1-026 a task manager runs up to its limit, and queued tasks start by themselves, oldest first', async () => {
    const model = heldModel()
    const { bus, state, invoke } = openManager({ reply: model.reply, maxConcurrentTasks: 2 })
    const goals = ['first', 'second', 'third', 'fourth', 'fifth']
    const ids: string[] = []
    for (const goal of goals) ids.push((await invoke('task:spawn', { goal })).taskId)
    expect((await invoke('task:list', { status: 'pending' })).total).toBe(3)
    for (let index = 0; index < goals.length; index++) {
      const step = await model.began(index)
      expect(step.goal).toBe(goals[index])
      expect(model.held.length).toBeLessThanOrEqual(index + 2)
      expect(state.activeTaskIds.size).toBeLessThanOrEqual(2)
      step.end({ content: 'Done.' })
      await ended(bus, ids[index] as string)
    }
    expect((await invoke('task:list', { status: 'completed' })).total).toBe(5)
  })
})

describe('A task manager that shuts down', () => {
  it('S0-107 S0-108 S0-099 S0-098 shutdown releases running tasks and refuses new ones; the next manager continues them', async () => {
    const ledger = ledgerFile()
    const model = heldModel()
    const first = openManager({ ledger, reply: model.reply })
    const goals = ['first', 'second', 'third']
    const ids: string[] = []
    for (const goal of goals) ids.push((await first.invoke('task:create', { goal })).taskId)
    await model.began(2)
    const loops = [...first.state.executionLoops.values()]
    expect(loops).toHaveLength(3)
    await shutdownTaskManager(first.state, first.bus)
    await Promise.all(loops)
    expect([first.state.activeTaskIds.size, first.state.executionLoops.size]).toEqual([0, 0])
    await refusalOf(first.invoke('task:create', { goal: 'Too late' }), 'NOT_FOUND')
    expect(first.bus.abilities().filter(({ moduleName }) => ['task', 'ldg'].includes(moduleName))).toEqual([])
    await shutdownTaskManager(first.state)

    const second = openManager({ ledger, reply: () => ({ content: 'Done after all.' }) })
    for (const id of ids) expect(await ended(second.bus, id)).toMatchObject({ completionStatus: 'success' })
    expect((await loadTaskContext(ids[0] as string, second.bus)).map(({ content }) => content)).toEqual([
      'You are a helpful AI assistant.',
      'first',
      'Done after all.',
    ])
  })

  it('S0-107 shutdown waits for a call in flight and keeps its result', async () => {
    const ledger = ledgerFile()
    const began = deferred()
    const end = deferred<string>()
    const reply = (_input: unknown, step: number) =>
      step === 0 ? { tools: [['slow_work', {}] as [string, unknown]] } : { content: 'Worked.' }
    const first = openManager({ ledger, reply, shutdownTimeoutMs: 5_000 })
    registerTool(first.bus, 'slow:work', () => {
      began.resolve()
      return end.promise
    })
    const { taskId } = await first.invoke('task:create', { goal: 'Work slowly' })
    await began.promise
    const down = first.state.shutdown()
    end.resolve('worth the wait')
    await down

    const second = openManager({ ledger, reply })
    let again = 0
    registerTool(second.bus, 'slow:work', () => again++)
    expect(await ended(second.bus, taskId)).toMatchObject({ completionStatus: 'success' })
    const { calls } = await second.invoke('ldg:call:list', { taskId })
    expect(calls).toMatchObject([{ abilityName: 'slow:work', status: 'completed', details: '"worth the wait"' }])
    expect(again).toBe(0)
  })

  it('shutdown before the ledger is open, or a second time, does nothing', async () => {
    const state = createTaskManager(createAgentBus(), { ledger: ledgerFile() })
    await Promise.all([state.shutdown(), state.shutdown()])
    await state[Symbol.asyncDispose]()
    expect(state.activeTaskIds.size).toBe(0)
  })
})

describe('A task manager that finds unfinished tasks', () => {
  it('S0-104 S0-102 a new task manager runs unfinished tasks up to its limit and leaves finished ones', async () => {
    const ledger = ledgerFile()
    const before = heldModel()
    const first = openManager({ ledger, reply: before.reply })
    const { taskId: finished } = await first.invoke('task:create', { goal: 'Finished' })
    ;(await before.began(0)).end({ content: 'Done.' })
    const record = await ended(first.bus, finished)
    for (const goal of ['one', 'two', 'three', 'four']) await first.invoke('task:create', { goal })
    await before.began(4)
    await first.state.shutdown()

    const model = heldModel()
    const { bus, state, invoke } = openManager({ ledger, reply: model.reply, maxConcurrentTasks: 2 })
    for (let index = 0; index < 4; index++) {
      const step = await model.began(index)
      expect(state.activeTaskIds.size).toBeLessThanOrEqual(2)
      expect(model.held.length).toBeLessThanOrEqual(index + 2)
      step.end({ content: 'Done.' })
    }
    for (const { id } of (await invoke('task:list', {})).tasks) await ended(bus, id)
    expect(model.held.map(({ goal }) => goal).sort()).toEqual(['four', 'one', 'three', 'two'])
    expect((await invoke('ldg:task:get', { taskId: finished })).task).toEqual(record)
  })

  it('S0-105 a new task manager finds tasks that wait for the user still waiting', async () => {
    const ledger = ledgerFile()
    const asking = () => ({ tools: [['ask_user', { question: 'Which?' }] as [string, unknown]] })
    const first = openManager({ ledger, reply: asking })
    const { taskId } = await first.invoke('task:create', { goal: 'Choose' })
    await waitsForUser(first.state, taskId)
    await first.state.shutdown()

    const second = openManager({ ledger, reply: () => ({ content: 'Chosen.' }) })
    await second.state.ready
    expect((await second.invoke('task:get', { taskId })).task).toMatchObject({
      status: 'waiting',
      canonicalStatus: 'input_required',
    })
    expect(second.asked).toEqual([])
    await second.invoke('task:send', { taskId, message: 'The blue one' })
    expect(await ended(second.bus, taskId)).toMatchObject({ completionStatus: 'success' })
  })
})

describe('Two task managers on one file', () => {
  it("S0-109 two task managers on one file see the same tasks, run each once, and do not touch each other's calls", async () => {
    const ledger = ledgerFile()
    const began = deferred()
    const end = deferred<string>()
    const reply = (_input: unknown, step: number) =>
      step === 0 ? { tools: [['slow_work', {}] as [string, unknown]] } : { content: 'Worked.' }
    const first = openManager({ ledger, reply })
    registerTool(first.bus, 'slow:work', () => {
      began.resolve()
      return end.promise
    })
    const { taskId } = await first.invoke('task:create', { goal: 'Work slowly' })
    await began.promise

    const second = openManager({ ledger, reply: () => ({ content: 'By the second one.' }) })
    await second.state.ready
    expect((await second.invoke('ldg:call:list', { taskId })).calls).toMatchObject([{ status: 'in_progress' }])
    expect((await second.invoke('task:get', { taskId })).task.status).toBe('running')
    expect([...first.state.activeTaskIds]).toEqual([taskId])
    expect(second.state.activeTaskIds.size).toBe(0)

    end.resolve('kept')
    expect(await ended(second.bus, taskId)).toMatchObject({ completionStatus: 'success' })
    expect((await first.invoke('ldg:call:list', { taskId })).calls).toMatchObject([
      { status: 'completed', details: '"kept"' },
    ])
    expect((await loadTaskContext(taskId, second.bus)).at(-1)?.content).toBe('Worked.')
    expect(second.asked).toEqual([])
  })
})

describe('With memory abilities on the bus', () => {
  /** The calls that memory received. */
  function memory(bus: AgentBus) {
    const { received: memoryCalls, receive, until } = listener<[ability: string, input: any]>()
    for (const id of ['mem:save', 'mem:archive']) registerTool(bus, id, (input) => receive([id, input]))
    return { memoryCalls, received: (count: number) => until((calls) => calls.length >= count) }
  }

  it('S1-069 memory receives a completed task through mem:save, then its conversation through mem:archive', async () => {
    const { bus, invoke } = openManager({ reply: () => ({ content: 'The answer is 42.' }) })
    const { memoryCalls, received } = memory(bus)
    const { taskId } = await invoke('task:spawn', { goal: 'Compute' })
    await received(2)
    expect(memoryCalls.map(([ability]) => ability)).toEqual(['mem:save', 'mem:archive'])
    expect(memoryCalls[0]?.[1].task).toMatchObject({ id: taskId, goal: 'Compute', status: 'completed' })
    expect(memoryCalls[0]?.[1]).not.toHaveProperty('error')
    expect(memoryCalls[1]?.[1].taskId).toBe(taskId)
    expect(memoryCalls[1]?.[1].context.map(({ role, content }: any) => `${role}: ${content}`)).toEqual([
      'system: You are a helpful AI assistant.',
      'user: Compute',
      'assistant: The answer is 42.',
    ])
  })

  it('S1-067 memory receives a failed task with its error, unless archiveFailed is false', async () => {
    const failing = () => ({ tools: [['task_list', {}] as [string, unknown]] })
    const { bus, invoke } = openManager({ reply: failing, maxIterationsPerTask: 1 })
    const { memoryCalls, received } = memory(bus)
    const { taskId } = await invoke('task:spawn', { goal: 'Fail' })
    await received(1)
    expect(memoryCalls).toMatchObject([
      ['mem:save', { task: { id: taskId, status: 'failed' }, error: 'Maximum iterations reached' }],
    ])

    const silent = openManager({ reply: failing, maxIterationsPerTask: 1, archiveFailed: false })
    const nothing = memory(silent.bus)
    const { taskId: other } = await silent.invoke('task:spawn', { goal: 'Fail' })
    await ended(silent.bus, other)
    await silent.state.shutdown()
    expect(nothing.memoryCalls).toEqual([])
  })

  it('S1-068 memory receives every active task at shutdown', async () => {
    const bus = createAgentBus()
    const model = heldModel()
    registerModel(bus, model.reply)
    const { memoryCalls } = memory(bus)
    const state = createTaskManager(bus, { shutdownTimeoutMs: 100 })
    onTestFinished(() => state.shutdown())
    const ids: string[] = []
    for (const goal of ['one', 'two']) {
      const created = JSON.parse(await bus.invoke('task:create')(JSON.stringify({ goal })))
      ids.push(created.taskId)
    }
    await model.began(1)
    await state.shutdown()
    expect(memoryCalls.map(([ability, { task }]) => [ability, task.id])).toEqual(ids.map((id) => ['mem:save', id]))
    expect(memoryCalls.map(([, { task }]) => task.goal)).toEqual(['one', 'two'])
  })
})
