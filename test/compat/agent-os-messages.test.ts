// Messages of Agent OS: routing a user's message to its task, helpers that read and write conversations, and output to the user.
import { describe, expect, it } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import {
  createAgentBus,
  createModelManager,
  extractExplicitTaskId,
  handleUserMessage,
  loadTask,
  loadTaskContext,
  routeMessage,
  saveMessage,
  type TaskOutput,
  type UserOutput,
} from '../../src/compat/agent-os.ts'
import { ledgerFile, refusalOf } from '../engine/world.ts'
import { ended, heldModel, listener, openManager, running, waitsForUser } from './agent-os-world.ts'

const answer = () => ({ content: 'All done.' })
const spokenIn = async (taskId: string, bus: Parameters<typeof loadTaskContext>[1]) =>
  (await loadTaskContext(taskId, bus)).map(({ role, content }) => `${role}: ${content}`)

describe('The mention of a task', () => {
  it('S0-037 S0-039 extractExplicitTaskId reads a mention at the beginning of a message only', () => {
    expect(extractExplicitTaskId('@task-abc123 Please also check Q2 data')).toBe('task-abc123')
    expect(extractExplicitTaskId('@task-abc123')).toBe('task-abc123')
    expect(extractExplicitTaskId('Ask @task-abc123 about Q2')).toBeUndefined()
    expect(extractExplicitTaskId('@task-ABC Please')).toBeUndefined()
    expect(extractExplicitTaskId('Please also check Q2 data')).toBeUndefined()
  })
})

