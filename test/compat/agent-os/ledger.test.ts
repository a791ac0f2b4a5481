// The ledger abilities: reading and saving records of tasks, calls and messages, for programs that work on tasks themselves.
import { describe, expect, it } from 'vitest'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import type { TaskStatus } from '../../../src/entities/task.ts'
import { echo, tool } from '../../agents/world.ts'
import { history, puppet, reached, refusalOf, typesOf, waysTo } from '../../engine/world.ts'
import { heldModel } from '../../operations/world.ts'
import { openManager } from './world.ts'

const setup = async () => {
  const { engine, call } = await openManager()
  const save = (task: Record<string, unknown>) => call('ldg:task:save', { task })
  const read = async (taskId: string) => (await call('ldg:task:get', { taskId }))['task'] as Record<string, unknown>
  return { engine, call, save, read }
}

describe('ldg:task:save', () => {
  it('S0-083 S0-001 S0-003 S0-007 S0-028 ldg:task:save creates a task with the state of its record, in progress until saved as settled', async () => {
    const { engine, save, read } = await setup()
    const record = { id: 'task-mine', systemPrompt: 'Be brief.', createdAt: 1_000, updatedAt: 1_000 }
    expect(await save(record)).toEqual({ success: true })
    const saved = await read('task-mine')
    expect(saved).toMatchObject({ ...record, canonicalStatus: 'working' })
    expect(saved).not.toHaveProperty('completionStatus')
    expect(await engine.get('task-mine')).toMatchObject({ status: 'working', executor: null, createdAt: 1_000 })
  })

  it.each([
    ['success', 'success', ['task.created', 'task.started', 'task.completed']],
    ['cancelled', 'cancelled', ['task.created', 'task.canceled']],
    ['killed', 'cancelled', ['task.created', 'task.canceled']],
    ['failed', 'failed', ['task.created', 'task.started', 'task.failed']],
    ['failed: no disk', 'failed: no disk', ['task.created', 'task.started', 'task.failed']],
    ['no disk', 'failed: no disk', ['task.created', 'task.started', 'task.failed']],
  ])(
    'S0-004 S0-005 S0-006 S0-009 S0-094 ldg:task:save moves a new task that is %s along its edges, each with an event',
    async (given, shown, types) => {
      const { engine, save, read } = await setup()
      await save({ id: 'task-new', completionStatus: given })
      expect(await read('task-new')).toMatchObject({ completionStatus: shown })
      expect(typesOf(await history(engine))).toEqual(types)
    },
  )

  it('S0-083 S0-094 ldg:task:save moves an existing task from any state along legal edges', async () => {
    for (const from of ['submitted', 'working', 'paused', 'input_required', 'waiting'] as const) {
      for (const completionStatus of ['success', 'failed: broke', 'cancelled']) {
        const { engine, save, read } = await setup()
        const { id } = await engine.create({ name: 'by hand' })
        for (const next of waysTo[from]) await engine.update(id, { status: next })
        await save({ id, completionStatus })
        expect([from, (await read(id))['completionStatus']]).toEqual([from, completionStatus])
      }
    }
  })

  it('S0-094 ldg:task:save neither reopens a settled task nor ends it otherwise, and repeated changes nothing', async () => {
    const { engine, save } = await setup()
    const outcomes = ['success', 'cancelled', 'failed: broke', null]
    for (const first of outcomes.slice(0, 3)) {
      const id = `task-${first?.slice(0, 4)}`
      await save({ id, completionStatus: first })
      const before = [await engine.get(id), (await history(engine)).length]
      for (const next of outcomes) {
        if (next === first) await save({ id, completionStatus: next })
        else await refusalOf(save({ id, completionStatus: next }), 'INVALID_TRANSITION')
      }
      expect([await engine.get(id), (await history(engine)).length]).toEqual(before)
    }
  })

  it('S0-083 ldg:task:save accepts a record as it was read and changes nothing', async () => {
    const { engine, save, read } = await setup()
    const { id } = await engine.create({ name: 'by hand' })
    await engine.pause(await engine.start(id))
    const before = await history(engine)
    await save(await read(id))
    expect(await history(engine)).toEqual(before)
    await save({ ...(await read(id)), systemPrompt: 'Be brief.' })
    expect(await read(id)).toMatchObject({ systemPrompt: 'Be brief.', canonicalStatus: 'paused' })
  })

  it('S0-094 ldg:task:save does not complete a task that an executor runs', async () => {
    const hands = puppet()
    const { engine, call } = await openManager({ executors: { work: hands.executor } })
    const save = (task: object) => call('ldg:task:save', { task })
    const { id } = await engine.create({ executor: 'work', autoStart: false })
    const before = await history(engine)
    await refusalOf(save({ id, completionStatus: 'success' }), 'INVALID_TRANSITION')
    expect(await history(engine)).toEqual(before)
    expect(await engine.get(id)).toMatchObject({ status: 'submitted', ready: false })
    await save({ id, completionStatus: 'cancelled' })
    expect(await engine.get(id)).toMatchObject({ status: 'canceled' })
  })

  it('ldg:task:save refuses other parents, invalid and used ids, and instructions that an agent has read otherwise', async () => {
    const { engine, save } = await setup()
    const parent = await engine.create({ name: 'parent' })
    await save({ id: 'task-child', parentTaskId: parent.id })
    expect(await engine.get('task-child')).toMatchObject({ parentId: parent.id })
    await save({ id: 'task-child' })
    await refusalOf(save({ id: 'task-child', parentTaskId: 'task-other' }), 'KEY_CONFLICT')
    await refusalOf(save({ id: 'task-new', parentTaskId: 'task-missing' }), 'NOT_FOUND')
    await refusalOf(save({ id: 'Task 1' }), 'INVALID_INPUT')
    await engine.delete('task-child')
    await refusalOf(save({ id: 'task-child' }), 'KEY_CONFLICT')
    const withAgent = await openManager({ model: heldModel().model })
    const { id } = await withAgent.engine.create({ goal: 'Go', autoStart: false })
    const change = withAgent.call('ldg:task:save', { task: { id, systemPrompt: 'Be rude.' } })
    await refusalOf(change, 'INVALID_INPUT')
  })
})

