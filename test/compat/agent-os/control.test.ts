// The abilities of Agent OS that change a task (send, kill and cancel), and task:route.
import { describe, expect, it } from 'vitest'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { history, puppet, reached, refusalOf, turns, waysTo } from '../../engine/world.ts'
import { heldModel, modelOf, surface } from '../../operations/world.ts'
import { openManager } from './world.ts'

async function setup() {
  const held = heldModel()
  const { bus, engine, call } = await openManager({ model: held.model })
  const { id: taskId } = await engine.create({ goal: 'Work' })
  return { bus, engine, held, taskId, call }
}

describe('task:send', () => {
  it('S1-027 S1-028 task:send appends a user message that the model reads before it ends', async () => {
    const { engine, held, taskId, call } = await setup()
    const first = await held.asked(0)
    expect(await call('task:send', { taskId, message: 'Focus on regions' })).toEqual({
      success: true,
      status: 'running',
    })
    first.answer.resolve({ text: 'Done' })
    const second = await held.asked(1)
    expect(second.prompt.last).toBe('Focus on regions')
    second.answer.resolve({ text: 'Regions done' })
    expect(await engine.result(taskId)).toBe('Regions done')
    const messages = (await engine.messages(taskId)).map(({ role, content }) => `${role}: ${content}`)
    expect(messages.slice(2)).toEqual(['user: Focus on regions', 'assistant: Done', 'assistant: Regions done'])
  })

  it('S1-029 task:send lets a task that waits for the user run again', async () => {
    const { engine, held, taskId, call } = await setup()
    ;(await held.asked(0)).answer.resolve({ tools: [{ name: 'ask_user', input: { question: 'Which year?' } }] })
    await reached(engine, taskId, 'input_required')
    expect((await call('task:get', { taskId }))['task']).toMatchObject({
      status: 'waiting',
      questions: [{ question: 'Which year?' }],
    })
    expect(await call('task:send', { taskId, message: '2026' })).toEqual({ success: true, status: 'running' })
    expect((await held.asked(1)).prompt.last).toBe('2026')
  })

  it('S1-030 task:send leaves a paused task paused, which reads the message when resumed', async () => {
    const { engine, held, taskId, call } = await setup()
    await held.asked(0)
    await engine.pause(taskId)
    expect(await call('task:send', { taskId, message: 'Later' })).toEqual({ success: true, status: 'waiting' })
    expect(await engine.get(taskId)).toMatchObject({ status: 'paused' })
    await engine.resume(taskId)
    expect((await held.asked(1)).prompt.last).toBe('Work\n\nLater')
  })

  it('task:send with delivery abort pauses the task at once', async () => {
    const { held, taskId, call } = await setup()
    await held.asked(0)
    expect(await call('task:send', { taskId, message: 'Stop', delivery: 'abort' })).toEqual({
      success: true,
      status: 'waiting',
    })
    await refusalOf(call('task:send', { taskId, message: 'Stop', delivery: 'abort' }), 'INVALID_TRANSITION')
  })

  it('S1-031 C-33 C-26 task:send reports an ended task without appending anything, and refuses an unknown one', async () => {
    const { engine, call } = await openManager()
    for (const [status, word] of [
      ['completed', 'completed'],
      ['failed', 'failed'],
      ['canceled', 'killed'],
    ] as const) {
      const { id: taskId } = await engine.create({ name: 'over' })
      for (const next of waysTo[status]) await engine.update(taskId, { status: next })
      expect(await call('task:send', { taskId, message: 'More' })).toEqual({ success: false, status: word })
      expect(await engine.messages(taskId)).toEqual([])
    }
    const refusal = await refusalOf(call('task:send', { taskId: 'task-missing', message: 'More' }), 'NOT_FOUND')
    expect(refusal.message).toContain('Task not found')
  })

  it('C-33 task:send with retry gives a failed task a new attempt', async () => {
    const model = createScriptedModel([{ when: { last: 'Try again' }, text: 'Done' }, { error: { status: 400 } }])
    const { engine, call } = await openManager({ model })
    const { id: taskId } = await engine.create({ goal: 'Work' })
    await reached(engine, taskId, 'failed')
    expect(await call('task:send', { taskId, message: 'Try again' })).toEqual({ success: false, status: 'failed' })
    expect(await call('task:send', { taskId, message: 'Try again', retry: true })).toMatchObject({ success: true })
    expect(await engine.result(taskId)).toBe('Done')
  })
})