describe("A user's message", () => {
  it("S0-029 S0-032 a user's message creates a task if there is none, which then runs", async () => {
    const { bus, invoke } = openManager({ reply: answer })
    expect(await routeMessage('Analyze Q1', bus)).toBeNull()
    const { taskId, did } = await handleUserMessage('Analyze Q1', bus)
    expect(did).toBe('created')
    expect(await ended(bus, taskId as string)).toMatchObject({ completionStatus: 'success' })
    expect(await spokenIn(taskId as string, bus)).toContain('user: Analyze Q1')
    expect((await invoke('task:list', {})).total).toBe(1)
  })

  it("S0-029 S0-033 S1-028 a user's message is appended to the only open task and answered before that ends", async () => {
    const model = heldModel()
    const { bus } = openManager({ reply: model.reply })
    const { taskId } = await handleUserMessage('Analyze Q1', bus)
    const first = await model.began(0)
    expect(await routeMessage('Also check Q2', bus)).toBe(taskId)
    expect(await handleUserMessage('Also check Q2', bus)).toEqual({ taskId, did: 'sent', status: 'running' })
    first.end({ content: 'Q1 is fine.' })
    const second = await model.began(1)
    second.end({ content: 'Q2 is fine, too.' })
    await ended(bus, taskId as string)
    expect((await spokenIn(taskId as string, bus)).slice(1)).toEqual([
      'user: Analyze Q1',
      'user: Also check Q2',
      'assistant: Q1 is fine.',
      'assistant: Q2 is fine, too.',
    ])
  })

  it("S0-036 S0-041 S0-040 a user's message goes without its mention to the mentioned task and never to another", async () => {
    const model = heldModel()
    const { bus, asked, invoke } = openManager({ reply: model.reply })
    const { taskId } = await invoke('task:create', { goal: 'Analyze Q1' })
    const { taskId: other } = await invoke('task:create', { goal: 'Write a poem' })
    await model.began(1)
    const steps = asked.length
    expect(await handleUserMessage(`@${taskId} Focus on regions`, bus)).toMatchObject({ taskId, did: 'sent' })
    expect(await spokenIn(taskId, bus)).toContain('user: Focus on regions')

    await invoke('task:kill', { taskId })
    for (const unreachable of [taskId, 'task-unknown']) {
      const handled = await handleUserMessage(`@${unreachable} Focus on regions`, bus)
      expect(handled).toMatchObject({ taskId: null, did: 'nothing', reason: expect.stringContaining(unreachable) })
    }
    expect(await handleUserMessage(`@${other}`, bus)).toMatchObject({ taskId: other, did: 'nothing' })
    expect(await spokenIn(other, bus)).not.toContain('user: Focus on regions')
    expect((await invoke('task:list', {})).total).toBe(2)
    // The model was not asked to route.
    expect(asked).toHaveLength(steps)
  })

  it("S0-034 S0-035 S1-057 the model decides which of several tasks receives a user's message", async () => {
    const bus = createAgentBus()
    const model = createScriptedModel(({ goal, messages }) => {
      if (!messages[0]?.text.includes('You route messages'))
        return { tools: [{ name: 'ask_user', input: { question: '?' } }] }
      const { message, tasks } = JSON.parse(goal) as { message: string; tasks: Array<{ id: string; goal: string }> }
      const meant = tasks.find((task) => message.includes(task.goal.split(' ').at(-1) as string))
      return { text: JSON.stringify({ taskId: meant?.id ?? null }) }
    })
    createModelManager(bus, { model })
    const { state, invoke } = openManager({ bus })
    const { taskId: sales } = await invoke('task:create', { goal: 'Analyze sales' })
    const { taskId: poem } = await invoke('task:create', { goal: 'Write a poem' })
    await waitsForUser(state, sales)
    await waitsForUser(state, poem)
    expect(await routeMessage('Make the poem shorter', bus)).toBe(poem)
    expect(await routeMessage('Which sales were best?', bus)).toBe(sales)
    expect(await routeMessage('Order pizza', bus)).toBeNull()
    expect(model.prompts.at(-1)?.messages.map(({ role }) => role)).toEqual(['system', 'user'])
  })

  it("S1-029 a user's message answers a task that waits for input, which runs again", async () => {
    const { bus, state, invoke } = openManager({
      reply: (input, step) =>
        step === 0
          ? { tools: [['ask_user', { question: 'Which quarter?' }]] }
          : { content: `Fine: ${input.messages.at(-1)?.content}` },
    })
    const { taskId } = await invoke('task:create', { goal: 'Analyze' })
    await waitsForUser(state, taskId)
    expect((await invoke('task:get', { taskId })).task.status).toBe('waiting')
    expect(await handleUserMessage('The first one', bus)).toMatchObject({ taskId, did: 'sent' })
    expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'success' })
    expect((await spokenIn(taskId, bus)).at(-1)).toContain('The first one')
  })

  it('handleUserMessage refuses an invalid message and a bus without a task manager', async () => {
    await refusalOf(handleUserMessage(7 as never, createAgentBus()), 'INVALID_INPUT')
    await refusalOf(handleUserMessage('Hello', createAgentBus()), 'NOT_FOUND')
    await refusalOf(routeMessage('Hello', createAgentBus()), 'NOT_FOUND')
  })
})

describe('The helpers of the ledger', () => {
  it('S0-095 loadTask returns a task by id and names an unknown id', async () => {
    const { bus, invoke } = openManager({ reply: answer })
    const { taskId } = await invoke('task:create', { goal: 'Be there' })
    expect(await loadTask(taskId, bus)).toMatchObject({ id: taskId, systemPrompt: 'You are a helpful AI assistant.' })
    const refusal = await refusalOf(loadTask('task-stopped', bus), 'NOT_FOUND')
    expect(refusal.message).toBe('Task not found: task-stopped')
  })

  it('S0-096 saveMessage returns the stored message with id and time', async () => {
    const model = heldModel()
    const { bus, invoke } = openManager({ reply: model.reply })
    const { taskId } = await invoke('task:create', { goal: 'Listen' })
    await model.began(0)
    const { createdAt } = await loadTask(taskId, bus)
    const saved = await saveMessage(taskId, 'user', 'A word of **mine**', bus)
    expect(saved).toEqual({
      id: expect.stringMatching(/^msg-/),
      taskId,
      role: 'user',
      content: 'A word of **mine**',
      timestamp: expect.any(Number),
      announcement: false,
    })
    expect(saved.timestamp).toBeGreaterThanOrEqual(createdAt)
    expect(await loadTaskContext(taskId, bus)).toContainEqual(saved)

    const before = await loadTaskContext(taskId, bus)
    await refusalOf(saveMessage('task-stopped', 'user', 'Hello?', bus), 'NOT_FOUND')
    await refusalOf(saveMessage(taskId, 'outsider' as never, 'Hello?', bus), 'INVALID_INPUT')
    expect(await loadTaskContext(taskId, bus)).toEqual(before)
    await refusalOf(loadTaskContext('task-stopped', bus), 'NOT_FOUND')
  })
})