describe('ldg:task:get and ldg:task:query', () => {
  it('S0-084 S0-095 C-32 ldg:task:get returns the record of a task, and null for an unknown id', async () => {
    const { engine, read } = await setup()
    expect(await read('task-missing')).toBe(null)
    const { id } = await engine.create({ name: 'left' })
    await engine.delete(id)
    expect(await read(id)).toBe(null)
  })

  it('S0-085 S0-086 C-02 C-03 ldg:task:query filters by completion status and parent, with null for unsettled tasks', async () => {
    const { engine, call, save } = await setup()
    await save({ id: 'task-root' })
    await save({ id: 'task-done', parentTaskId: 'task-root', completionStatus: 'success' })
    await save({ id: 'task-open', parentTaskId: 'task-root' })
    await save({ id: 'task-broke', completionStatus: 'failed: broke' })
    await save({ id: 'task-burnt', completionStatus: 'failed: burnt' })
    const found = async (query: object) =>
      ((await call('ldg:task:query', query))['tasks'] as Array<{ id: string }>).map(({ id }) => id)
    expect(await found({ parentTaskId: 'task-root', completionStatus: 'null' })).toEqual(['task-open'])
    expect(await found({ completionStatus: null })).toEqual(['task-open', 'task-root'])
    expect(await found({})).toEqual(['task-burnt', 'task-broke', 'task-open', 'task-done', 'task-root'])
    expect(await found({ completionStatus: 'success' })).toEqual(['task-done'])
    expect(await found({ completionStatus: 'failed' })).toEqual(['task-burnt', 'task-broke'])
    expect(await found({ completionStatus: 'failed: broke' })).toEqual(['task-broke'])
    expect(await found({ status: 'failed', completionStatus: 'failed: burnt' })).toEqual(['task-burnt'])
    expect(await found({ status: 'working', completionStatus: 'success' })).toEqual([])
    expect(await engine.get('task-open')).toMatchObject({ status: 'working' })
  })

  it('S0-087 S0-088 ldg:task:query filters by time, latest first, in pages, with the total', async () => {
    const { call, save } = await setup()
    for (let n = 1; n <= 5; n++) await save({ id: `task-${n}`, createdAt: n * 100 })
    const page = async (query: object) => {
      const { tasks, total } = (await call('ldg:task:query', query)) as { tasks: Array<{ id: string }>; total: number }
      return [tasks.map(({ id }) => id), total]
    }
    expect(await page({ limit: 2 })).toEqual([['task-5', 'task-4'], 5])
    expect(await page({ limit: 2, offset: 4 })).toEqual([['task-1'], 5])
    expect(await page({ fromTime: 200, toTime: 300 })).toEqual([['task-3', 'task-2'], 2])
    expect(await page({ limit: 0 })).toEqual([[], 5])
    await refusalOf(page({ limit: -1 }), 'INVALID_INPUT')
  })

  it('S0-088 ldg:task:query returns a hundred records by default', async () => {
    const { engine, call } = await setup()
    await engine.create(Array.from({ length: 101 }, (_, n) => ({ name: `n ${n}` })))
    const { tasks, total } = (await call('ldg:task:query')) as { tasks: unknown[]; total: number }
    expect([tasks.length, total]).toEqual([100, 101])
    expect((await call('task:list'))['tasks']).toHaveLength(100)
  })
})