describe('task:kill and task:cancel', () => {
  it('S1-042 S1-043 S1-045 S1-046 S0-053 task:kill and task:cancel end a running task and its subtasks, abort its model, and store the reason', async () => {
    const { engine, held, taskId, call } = await setup()
    const child = await engine.create({ goal: 'Child', parentId: taskId })
    await held.asked(1)
    expect(await call('task:kill', { taskId, reason: 'Enough' })).toEqual({ success: true, previousStatus: 'running' })
    expect((await call('task:get', { taskId }))['task']).toMatchObject({ status: 'killed', statusReason: 'Enough' })
    expect(await engine.get(child)).toMatchObject({ status: 'canceled', statusReason: 'Enough' })
    expect((await call('task:list', { status: 'running' }))['total']).toBe(0)
  })

  it('C-06 S0-052 task:kill has a default reason, task:cancel requires one', async () => {
    const { engine, taskId, call } = await setup()
    await refusalOf(call('task:cancel', { taskId }), 'INVALID_INPUT')
    await refusalOf(call('task:cancel', { reason: 'Enough' }), 'INVALID_INPUT')
    expect((await engine.get(taskId))?.completedAt).toBe(null)
    await call('task:kill', { taskId })
    expect(await engine.get(taskId)).toMatchObject({ statusReason: 'killed' })
  })

  it('S0-052 S0-057 S0-005 task:cancel returns success, and the reason can be read afterwards', async () => {
    const { taskId, call } = await setup()
    expect(await call('task:cancel', { taskId, reason: 'Changed my mind' })).toMatchObject({ success: true })
    expect((await call('ldg:task:get', { taskId }))['task']).toMatchObject({
      completionStatus: 'cancelled',
      statusReason: 'Changed my mind',
    })
  })

  it('S0-054 an answer of the model after task:cancel changes nothing', async () => {
    const { engine, held, taskId, call } = await setup()
    const step = await held.asked(0)
    await call('task:cancel', { taskId, reason: 'Enough' })
    const messages = await engine.messages(taskId)
    step.answer.resolve({ text: 'Too late' })
    await engine.idle()
    await turns()
    expect(await engine.get(taskId)).toMatchObject({ status: 'canceled' })
    expect(await engine.messages(taskId)).toEqual(messages)
  })

  it('S0-055 task:cancel fails calls in progress and calls that had not begun, with the reason', async () => {
    const hands = puppet()
    const { engine, call } = await openManager({ executors: { work: hands.executor } })
    const { id: taskId } = await engine.create({ executor: 'work' })
    const { run } = await hands.started(0)
    void run.call(
      'slow',
      () =>
        new Promise((_resolve, reject) =>
          run.signal.addEventListener('abort', () => reject(new Error('asked to stop'))),
        ),
    )
    await turns()
    await call('ldg:call:save', {
      call: { id: 'call-x', taskId, abilityName: 'x:y', parameters: '{}', status: 'pending' },
    })
    await call('task:cancel', { taskId, reason: 'Enough' })
    await engine.idle()
    const { calls } = (await call('ldg:call:list', { taskId })) as { calls: Array<{ status: string; details: string }> }
    expect(calls.map(({ status }) => status)).toEqual(['failed', 'failed'])
    for (const { details } of calls) expect(JSON.parse(details)).toMatchObject({ error: expect.any(String) as string })
    expect(calls[1]?.details).toContain('Enough')
  })

  it.each(['task:kill', 'task:cancel'])(
    'C-34 S0-056 S1-044 %s of an ended task returns its status and changes nothing',
    async (id) => {
      const { engine, call } = await openManager()
      for (const [status, previousStatus] of [
        ['completed', 'completed'],
        ['failed', 'failed'],
        ['canceled', 'killed'],
      ] as const) {
        const task = await engine.create({ name: 'over' })
        for (const next of waysTo[status]) await engine.update(task, { status: next })
        const before = await engine.get(task)
        expect(await call(id, { taskId: task.id, reason: 'Late' })).toEqual({ success: false, previousStatus })
        expect(await engine.get(task)).toEqual(before)
      }
      await refusalOf(call(id, { taskId: 'task-missing', reason: 'Late' }), 'NOT_FOUND')
    },
  )

  it.each([
    ['submitted', 'pending'],
    ['paused', 'waiting'],
    ['input_required', 'waiting'],
    ['waiting', 'waiting'],
  ] as const)('S1-044 task:kill ends a task that is %s', async (status, previousStatus) => {
    const { engine, call } = await openManager()
    const task = await engine.create({ name: 'by hand' })
    for (const next of waysTo[status]) await engine.update(task, { status: next })
    expect(await call('task:kill', { taskId: task.id })).toEqual({ success: true, previousStatus })
    expect(await engine.get(task)).toMatchObject({ status: 'canceled' })
  })
})

