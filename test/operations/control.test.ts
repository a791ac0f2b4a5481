// The abilities that change a task: send, cancel, retry, answer; and task:wait.
import { expect, it } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { history, openEngine, puppet, reached, refusalOf, waysTo } from '../engine/world.ts'
import { heldModel, modelOf, surface } from './world.ts'

async function setup() {
  const held = heldModel()
  const engine = await openEngine({ model: held.model })
  const { id: taskId } = await engine.create({ goal: 'Work' })
  return { engine, held, taskId, call: surface(engine) }
}

it('S1-027 task:send appends a message of the user and returns the status of the task', async () => {
  const { engine, held, taskId, call } = await setup()
  await held.asked(0)
  expect(await call('task:send', { taskId, message: 'Focus on regions' })).toEqual({
    taskId,
    status: 'working',
    statusReason: null,
    ready: false,
    version: (await engine.get(taskId))?.version,
  })
  expect((await engine.messages(taskId)).at(-1)).toMatchObject({ role: 'user', content: 'Focus on regions' })
  expect(await call('task:send', { taskId, message: 'Stop', delivery: 'abort' })).toMatchObject({ status: 'paused' })
})

it('task:send refuses a task that has ended and appends nothing; a failed one accepts the message with `retry`', async () => {
  const model = createScriptedModel([{ when: { last: 'Try again' }, text: 'Done' }, { error: { status: 400 } }])
  const engine = await openEngine({ model })
  const call = surface(engine)
  for (const status of ['completed', 'failed', 'canceled'] as const) {
    const { id: taskId } = await engine.create({ name: 'over' })
    for (const next of waysTo[status]) await engine.update(taskId, { status: next })
    await refusalOf(call('task:send', { taskId, message: 'More' }), 'INVALID_TRANSITION')
    expect(await engine.messages(taskId)).toEqual([])
  }
  const { id: taskId } = await engine.create({ goal: 'Work' })
  await reached(engine, taskId, 'failed')
  await refusalOf(call('task:send', { taskId, message: 'Try again' }), 'INVALID_TRANSITION')
  await call('task:send', { taskId, message: 'Try again', retry: true })
  expect(await engine.result(taskId)).toBe('Done')
})

it('task:cancel cancels a task and the tasks below it, with the given reason', async () => {
  const { engine, taskId, call } = await setup()
  const child = await engine.create({ goal: 'Child', parentId: taskId })
  expect(await call('task:cancel', { taskId, reason: 'Enough' })).toMatchObject({
    taskId,
    status: 'canceled',
    statusReason: 'Enough',
  })
  expect(await engine.get(child)).toMatchObject({ status: 'canceled', statusReason: 'Enough' })
  const { id } = await engine.create({ name: 'other' })
  expect(await call('task:cancel', { taskId: id })).toMatchObject({ status: 'canceled', statusReason: null })
})

it('task:cancel refuses a task that has ended, like the method of the engine', async () => {
  const engine = await openEngine()
  const call = surface(engine)
  const { id: taskId } = await engine.create({ name: 'over' })
  await engine.cancel(taskId)
  const before = await engine.get(taskId)
  const refusal = await refusalOf(call('task:cancel', { taskId, reason: 'Late' }), 'INVALID_TRANSITION')
  expect(refusal.message).toBe((await refusalOf(engine.cancel(taskId, 'Late'), 'INVALID_TRANSITION')).message)
  expect(await engine.get(taskId)).toEqual(before)
  await refusalOf(call('task:cancel', { taskId: 'task-missing' }), 'NOT_FOUND')
})

it('X-020 task:cancel writes the same state and events as the method of the engine', async () => {
  const seen: unknown[] = []
  for (const byAbility of [true, false]) {
    const engine = await openEngine()
    const { id: taskId } = await engine.create({ name: 'one' })
    if (byAbility) await surface(engine)('task:cancel', { taskId, reason: 'Enough' })
    else await engine.cancel(taskId, 'Enough')
    seen.push((await history(engine)).map(({ type, data }) => [type, data]))
  }
  expect(seen[0]).toEqual(seen[1])
})

it('task:retry starts a new attempt of a failed task, and task:answer answers a question', async () => {
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
  expect(await call('task:retry', { taskId })).toMatchObject({ taskId, status: 'submitted' })
  const { questions } = await reached(engine, taskId, 'input_required')
  await refusalOf(call('task:answer', { taskId, value: 'maybe' }), 'INVALID_ANSWER')
  await refusalOf(call('task:answer', { taskId, value: true, question: 'call-other' }), 'NO_QUESTION')
  await call('task:answer', { taskId, value: true, question: questions[0]?.id })
  expect(await engine.result(taskId)).toBe(true)
})

it('I25 task:answer refuses the answer of a model to a question to people', async () => {
  const engine = await openEngine({
    executors: { work: (_task: ExecutorTask, run: Run) => run.ask('Sure?') },
  })
  const parent = await engine.create({ name: 'parent' })
  const { id: taskId } = await engine.create({ executor: 'work', parentId: parent.id })
  await reached(engine, taskId, 'input_required')
  await refusalOf(surface(engine, modelOf(parent.id))('task:answer', { taskId, value: 'yes' }), 'FORBIDDEN')
  await surface(engine)('task:answer', { taskId, value: 'yes' })
  expect(await engine.result(taskId)).toBe('yes')
})

const setupTwo = async () => {
  const hands = puppet()
  const engine = await openEngine({ executors: { work: hands.executor } })
  const taskIds = [(await engine.create({ executor: 'work' })).id, (await engine.create({ executor: 'work' })).id]
  await hands.started(1)
  return { engine, hands, taskIds, call: surface(engine) }
}

it('Q-13 task:wait returns the outcomes of the awaited tasks in the order of their ids', async () => {
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

it('Q-13 task:wait returns at the first outcome in mode any, and times out', async () => {
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
  await refusalOf(call('task:wait', { taskIds: ['task-missing'] }), 'NOT_FOUND')
})

it('task:wait ends when the signal of the caller aborts', async () => {
  const { engine, taskIds } = await setupTwo()
  const released = new AbortController()
  const waiting = engine.bus.call('task:wait', { taskIds }, { signal: released.signal })
  released.abort(new Error('no longer waiting'))
  await expect(waiting).rejects.toThrow('no longer waiting')
})

it('Q-13 X-025 task:wait in a run releases its slot: a parent waits for its child with a single slot', async () => {
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

it('I25 task:wait refuses a run that waits for a task outside of its subtree', async () => {
  const engine = await openEngine({
    executors: { work: (task: ExecutorTask<string>, run: Run) => run.invoke('task:wait', { taskIds: [task.input] }) },
  })
  const unrelated = await engine.create({ name: 'unrelated' })
  const task = await engine.create({ executor: 'work', input: unrelated.id })
  expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'FORBIDDEN' } })
})