describe('ldg:call:list', () => {
  it('S0-090 S0-011 S0-013 S0-014 S0-015 S0-016 S0-017 S0-115 ldg:call:list shows the calls of a run in order, with input and output as JSON text', async () => {
    const failing = tool('test:broken', () => {
      throw new Error('no such file')
    })
    const model = createScriptedModel([
      {
        tools: [
          { name: 'test_echo', input: { text: 'hi' } },
          { name: 'test_broken', input: {} },
        ],
      },
      { text: 'Done' },
    ])
    const { engine, call } = await openManager({ model, abilities: [echo, failing] })
    const { taskId } = (await call('task:create', { goal: 'Go' })) as { taskId: string }
    await engine.result(taskId)
    const { calls } = (await call('ldg:call:list', { taskId })) as { calls: Array<Record<string, unknown>> }
    const times = { createdAt: expect.any(Number) as number, updatedAt: expect.any(Number) as number }
    const announced = { startMessageId: expect.any(String) as string, endMessageId: expect.any(String) as string }
    const id = expect.any(String) as string
    expect(calls).toEqual([
      {
        id,
        taskId,
        abilityName: 'test:echo',
        parameters: '{"text":"hi"}',
        status: 'completed',
        details: '"hi"',
        ...times,
        ...announced,
      },
      {
        id,
        taskId,
        abilityName: 'test:broken',
        parameters: '{}',
        status: 'failed',
        details: id,
        ...times,
        ...announced,
      },
    ])
    expect(JSON.parse(calls[1]?.['details'] as string)).toEqual({
      error: 'no such file',
      stack: expect.stringContaining('no such file') as string,
    })
    const { messages } = (await call('ldg:msg:list', { taskId })) as {
      messages: Array<{ id: string; announcement: boolean }>
    }
    for (const { startMessageId, endMessageId } of calls) {
      for (const each of [startMessageId, endMessageId]) {
        expect(messages.find((message) => message.id === each)).toMatchObject({ announcement: true })
      }
    }
    expect((await call('ldg:task:get', { taskId }))['task']).toMatchObject({ completionStatus: 'success' })
  })

  it('S0-015 ldg:call:list shows the notes of a call in progress, at first none, and omits questions', async () => {
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const noted = Promise.withResolvers<void>()
    const { engine, call } = await openManager({
      executors: {
        work: async (_task: ExecutorTask, run: Run) => {
          await run.call('slow', async (_params, { note }) => {
            begun.resolve()
            await goOn.promise
            await note({ page: 3 })
            noted.resolve()
            await new Promise((_resolve, reject) =>
              run.signal.addEventListener('abort', () => reject(new Error('stopped'))),
            )
          })
        },
      },
    })
    const { id: taskId } = await engine.create({ executor: 'work' })
    const shown = async () =>
      ((await call('ldg:call:list', { taskId }))['calls'] as Array<Record<string, unknown>>).map(
        ({ abilityName, status, details, startMessageId }) => [abilityName, status, details, startMessageId],
      )
    await begun.promise
    expect(await shown()).toEqual([['slow', 'in_progress', '{}', '']])
    goOn.resolve()
    await noted.promise
    expect(await shown()).toEqual([['slow', 'in_progress', '{"page":3}', '']])
    await refusalOf(call('ldg:call:list', { taskId: 'task-missing' }), 'NOT_FOUND')
    const asking = await openManager({ executors: { ask: (_task: ExecutorTask, run: Run) => run.ask('Go?') } })
    const asked = await asking.engine.create({ executor: 'ask' })
    await reached(asking.engine, asked, 'input_required')
    expect(await asking.call('ldg:call:list', { taskId: asked.id })).toEqual({ calls: [] })
  })
})

