// The abilities that change a task: send, kill, cancel, pause, resume, retry, answer; and those that wait for it and find it.
import { describe, expect, it } from 'vitest'
import type { ExecutorTask, Run } from '../../src/executor.ts'
import { createScriptedModel } from '../../src/models/scripted-model.ts'
import { history, openEngine, puppet, reached, refusalOf, turns, waysTo } from '../engine/world.ts'
import { heldModel, modelOf, surface } from './world.ts'

async function setup() {
  const held = heldModel()
  const engine = await openEngine({ model: held.model })
  const { id: taskId } = await engine.create({ goal: 'Work' })
  return { engine, held, taskId, call: surface(engine) }
}

describe('task:send', () => {
  it('S1-027 S1-028 appends a message of the user, which the model reads before it ends', async () => {
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
    const said = (await engine.messages(taskId)).map(({ role, content }) => `${role}: ${content}`)
    expect(said.slice(2)).toEqual(['user: Focus on regions', 'assistant: Done', 'assistant: Regions done'])
  })

  it('S1-029 makes a task that waits for the user run again', async () => {
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

  it('S1-030 leaves a paused task paused; it reads the message when it is resumed', async () => {
    const { engine, held, taskId, call } = await setup()
    await held.asked(0)
    expect(await call('task:pause', { taskId })).toMatchObject({
      taskId,
      status: 'waiting',
      canonicalStatus: 'paused',
      version: expect.any(Number),
    })
    expect(await call('task:send', { taskId, message: 'Later' })).toEqual({ success: true, status: 'waiting' })
    expect(await engine.get(taskId)).toMatchObject({ status: 'paused' })
    await call('task:resume', { taskId })
    expect((await held.asked(1)).prompt.last).toBe('Later')
  })

  it('may interrupt: the task is paused at once', async () => {
    const { held, taskId, call } = await setup()
    await held.asked(0)
    expect(await call('task:send', { taskId, message: 'Stop', delivery: 'abort' })).toEqual({
      success: true,
      status: 'waiting',
    })
    await refusalOf(call('task:send', { taskId, message: 'Stop', delivery: 'abort' }), 'INVALID_TRANSITION')
  })

  it('S1-031 C-33 C-26 says no for a task that has ended, with its status and nothing appended; an unknown one is refused', async () => {
    const engine = await openEngine()
    const call = surface(engine)
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
    const refusal = await refusalOf(call('task:send', { taskId: 'task-nobody', message: 'More' }), 'NOT_FOUND')
    expect(refusal.message).toContain('Task not found')
  })

  it('C-33 gives a failed task a new attempt when it is told to', async () => {
    const model = createScriptedModel([{ when: { last: 'Try again' }, text: 'Done' }, { error: { status: 400 } }])
    const engine = await openEngine({ model })
    const call = surface(engine)
    const { id: taskId } = await engine.create({ goal: 'Work' })
    await reached(engine, taskId, 'failed')
    expect(await call('task:send', { taskId, message: 'Try again' })).toEqual({ success: false, status: 'failed' })
    expect(await call('task:send', { taskId, message: 'Try again', retry: true })).toMatchObject({ success: true })
    expect(await engine.result(taskId)).toBe('Done')
  })
})

describe('task:kill and task:cancel', () => {
  it('S1-042 S1-043 S1-045 S1-046 S0-053 end a running task and what is below it, abort its model, and keep the reason', async () => {
    const { engine, held, taskId, call } = await setup()
    const child = await engine.create({ goal: 'Child', parentId: taskId })
    await held.asked(1)
    expect(await call('task:kill', { taskId, reason: 'Enough' })).toEqual({ success: true, previousStatus: 'running' })
    expect((await call('task:get', { taskId }))['task']).toMatchObject({ status: 'killed', statusReason: 'Enough' })
    expect(await engine.get(child)).toMatchObject({ status: 'canceled', statusReason: 'Enough' })
    expect((await call('task:list', { status: 'running' }))['total']).toBe(0)
  })

  it('C-06 kill has a reason of its own; S0-052 cancel must be given one', async () => {
    const { engine, taskId, call } = await setup()
    await refusalOf(call('task:cancel', { taskId }), 'INVALID_INPUT')
    await refusalOf(call('task:cancel', { reason: 'Enough' }), 'INVALID_INPUT')
    expect((await engine.get(taskId))?.completedAt).toBe(null)
    await call('task:kill', { taskId })
    expect(await engine.get(taskId)).toMatchObject({ statusReason: 'killed' })
  })

  it('S0-054 what the model answers afterwards changes nothing and says nothing', async () => {
    const { engine, held, taskId, call } = await setup()
    const step = await held.asked(0)
    await call('task:cancel', { taskId, reason: 'Enough' })
    const said = await engine.messages(taskId)
    step.answer.resolve({ text: 'Too late' })
    await engine.idle()
    await turns()
    expect(await engine.get(taskId)).toMatchObject({ status: 'canceled' })
    expect(await engine.messages(taskId)).toEqual(said)
  })

  it.each(['task:kill', 'task:cancel'])(
    'C-34 S0-056 S1-044 %s of a task that has ended says what it was, and changes nothing',
    async (id) => {
      const engine = await openEngine()
      const call = surface(engine)
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
      await refusalOf(call(id, { taskId: 'task-nobody', reason: 'Late' }), 'NOT_FOUND')
    },
  )

  it.each([
    ['submitted', 'pending'],
    ['paused', 'waiting'],
    ['input_required', 'waiting'],
    ['waiting', 'waiting'],
  ] as const)('S1-044 ends a task that is %s', async (status, previousStatus) => {
    const engine = await openEngine()
    const task = await engine.create({ name: 'by hand' })
    for (const next of waysTo[status]) await engine.update(task, { status: next })
    expect(await surface(engine)('task:kill', { taskId: task.id })).toEqual({ success: true, previousStatus })
    expect(await engine.get(task)).toMatchObject({ status: 'canceled' })
  })
})

describe('task:retry and task:answer', () => {
  it('give a failed task a new attempt, and a question its answer', async () => {
    const engine = await openEngine({
      executors: {
        work: async (_task: ExecutorTask, run: Run) => {
          if (run.attempt === 1) throw new Error('broke')
          return run.ask('Go?', { type: 'boolean' })
        },
      },
    })
    const call = surface(engine)
    const { id: taskId } = await engine.create({ executor: 'work' })
    await reached(engine, taskId, 'failed')
    expect(await call('task:retry', { taskId })).toMatchObject({
      taskId,
      status: 'pending',
      canonicalStatus: 'submitted',
    })
    const { questions } = await reached(engine, taskId, 'input_required')
    await refusalOf(call('task:answer', { taskId, value: 'maybe' }), 'INVALID_ANSWER')
    await refusalOf(call('task:answer', { taskId, value: true, question: 'call-other' }), 'NO_QUESTION')
    await call('task:answer', { taskId, value: true, question: questions[0]?.id })
    expect(await engine.result(taskId)).toBe(true)
  })

  it('I25 a question to people is not answered by a model', async () => {
    const engine = await openEngine({
      executors: { work: (_task: ExecutorTask, run: Run) => run.ask('Sure?', null, { personOnly: true }) },
    })
    const parent = await engine.create({ name: 'parent' })
    const { id: taskId } = await engine.create({ executor: 'work', parentId: parent.id })
    await reached(engine, taskId, 'input_required')
    await refusalOf(surface(engine, modelOf(parent.id))('task:answer', { taskId, value: 'yes' }), 'FORBIDDEN')
    await surface(engine)('task:answer', { taskId, value: 'yes' })
    expect(await engine.result(taskId)).toBe('yes')
  })
})

describe('task:wait', () => {
  const setupTwo = async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const taskIds = [(await engine.create({ executor: 'work' })).id, (await engine.create({ executor: 'work' })).id]
    await hands.started(1)
    return { engine, hands, taskIds, call: surface(engine) }
  }

  it('Q-13 gives what the tasks came to, in the order in which they were named', async () => {
    const { hands, taskIds, call } = await setupTwo()
    const waiting = call('task:wait', { taskIds })
    hands.runs[1]?.end.reject(new Error('broke'))
    hands.runs[0]?.end.resolve({ rows: 3 })
    expect(await waiting).toEqual({
      tasks: [
        { taskId: taskIds[0], status: 'completed', result: { rows: 3 } },
        { taskId: taskIds[1], status: 'failed', error: 'broke' },
      ],
    })
  })

  it('Q-13 is content with the first, if told to, and gives up in time', async () => {
    const { engine, hands, taskIds, call } = await setupTwo()
    await refusalOf(call('task:wait', { taskIds, timeoutMs: 5 }), 'TIMEOUT')
    const waiting = call('task:wait', { taskIds, mode: 'any' })
    await engine.cancel(taskIds[1] as string, 'enough')
    expect(await waiting).toEqual({
      tasks: [
        { taskId: taskIds[0], status: 'open' },
        { taskId: taskIds[1], status: 'canceled', error: 'enough' },
      ],
    })
    hands.runs[0]?.end.resolve(null)
    await refusalOf(call('task:wait', { taskIds: ['task-nobody'] }), 'NOT_FOUND')
  })

  it('ends when whoever waits lets go', async () => {
    const { engine, taskIds } = await setupTwo()
    const letGo = new AbortController()
    const waiting = engine.bus.call('task:wait', { taskIds }, { signal: letGo.signal })
    letGo.abort(new Error('gone home'))
    await expect(waiting).rejects.toThrow('gone home')
  })

  it('Q-13 X-025 in a run it gives the slot back: a parent waits for its child although there is but one', async () => {
    const engine = await openEngine({
      maxConcurrent: 1,
      executors: {
        child: () => 'grown',
        parent: async (_task: ExecutorTask, run: Run) => {
          const child = await run.spawn({ executor: 'child' })
          return run.invoke('task:wait', { taskIds: [child.id] })
        },
      },
    })
    const parent = await engine.create({ executor: 'parent' })
    expect(await engine.result(parent)).toEqual({
      tasks: [{ taskId: expect.any(String) as string, status: 'completed', result: 'grown' }],
    })
    expect((await engine.get(parent))?.run).toBe(2)
    expect((await engine.runs(parent))[0]).toMatchObject({ outcome: 'waiting' })
  })

  it('I25 a run does not wait for strangers', async () => {
    const engine = await openEngine({
      executors: { work: (task: ExecutorTask<string>, run: Run) => run.invoke('task:wait', { taskIds: [task.input] }) },
    })
    const stranger = await engine.create({ name: 'stranger' })
    const task = await engine.create({ executor: 'work', input: stranger.id })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'FORBIDDEN' } })
  })
})

