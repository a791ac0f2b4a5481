// task:list, task:active and task:get of Agent OS: what they show, count and hide.
import { describe, expect, it } from 'vitest'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { reached, refusalOf, waysTo } from '../../engine/world.ts'
import { heldModel, modelOf, surface } from '../../operations/world.ts'
import { openManager } from './world.ts'

const setup = async () => {
  const { bus, engine, call } = await openManager()
  const make = async (name: string, parentId?: string) =>
    (await engine.create({ name, ...(parentId === undefined ? {} : { parentId }) })).id
  const names = (output: Record<string, unknown>) =>
    (output['tasks'] as Array<{ name: string }>).map(({ name }) => name)
  return { bus, engine, call, make, names }
}

describe('task:list', () => {
  it('S1-034 C-08 task:list shows the documented keys of each task and its canonical status', async () => {
    const { engine, call, make } = await setup()
    const parent = await make('parent')
    const task = await engine.create({ name: 'child', goal: 'Do it', role: 'doer', parentId: parent })
    await engine.start(task)
    const done = await engine.complete(task)
    expect(((await call('task:list', { parentTaskId: parent })) as { tasks: unknown[] }).tasks).toEqual([
      {
        id: task.id,
        goal: 'Do it',
        name: 'child',
        status: 'completed',
        canonicalStatus: 'completed',
        ready: false,
        statusReason: null,
        parentTaskId: parent,
        createdAt: task.createdAt,
        updatedAt: done.updatedAt,
        completedAt: done.completedAt,
      },
    ])
  })

  it('S1-033 S1-035 S0-088 task:list returns the latest first, up to the limit, with the total', async () => {
    const { call, make, names } = await setup()
    for (const name of ['a', 'b', 'c']) await make(name)
    const output = await call('task:list', { limit: 2 })
    expect([names(output), output['total']]).toEqual([['c', 'b'], 3])
    expect(await call('task:list', { limit: 0 })).toEqual({ tasks: [], total: 3 })
    for (const input of [{ limit: -1 }, { limit: 1.5 }, { status: 'done' }, { states: 'running' }]) {
      await refusalOf(call('task:list', input), 'INVALID_INPUT')
    }
  })

  it('S1-036 S1-033 task:list filters by parent and status', async () => {
    const { engine, call, make, names } = await setup()
    const root = await make('root')
    const one = await make('one', root)
    await make('two', root)
    await make('deep', one)
    await engine.start(one)
    expect(names(await call('task:list', { parentTaskId: root }))).toEqual(['two', 'one'])
    expect(names(await call('task:list', { parentTaskId: root, status: 'running' }))).toEqual(['one'])
  })

  it('S1-037 S1-033 task:list with status waiting includes every kind of waiting', async () => {
    const { engine, call, make, names } = await setup()
    for (const status of ['paused', 'input_required', 'waiting', 'working'] as const) {
      const id = await make(status)
      for (const next of waysTo[status]) await engine.update(id, { status: next })
    }
    await engine.release(await engine.claim(await make('released'), { owner: 'bob' }))
    expect(names(await call('task:list', { status: 'waiting' }))).toEqual(['waiting', 'input_required', 'paused'])
    expect(names(await call('task:list', { status: 'pending' }))).toEqual(['released'])
  })

  it('I25 task:list shows a caller with a task only those below it', async () => {
    const { bus, call, make, names } = await setup()
    const own = await make('own')
    const child = await make('child', own)
    await make('grandchild', child)
    const outsider = await make('outsider')
    await make('its child', outsider)
    const asModel = surface({ bus }, modelOf(own))
    const output = await asModel('task:list')
    expect([names(output), output['total']]).toEqual([['grandchild', 'child'], 2])
    expect(names(await asModel('task:active'))).toEqual(['grandchild', 'child'])
    expect(names(await asModel('task:list', { parentTaskId: own }))).toEqual(['child'])
    await refusalOf(asModel('task:list', { parentTaskId: outsider }), 'FORBIDDEN')
    expect((await call('task:list'))['total']).toBe(5)
  })
})

describe('task:active', () => {
  it('S0-058 S0-059 C-08 task:active lists tasks that have not ended, with the documented keys', async () => {
    const { engine, call, make, names } = await setup()
    const parent = await make('parent')
    const child = await make('child', parent)
    const over = await make('over')
    await engine.cancel(over)
    const output = await call('task:active')
    expect(names(output)).toEqual(['child', 'parent'])
    expect((output['tasks'] as unknown[])[0]).toMatchObject({
      id: child,
      parentTaskId: parent,
      createdAt: expect.any(Number) as number,
      updatedAt: expect.any(Number) as number,
      goal: 'child',
      status: 'pending',
    })
  })

  it('S0-060 task:active respects its limit: none for 0, and refuses negative limits', async () => {
    const { call, make } = await setup()
    for (const name of ['a', 'b', 'c']) await make(name)
    for (const limit of [0, 2]) expect((await call('task:active', { limit }))['tasks']).toHaveLength(limit)
    expect((await call('task:active'))['tasks']).toHaveLength(3)
    for (const limit of [-1, 'all', null]) await refusalOf(call('task:active', { limit }), 'INVALID_INPUT')
  })
})