describe('ldg:call:save', () => {
  const withTask = async () => {
    const { engine, call, save } = await setup()
    await save({ id: 'task-mine' })
    const record = { id: 'call-1', taskId: 'task-mine', abilityName: 'mem:retrieve', parameters: '{"query":"x"}' }
    const saveCall = (more: object) => call('ldg:call:save', { call: { ...record, ...more } })
    const calls = async () =>
      (await call('ldg:call:list', { taskId: 'task-mine' }))['calls'] as Array<Record<string, unknown>>
    return { engine, call, record, saveCall, calls }
  }

  it('S0-089 S0-018 S0-023 ldg:call:save stores a call and moves it forward, each state with its event', async () => {
    const { engine, call, saveCall, calls } = await withTask()
    await call('ldg:msg:save', { message: { id: 'msg-a', taskId: 'task-mine', role: 'assistant', content: 'Calling' } })
    expect(await saveCall({ status: 'pending', details: '{}', createdAt: 5, startMessageId: 'msg-a' })).toEqual({
      success: true,
    })
    await saveCall({ status: 'in_progress', details: '{"page":1}', startMessageId: 'msg-a' })
    expect(await calls()).toMatchObject([
      { status: 'in_progress', details: '{"page":1}', createdAt: 5, startMessageId: 'msg-a' },
    ])
    await call('ldg:msg:save', { message: { id: 'msg-b', taskId: 'task-mine', role: 'assistant', content: 'Done' } })
    await saveCall({ status: 'completed', details: '{"chunks":[]}', endMessageId: 'msg-b' })
    expect(await calls()).toMatchObject([
      { status: 'completed', details: '{"chunks":[]}', startMessageId: 'msg-a', endMessageId: 'msg-b' },
    ])
    expect(typesOf(await history(engine)).filter((type) => type.startsWith('call.'))).toEqual([
      'call.started',
      'call.completed',
    ])
  })

  it('a saved call is shown with those of the generation in which its task was then', async () => {
    const { engine, saveCall } = await withTask()
    await saveCall({ status: 'pending' })
    const { generation } = (await engine.get('task-mine')) as { generation: number }
    expect((await engine.calls('task-mine', { generation })).map(({ id }) => id)).toEqual(['call-1'])
  })

  it('S0-015 ldg:call:save stores an error with its stack, and invalid JSON as text', async () => {
    const { saveCall, calls } = await withTask()
    await saveCall({ status: 'failed', details: '{"error":"broke","stack":"at line 1"}' })
    expect(JSON.parse((await calls())[0]?.['details'] as string)).toEqual({ error: 'broke', stack: 'at line 1' })
    await saveCall({ id: 'call-2', status: 'failed', details: 'broke' })
    expect((await calls())[1]?.['details']).toBe('{"error":"broke"}')
    await saveCall({ id: 'call-3', status: 'completed', parameters: 'x', details: 'plain' })
    expect((await calls())[2]).toMatchObject({ parameters: '"x"', details: '"plain"' })
  })

  it('S0-018 S0-012 ldg:call:save moves a call only forward, among four states', async () => {
    const { saveCall, calls } = await withTask()
    await saveCall({ status: 'in_progress' })
    await refusalOf(saveCall({ status: 'pending' }), 'INVALID_TRANSITION')
    await saveCall({ status: 'completed', details: '1' })
    await saveCall({ status: 'completed', details: '2' })
    for (const status of ['pending', 'in_progress', 'failed'])
      await refusalOf(saveCall({ status }), 'INVALID_TRANSITION')
    await refusalOf(saveCall({ status: 'done' }), 'INVALID_INPUT')
    expect(await calls()).toMatchObject([{ status: 'completed', details: '1' }])
  })

  it('S0-093 ldg:call:save refuses unknown tasks, foreign messages, used ids, and calls beginning in a settled task', async () => {
    const { engine, call, saveCall } = await withTask()
    await refusalOf(saveCall({ status: 'pending', taskId: 'task-missing' }), 'NOT_FOUND')
    const other = await engine.create({ name: 'other' })
    await call('ldg:msg:save', { message: { id: 'msg-other', taskId: other.id, role: 'user', content: 'Hi' } })
    await refusalOf(saveCall({ status: 'pending', startMessageId: 'msg-other' }), 'NOT_FOUND')
    await saveCall({ status: 'pending', startMessageId: '' })
    expect(await call('ldg:call:list', { taskId: 'task-mine' })).toMatchObject({ calls: [{ startMessageId: '' }] })
    await refusalOf(saveCall({ status: 'pending', parameters: '{}' }), 'KEY_CONFLICT')
    await refusalOf(saveCall({ status: 'pending', abilityName: 'mem:save' }), 'KEY_CONFLICT')
    await engine.cancel('task-mine')
    await refusalOf(saveCall({ id: 'call-2', status: 'in_progress' }), 'INVALID_TRANSITION')
    await saveCall({ id: 'call-3', status: 'completed' })
  })

  it('S0-094 ldg:call:save cannot change the journal of a run', async () => {
    const hands = puppet()
    const { engine, call } = await openManager({ executors: { work: hands.executor } })
    const { id: taskId } = await engine.create({ executor: 'work' })
    const { run, end } = await hands.started(0)
    const gate = Promise.withResolvers<string>()
    const begun = Promise.withResolvers<void>()
    const made = run.call('look', {}, () => {
      begun.resolve()
      return gate.promise
    })
    await begun.promise
    let { calls } = (await call('ldg:call:list', { taskId })) as { calls: Array<Record<string, unknown>> }
    const forged = { ...calls[0], status: 'completed', details: '"forged"' }
    await refusalOf(call('ldg:call:save', { call: forged }), 'FORBIDDEN')
    await call('ldg:call:save', { call: { ...forged, id: 'call-own', status: 'completed' } })
    gate.resolve('seen')
    expect(await made).toBe('seen')
    end.resolve(null)
    await engine.result(taskId)
    expect(typesOf(await history(engine, taskId))).not.toContain('task.diverged')
    calls = (await call('ldg:call:list', { taskId }))['calls'] as typeof calls
    expect(calls.map(({ details }) => details)).toEqual(['"seen"', '"forged"'])
  })
})