describe('task:route', () => {
  it('S0-029 S0-032 S0-033 S0-036 C-26 finds the mentioned task, the only one, or none', async () => {
    const { engine, taskId, call } = await setup()
    expect(await call('task:route', { message: 'Also check Q2' })).toEqual({ taskId, confidence: 1 })
    expect(await call('task:route', { message: `@${taskId} go on` })).toEqual({ taskId, confidence: 1 })
    expect(await call('task:route', { message: '@task-nobody go on' })).toMatchObject({ taskId: null, confidence: 1 })
    await engine.cancel(taskId)
    expect(await call('task:route', { message: 'Also check Q2' })).toEqual({ taskId: null, confidence: 1 })
    await refusalOf(call('task:route', {}), 'INVALID_INPUT')
    await refusalOf(call('task:route', { message: 7 }), 'INVALID_INPUT')
  })

  it('S0-034 C-24 asks the model among several', async () => {
    const { engine, held, taskId, call } = await setup()
    await engine.create({ goal: 'Other' })
    await held.asked(1)
    const routing = call('task:route', { message: 'Also check Q2' })
    const step = await held.asked(2)
    expect(step.prompt.goal).toContain(taskId)
    step.answer.resolve({ text: JSON.stringify({ taskId }) })
    expect(await routing).toEqual({ taskId, confidence: 0.5 })
  })

  it('I25 knows of a caller with a task only what is below it', async () => {
    const { engine, taskId } = await setup()
    const child = await engine.create({ goal: 'Child', parentId: taskId })
    const stranger = await engine.create({ goal: 'Stranger' })
    const call = surface(engine, modelOf(taskId))
    expect(await call('task:route', { message: 'Go' })).toEqual({ taskId: child.id, confidence: 1 })
    expect(await call('task:route', { message: `@${stranger.id} go` })).toMatchObject({ taskId: null, confidence: 1 })
    expect(await engine.messages(stranger)).toHaveLength(2)
  })
})

describe('Every change', () => {
  it('X-020 has one effect, by whichever ability: the same state and the same events', async () => {
    const seen: unknown[] = []
    for (const id of ['task:kill', 'task:cancel']) {
      const engine = await openEngine()
      const { id: taskId } = await engine.create({ name: 'one' })
      await surface(engine)(id, { taskId, reason: 'Enough' })
      seen.push((await history(engine)).map(({ type, data }) => [type, data]))
    }
    expect(seen[0]).toEqual(seen[1])
  })
})