describe('emitToUser', () => {
  const isEnd = ({ type }: UserOutput) => type === 'task_complete'

  it('S0-063 S0-066 emitToUser receives each piece of text at once, then the completion of the task', async () => {
    const { received, receive, until } = listener<UserOutput>()
    const model = heldModel()
    const { invoke } = openManager({
      emitToUser: receive,
      reply: (input, step) =>
        step === 0 ? { content: 'Let me look. ', tools: [['task_list', {}]] } : model.reply(input),
    })
    const { taskId } = await invoke('task:create', { goal: 'Look' })
    await until((outputs) => outputs.length > 0)
    const step = await model.began(0)
    expect(received.some(isEnd)).toBe(false)
    step.end({ content: 'Nothing there.' })
    await until((outputs) => outputs.some(isEnd))
    const contents = received.flatMap((output) => (output.type === 'content' ? [output.content] : []))
    expect(contents.join('')).toBe('Let me look. Nothing there.')
    expect(received.findIndex(isEnd)).toBe(received.length - 1)
    expect(received.at(-1)).toEqual({ type: 'task_complete', taskId, status: 'success' })
  })

  it('S0-066 emitToUser receives the end of failed and cancelled tasks', async () => {
    const { received, receive, until } = listener<UserOutput>()
    const model = heldModel()
    const { state, invoke } = openManager({ emitToUser: receive, reply: model.reply, maxIterationsPerTask: 1 })
    const { taskId: failing } = await invoke('task:create', { goal: 'Fail' })
    ;(await model.began(0)).end({ tools: [['task_list', {}]] })
    await until((outputs) => outputs.filter(isEnd).length === 1)
    const { taskId: cancelled } = await invoke('task:create', { goal: 'Cancel' })
    await model.began(1)
    expect(await running(state, 1)).toEqual([cancelled])
    await invoke('task:cancel', { taskId: cancelled, reason: 'enough' })
    await until((outputs) => outputs.filter(isEnd).length === 2)
    expect(received.filter(isEnd)).toEqual([
      { type: 'task_complete', taskId: failing, status: 'failed: Maximum iterations reached' },
      { type: 'task_complete', taskId: cancelled, status: 'cancelled' },
    ])
  })

  it('emitToUser receives the output and end of a retry', async () => {
    const { received, receive, until } = listener<UserOutput>()
    let answers = 0
    const { state, invoke } = openManager({
      emitToUser: receive,
      maxIterationsPerTask: 1,
      reply: () => (answers++ === 0 ? { tools: [['task_list', {}]] } : answer()),
    })
    const { taskId } = await invoke('task:create', { goal: 'Try' })
    await until((outputs) => outputs.filter(isEnd).length === 1)
    await (await state.engine).retry(taskId)
    await until((outputs) => outputs.filter(isEnd).length === 2)
    expect(received.map((output) => (output.type === 'content' ? output.content : output.status))).toEqual([
      'failed: Maximum iterations reached',
      'All ',
      'done.',
      'success',
    ])
  })

  it('emitToUser does not receive output that an earlier manager has emitted', async () => {
    const ledger = ledgerFile()
    const first = listener<UserOutput>()
    const model = heldModel()
    const before = openManager({
      ledger,
      emitToUser: first.receive,
      reply: (input, step) => (step === 0 ? { content: 'Before. ', tools: [['task_list', {}]] } : model.reply(input)),
    })
    const { taskId } = await before.invoke('task:create', { goal: 'Go on' })
    await model.began(0)
    await before.state.shutdown()
    expect(first.received).toMatchObject([{ type: 'content', content: 'Before. ' }])

    const second = listener<UserOutput>()
    openManager({ ledger, emitToUser: second.receive, reply: () => ({ content: 'After.' }) })
    await second.until((outputs) => outputs.some(isEnd))
    expect(second.received).toMatchObject([
      { type: 'content', taskId, content: 'After.' },
      { type: 'task_complete', taskId, status: 'success' },
    ])
  })

  it('an error of emitToUser is reported and does not change how the task ends', async () => {
    const reports = listener<unknown>()
    const { bus, invoke } = openManager({
      reply: answer,
      onError: reports.receive,
      emitToUser: () => {
        throw new Error('the screen is broken')
      },
    })
    const { taskId } = await invoke('task:create', { goal: 'Speak' })
    expect(await ended(bus, taskId)).toMatchObject({ completionStatus: 'success' })
    await reports.until((errors) => errors.length === 3)
    expect(reports.received.map(String)).toEqual(Array(3).fill('Error: the screen is broken'))
  })
})