describe('ldg:msg:save and ldg:msg:list', () => {
  const message = (more: object) => ({
    message: { id: 'msg-1', taskId: 'task-mine', role: 'user', content: 'Hi', timestamp: 7, ...more },
  })

  it('S0-091 S0-020 S0-021 S0-096 C-10 ldg:msg:save stores a message of any role unchanged', async () => {
    const { call, save } = await setup()
    await save({ id: 'task-mine' })
    for (const role of ['system', 'user', 'assistant', 'tool']) {
      expect(await call('ldg:msg:save', message({ id: `msg-${role}`, role }))).toEqual({
        success: true,
        messageId: `msg-${role}`,
      })
    }
    await refusalOf(call('ldg:msg:save', message({ id: 'msg-x', role: 'robot' })), 'INVALID_INPUT')
    const { messageId } = await call('ldg:msg:save', message({ id: undefined }))
    expect(messageId).toEqual(expect.stringMatching(/^msg-/))
    const { messages, total } = (await call('ldg:msg:list', { taskId: 'task-mine' })) as {
      messages: unknown[]
      total: number
    }
    expect(total).toBe(5)
    expect(messages[2]).toEqual({
      id: 'msg-assistant',
      taskId: 'task-mine',
      role: 'assistant',
      content: 'Hi',
      timestamp: 7,
      announcement: false,
    })
  })

  it('S0-092 ldg:msg:list returns as many messages as a client asks for, however long they are', async () => {
    const { call, save } = await setup()
    await save({ id: 'task-mine' })
    for (let n = 1; n <= 7; n++)
      await call('ldg:msg:save', message({ id: `msg-${n}`, content: `${n}`.repeat(1_000_000) }))
    const idsOf = async (page: object) => {
      const { messages } = (await call('ldg:msg:list', { taskId: 'task-mine', ...page })) as {
        messages: Array<{ id: string }>
      }
      return messages.map(({ id }) => id).join(' ')
    }
    expect(await idsOf({})).toBe('msg-1 msg-2 msg-3 msg-4 msg-5 msg-6 msg-7')
    expect(await idsOf({ limit: 6 })).toBe('msg-1 msg-2 msg-3 msg-4 msg-5 msg-6')
    expect(await idsOf({ offset: 6, limit: 6 })).toBe('msg-7')
    expect(await idsOf({ limit: 0 })).toBe('')
  })

  it('S0-022 ldg:msg:save never changes a message or reuses its id', async () => {
    const { call, save } = await setup()
    await save({ id: 'task-mine' })
    await call('ldg:msg:save', message({}))
    for (const role of ['user', 'assistant']) {
      await refusalOf(call('ldg:msg:save', message({ role, content: 'Other' })), 'KEY_CONFLICT')
    }
    expect((await call('ldg:msg:list', { taskId: 'task-mine' }))['messages']).toMatchObject([{ content: 'Hi' }])
  })

  it('S0-092 S0-027 S0-025 ldg:msg:list returns messages in order, also with equal times, in pages, byte for byte', async () => {
    const { call, save } = await setup()
    await save({ id: 'task-mine' })
    const texts = ['one\n\n```ts\n```', 'zwei ✓ 🔧', '  three  ']
    for (const [n, content] of texts.entries()) await call('ldg:msg:save', message({ id: `msg-${n}`, content }))
    const page = async (more: object) => {
      const { messages, total } = (await call('ldg:msg:list', { taskId: 'task-mine', ...more })) as {
        messages: Array<{ content: string }>
        total: number
      }
      return [messages.map(({ content }) => content), total]
    }
    expect(await page({})).toEqual([texts, 3])
    expect(await page({ limit: 1, offset: 1 })).toEqual([[texts[1]], 3])
    expect(await page({ offset: 5 })).toEqual([[], 3])
    await refusalOf(call('ldg:msg:list', { taskId: 'task-missing' }), 'NOT_FOUND')
    await refusalOf(call('ldg:msg:save', message({ id: 'msg-x', taskId: 'task-missing' })), 'NOT_FOUND')
    await call('ldg:msg:save', message({ id: 'msg-y', content: 'a\u0000b' }))
    expect(await page({ offset: 3 })).toEqual([['a\ufffdb'], 4])
  })

  it('S0-080 ldg:msg:save delivers user messages to the agent, and no others', async () => {
    const held = heldModel()
    const { engine, call } = await openManager({ model: held.model })
    const { id: taskId } = await engine.create({ goal: 'Work' })
    const first = await held.asked(0)
    await call('ldg:msg:save', message({ taskId, id: 'msg-u', content: 'Also Q2' }))
    await call('ldg:msg:save', message({ taskId, id: 'msg-a', role: 'assistant', content: 'I am done!' }))
    first.answer.resolve({ text: 'Q1 done' })
    const second = await held.asked(1)
    expect(second.prompt.last).toBe('Also Q2')
    expect(second.prompt.messages.some(({ text }) => text.includes('I am done!'))).toBe(false)
    second.answer.resolve({ text: 'Q2 done' })
    expect(await engine.result(taskId)).toBe('Q2 done')
    const { messages } = (await call('ldg:msg:list', { taskId })) as {
      messages: Array<{ id: string; announcement: boolean }>
    }
    expect(messages.find(({ id }) => id === 'msg-a')).toMatchObject({ announcement: true })
    await call('ldg:msg:save', message({ taskId, id: 'msg-late', content: 'Thanks' }))
    expect(await engine.get(taskId)).toMatchObject({ status: 'completed' })
  })
})