describe('A task that is changed while it is ended', () => {
  it.each(['task:kill', 'task:cancel'])('S1-043 %s ends a task in its current version', async (id) => {
    const { engine, call } = await openManager()
    const { id: taskId } = await engine.create({ name: 'busy' })
    await engine.start(taskId)
    const writes = [1, 2, 3].map((n) => engine.update(taskId, { name: `busy ${n}` }))
    const ending = call(id, { taskId, reason: 'Enough' })
    const more = [4, 5, 6].map((n) => engine.update(taskId, { description: `${n}` }))
    expect(await ending).toEqual({ success: true, previousStatus: 'running' })
    await Promise.allSettled([...writes, ...more])
    expect(await engine.get(taskId)).toMatchObject({ status: 'canceled', statusReason: 'Enough' })
  })

  it('task:kill with an outdated expectedVersion is refused', async () => {
    const { engine, call } = await openManager()
    const { id: taskId, version } = await engine.create({ name: 'busy' })
    await engine.start(taskId)
    await refusalOf(call('task:kill', { taskId, expectedVersion: version }), 'VERSION_CONFLICT')
    expect(await engine.get(taskId)).toMatchObject({ status: 'working' })
  })
})

describe('task:route', () => {
  it('S0-029 S0-032 S0-033 S0-036 C-26 task:route returns the mentioned task, the only one, or none', async () => {
    const { engine, taskId, call } = await setup()
    expect(await call('task:route', { message: 'Also check Q2' })).toEqual({ taskId, confidence: 1 })
    expect(await call('task:route', { message: `@${taskId} go on` })).toEqual({ taskId, confidence: 1 })
    expect(await call('task:route', { message: '@task-missing go on' })).toMatchObject({ taskId: null, confidence: 1 })
    await engine.cancel(taskId)
    expect(await call('task:route', { message: 'Also check Q2' })).toEqual({ taskId: null, confidence: 1 })
    await refusalOf(call('task:route', {}), 'INVALID_INPUT')
    await refusalOf(call('task:route', { message: 7 }), 'INVALID_INPUT')
  })

  it('S0-034 C-24 task:route asks the model among several tasks', async () => {
    const { engine, held, taskId, call } = await setup()
    await engine.create({ goal: 'Other' })
    await held.asked(1)
    const routing = call('task:route', { message: 'Also check Q2' })
    const step = await held.asked(2)
    expect(step.prompt.goal).toContain(taskId)
    step.answer.resolve({ text: JSON.stringify({ taskId }) })
    expect(await routing).toEqual({ taskId, confidence: 0.5 })
  })

  it('I25 task:route considers for a caller with a task only those below it', async () => {
    const { bus, engine, taskId } = await setup()
    const child = await engine.create({ goal: 'Child', parentId: taskId })
    const outsider = await engine.create({ goal: 'Stranger' })
    const call = surface({ bus }, modelOf(taskId))
    expect(await call('task:route', { message: 'Go' })).toEqual({ taskId: child.id, confidence: 1 })
    expect(await call('task:route', { message: `@${outsider.id} go` })).toMatchObject({ taskId: null, confidence: 1 })
    expect(await engine.messages(outsider)).toHaveLength(2)
  })
})

describe('Equivalent operations', () => {
  it('X-020 each operation has the same effect through every ability: the same state and events', async () => {
    const seen: unknown[] = []
    for (const id of ['task:kill', 'task:cancel']) {
      const { engine, call } = await openManager()
      const { id: taskId } = await engine.create({ name: 'one' })
      await call(id, { taskId, reason: 'Enough' })
      seen.push((await history(engine)).map(({ type, data }) => [type, data]))
    }
    expect(seen[0]).toEqual(seen[1])
  })
})