describe('onOutput', () => {
  it('S1-065 S1-017 S1-019 onOutput passes the whole output of a task to each listener, from its start on', async () => {
    const model = heldModel()
    const { state, invoke } = openManager({ reply: model.reply })
    const { taskId } = await invoke('task:spawn', { goal: 'Talk' })
    const { taskId: silent } = await invoke('task:spawn', { goal: 'Say nothing' })
    const [one, two, late, stopped, other] = [1, 2, 3, 4, 5].map(() => listener<TaskOutput>())
    if (!one || !two || !late || !stopped || !other) throw new Error('five listeners')
    state.onOutput(taskId, one.receive)
    state.onOutput(taskId, two.receive)
    state.onOutput(silent, other.receive)
    const leave = state.onOutput(taskId, stopped.receive)
    for (const each of [one, two, stopped, other]) await each.until((outputs) => outputs.length === 1)
    leave()
    ;(await model.began(0)).end({ content: 'That was it.' })
    const isOver = (outputs: readonly TaskOutput[]) => outputs.at(-1)?.type === 'end'
    await one.until(isOver)
    await two.until(isOver)
    state.onOutput(taskId, late.receive)
    await late.until(isOver)
    expect(one.received.map(({ type }) => type)).toEqual(['start', 'content', 'content', 'content', 'end'])
    expect(two.received).toEqual(one.received)
    expect(late.received).toMatchObject([
      { type: 'start' },
      { type: 'content', content: 'That was it.' },
      { type: 'end' },
    ])
    expect(stopped.received).toEqual([{ type: 'start', taskId, goal: 'Talk' }])
    expect(other.received).toEqual([{ type: 'start', taskId: silent, goal: 'Say nothing' }])
  })

  it('onOutput reports an unknown task and a listener that throws', async () => {
    const reports = listener<unknown>()
    const { state, invoke } = openManager({ reply: answer, onError: reports.receive })
    state.onOutput('task-stopped', () => {})
    await reports.until((errors) => errors.length === 1)
    expect(reports.received[0]).toMatchObject({ code: 'NOT_FOUND' })
    const { taskId } = await invoke('task:create', { goal: 'Speak' })
    state.onOutput(taskId, () => {
      throw new Error('deaf')
    })
    await reports.until((errors) => errors.length === 2)
    expect(String(reports.received[1])).toBe('Error: deaf')
    await refusalOf(() => state.onOutput(taskId, 'no function' as never), 'INVALID_INPUT')
  })
})