describe('The times of a task', () => {
  /** The clock advances only when the test does so. */
  const timed = async () => {
    const clock = { time: 1_000, now: () => clock.time, setTimeout: () => 0, clearTimeout: () => {} }
    const { engine, call } = await openManager({ clock })
    const read = async (taskId: string) => (await call('ldg:task:get', { taskId }))['task'] as Record<string, unknown>
    const times = async (taskId: string) => {
      const { createdAt, updatedAt } = await read(taskId)
      return [createdAt, updatedAt]
    }
    return { engine, clock, read, times, save: (task: object) => call('ldg:task:save', { task }) }
  }

  it('S0-007 updatedAt of a task is the time of each change of state, and createdAt never changes', async () => {
    const { engine, clock, times } = await timed()
    const by = (...statuses: TaskStatus[]) => statuses
    const ways = [
      by('working', 'paused', 'working', 'input_required', 'canceled'),
      by('working', 'waiting', 'working', 'failed', 'submitted', 'working', 'completed'),
      by('canceled'),
    ]
    for (const way of ways) {
      const created = clock.time
      const { id } = await engine.create({ name: 'by hand' })
      expect(await times(id)).toEqual([created, created])
      for (const status of way) {
        clock.time += 7
        await engine.update(id, { status })
        expect([status, ...(await times(id))]).toEqual([status, created, clock.time])
      }
      clock.time += 7
      await refusalOf(engine.update(id, { status: 'paused' }), 'INVALID_TRANSITION')
      expect(await times(id)).toEqual([created, clock.time - 7])
    }
  })

  it('S0-007 ldg:task:save changes updatedAt with the state, and never createdAt', async () => {
    const { clock, save, times } = await timed()
    await save({ id: 'task-mine', createdAt: 10 })
    expect(await times('task-mine')).toEqual([10, 1_000])
    clock.time = 2_000
    await save({ id: 'task-mine', createdAt: 20 })
    expect(await times('task-mine')).toEqual([10, 1_000])
    await save({ id: 'task-mine', createdAt: 20, completionStatus: 'success' })
    expect(await times('task-mine')).toEqual([10, 2_000])
  })

  it('S0-007 S0-083 ldg:task:save uses updatedAt of the record unless it is earlier than the stored one', async () => {
    const { engine, clock, read, save, times } = await timed()
    await save({ id: 'task-mine', createdAt: 10, updatedAt: 15 })
    expect(await times('task-mine')).toEqual([10, 15])
    await save({ id: 'task-early', createdAt: 10, updatedAt: 9 })
    expect(await times('task-early')).toEqual([10, 1_000])
    clock.time = 2_000
    // Without another status the save is a change of its own, with an event.
    const before = await history(engine, 'task-mine')
    await save({ ...(await read('task-mine')), updatedAt: 20 })
    expect(await times('task-mine')).toEqual([10, 20])
    const [event, ...others] = (await history(engine, 'task-mine')).slice(before.length)
    expect([event?.type, event?.data['changed'], others]).toEqual(['task.updated', ['updatedAt'], []])
    // An old time is ignored for a new status.
    await save({ ...(await read('task-early')), completionStatus: 'cancelled' })
    expect(await times('task-early')).toEqual([10, 2_000])
    await save({ ...(await read('task-mine')), completionStatus: 'failed', updatedAt: 1_999 })
    expect(await times('task-mine')).toEqual([10, 1_999])
    expect((await engine.get('task-mine'))?.status).toBe('failed')
    await save({ ...(await read('task-mine')), updatedAt: 30 })
    expect(await times('task-mine')).toEqual([10, 1_999])
    await refusalOf(save({ id: 'task-mine', updatedAt: 0.5 }), 'INVALID_INPUT')
  })
})