describe('task:get', () => {
  const finished = async () => {
    const model = createScriptedModel([
      { text: 'Let me see', tools: [{ name: 'task_active', input: {} }], usage: { inputTokens: 10, outputTokens: 2 } },
      { tools: [{ name: 'no_such_tool', input: {} }], usage: { inputTokens: 20, outputTokens: 3 } },
      { text: 'Nothing', usage: { inputTokens: 30, outputTokens: 4 } },
    ])
    const { engine, call } = await openManager({ model })
    const task = await engine.create({ goal: 'Look', metadata: { team: 'red', iterationCount: 'mine' } })
    await engine.result(task)
    return { engine, call, taskId: task.id }
  }

  it('S1-038 S1-040 S1-001 S1-006 task:get shows the whole task, with the time of its end', async () => {
    const { engine, call, taskId } = await finished()
    const { task } = (await call('task:get', { taskId })) as { task: Record<string, unknown> }
    const { createdAt, updatedAt, completedAt } = (await engine.get(taskId)) as {
      createdAt: number
      updatedAt: number
      completedAt: number
    }
    expect(task).toMatchObject({
      id: taskId,
      goal: 'Look',
      status: 'completed',
      createdAt,
      updatedAt,
      completedAt,
      result: 'Nothing',
    })
    expect(task).toMatchObject({ completionStatus: 'success', error: null, questions: [], blockedBy: [] })
  })

  it('S1-003 S1-004 S1-005 C-71 task:get counts steps and tokens and shows the time of the last user message with the given metadata', async () => {
    const { engine, call, taskId } = await finished()
    const [, goal] = await engine.messages(taskId)
    expect((await call('task:get', { taskId }))['task']).toMatchObject({
      metadata: { team: 'red', iterationCount: 3, totalTokens: 69, lastMessageAt: goal?.timestamp },
    })
  })

  it('S1-039 S1-007 S1-009 S1-010 S1-011 task:get shows the conversation on request, as chat messages in order', async () => {
    const { call, taskId } = await finished()
    expect((await call('task:get', { taskId }))['task']).not.toHaveProperty('context')
    const { task } = (await call('task:get', { taskId, includeContext: true })) as { task: { context: unknown[] } }
    const called = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } })
    expect(task.context).toEqual([
      { role: 'system', content: 'You are a helpful AI assistant.' },
      { role: 'user', content: 'Look' },
      { role: 'assistant', content: 'Let me see', tool_calls: [called('call_1_1', 'task_active')] },
      { role: 'tool', name: 'task_active', tool_call_id: 'call_1_1', content: '{"tasks":[]}' },
      { role: 'assistant', content: '', tool_calls: [called('call_2_1', 'no_such_tool')] },
      {
        role: 'tool',
        name: 'no_such_tool',
        tool_call_id: 'call_2_1',
        content: expect.stringMatching(/^Error: Ability not found/) as string,
      },
      { role: 'assistant', content: 'Nothing' },
    ])
  })

  it("S1-008 task:get shows each task's own conversation, and no result of open calls", async () => {
    const held = heldModel()
    const { engine, call } = await openManager({ model: held.model })
    const one = await engine.create({ goal: 'One' })
    const two = await engine.create({ goal: 'Two' })
    ;(await held.asked(0)).answer.resolve({ tools: [{ name: 'ask_user', input: { question: 'Well?' } }] })
    await reached(engine, one, 'input_required')
    const contextOf = async (taskId: string) =>
      (
        (await call('task:get', { taskId, includeContext: true })) as {
          task: { context: Array<{ role: string; content: string }> }
        }
      ).task.context
    const contexts = [await contextOf(one.id), await contextOf(two.id)]
    expect(
      contexts.map((context) => context.filter(({ role }) => role === 'user').map(({ content }) => content)),
    ).toEqual([['One'], ['Two']])
    expect(contexts.flat().some(({ role }) => role === 'tool')).toBe(false)
  })

  it('S1-041 C-32 task:get refuses an unknown task', async () => {
    const { call } = await setup()
    const refusal = await refusalOf(call('task:get', { taskId: 'task-missing' }), 'NOT_FOUND')
    expect(refusal.message).toContain('Task not found: task-missing')
  })
})
