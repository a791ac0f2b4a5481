// Messages that reach an agent while it works, rests, waits or has ended, and the race between its answer and the next
// message.
import { describe, expect, it } from 'vitest'
import { createScriptedModel, type ScriptedPrompt } from '../../src/agents/models/scripted-model.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createFaultyLedger } from '../../src/testing/faulty-ledger.ts'
import { deferred, history, openEngine, reached, refusalOf, typesOf } from '../engine/world.ts'
import { callsOf, echo, gatedTool, inShort, llm, said } from './world.ts'

/** A model that answers with the last message, and waits at each step until the test releases it. */
function heldModel() {
  const steps: Array<{ prompt: ScriptedPrompt; go(): void }> = []
  const waiting: Array<() => void> = []
  const model = createScriptedModel(async (prompt) => {
    const gate = deferred()
    steps.push({ prompt, go: () => gate.resolve() })
    for (const wake of waiting.splice(0)) wake()
    await gate.promise
    return { text: `re: ${prompt.last}` }
  })
  return {
    model,
    steps,
    async step(index: number) {
      while (steps.length <= index) await new Promise<void>((resolve) => waiting.push(resolve))
      return steps[index] as (typeof steps)[number]
    },
  }
}

/** The messages of users and model, without system messages. */
async function talk(engine: Parameters<typeof said>[0], task: { id: string }): Promise<string[]> {
  return (await said(engine, task)).filter((line) => !line.startsWith('system'))
}

describe('a message to a working agent', () => {
  it('S0-080 C-12 a message to a working agent is answered before the task is completed', async () => {
    const held = heldModel()
    const engine = await openEngine({ model: held.model })
    const task = await engine.create({ goal: 'one' })
    const first = await held.step(0)
    const sent = await engine.send(task, 'two')
    expect(sent.status).toBe('working')
    first.go()
    const second = await held.step(1)
    expect(second.prompt.messages.map(({ role, text }) => `${role}: ${text}`).slice(1)).toEqual([
      'user: one',
      'assistant: re: one',
      'user: two',
    ])
    second.go()
    expect(await engine.result(task)).toBe('re: two')
    expect(await talk(engine, task)).toEqual(['user: one', 'user: two', 'assistant: re: one', 'assistant: re: two'])
    expect(await engine.runs(task)).toHaveLength(1)
  })

  it('S0-080 a message to a working agent is answered when it is committed between the last read of the agent and its completion', async () => {
    const ledger = createFaultyLedger(await openLedger(':memory:'))
    const model = createScriptedModel(({ last }) => ({ text: `re: ${last}` }))
    const engine = await openEngine({ ledger, model })
    const gate = ledger.hold('settle run')
    const task = await engine.create({ goal: 'one' })
    await gate.reached
    await engine.send(task, 'two')
    gate.open()
    expect(await engine.result(task)).toBe('re: two')
    expect(await talk(engine, task)).toEqual(['user: one', 'assistant: re: one', 'user: two', 'assistant: re: two'])
    const events = await history(engine, task.id)
    expect(typesOf(events).filter((type) => type.startsWith('task.'))).toEqual([
      'task.created',
      'task.started',
      'task.waiting',
      'task.started',
      'task.completed',
    ])
    expect(events.find(({ type }) => type === 'task.waiting')?.data).toMatchObject({ reason: 'message' })
    await engine.close()
    await ledger.close()
  })

  it('S0-080 a message to a working agent is answered however often it arrives just before the completion', async () => {
    const ledger = createFaultyLedger(await openLedger(':memory:'))
    const model = createScriptedModel(({ last }) => ({ text: `re: ${last}` }))
    const engine = await openEngine({ ledger, model })
    let gate = ledger.hold('settle run')
    const task = await engine.create({ goal: '0' })
    for (const word of ['1', '2', '3']) {
      await gate.reached
      await engine.send(task, word)
      const next = word === '3' ? undefined : ledger.hold((name, nth) => name === 'settle run' && nth > 1)
      gate.open()
      if (next !== undefined) gate = next
    }
    expect(await engine.result(task)).toBe('re: 3')
    expect((await talk(engine, task)).filter((line) => line.startsWith('assistant'))).toEqual([
      'assistant: re: 0',
      'assistant: re: 1',
      'assistant: re: 2',
      'assistant: re: 3',
    ])
    await engine.close()
    await ledger.close()
  })

  it('a message to a working agent is refused once the task is canceled, and a task canceled just before its completion stays canceled', async () => {
    const ledger = createFaultyLedger(await openLedger(':memory:'))
    const engine = await openEngine({ ledger, model: createScriptedModel([{ text: 'Done' }]) })
    const gate = ledger.hold('settle run')
    const task = await engine.create({ goal: 'one' })
    await gate.reached
    await engine.cancel(task)
    gate.open()
    await refusalOf(engine.send(task, 'two'), 'INVALID_TRANSITION')
    expect(await engine.settled(task)).toMatchObject({ status: 'canceled' })
    await engine.close()
    await ledger.close()
  })

  it('S3-112 a message to a working agent with delivery steer is read before followups, each in the order of sending', async () => {
    const slow = gatedTool('test:slow')
    const model = llm((_input, step) =>
      step === 1 ? { toolCalls: [{ id: 'a', name: 'test_slow', arguments: {} }] } : { content: `Answer ${step}` },
    )
    const engine = await openEngine({ abilities: [model.ability, slow.ability] })
    const task = await engine.create({ goal: 'Work' })
    const call = await slow.began(0)
    await engine.send(task, 'later 1', { delivery: 'followup' })
    await engine.send(task, 'now 1')
    await engine.send(task, 'later 2', { delivery: 'followup' })
    await engine.send(task, 'now 2', { delivery: 'steer' })
    call.end('slept')
    expect(await engine.result(task)).toBe('Answer 3')
    expect(inShort(model.messages(2)).slice(1)).toEqual([
      'user: Work',
      'assistant:  a=test_slow({})',
      'tool a: slept',
      'user: now 1',
      'user: now 2',
    ])
    expect(inShort(model.messages(3)).slice(-3)).toEqual(['assistant: Answer 2', 'user: later 1', 'user: later 2'])
  })

  it('S0-027 a message to a working agent keeps the order of sending among messages of the same millisecond', async () => {
    const held = heldModel()
    const clock = { now: () => 1_000, setTimeout: () => 0, clearTimeout: () => {} }
    const engine = await openEngine({ model: held.model, clock })
    const task = await engine.create({ goal: 'go' })
    const first = await held.step(0)
    const words = Array.from({ length: 20 }, (_, index) => `message ${index}`)
    for (const word of words) await engine.send(task, word)
    first.go()
    ;(await held.step(1)).go()
    await engine.result(task)
    const messages = await engine.messages(task)
    expect(new Set(messages.map(({ timestamp }) => timestamp)).size).toBe(1)
    expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['go', ...words])
    expect(
      held.steps[1]?.prompt.messages
        .filter(({ role }) => role === 'user')
        .slice(1)
        .map(({ text }) => text),
    ).toEqual([words.join('\n\n')])
  })

  it('S3-112 a message to a working agent with delivery abort pauses the task at once, and is read before earlier messages when it resumes', async () => {
    const slow = gatedTool('test:slow')
    const model = llm((_input, step) =>
      step === 1 ? { toolCalls: [{ id: 'a', name: 'test_slow', arguments: {} }] } : { content: `Answer ${step}` },
    )
    const engine = await openEngine({ abilities: [model.ability, slow.ability] })
    const task = await engine.create({ goal: 'Work' })
    const { signal } = await slow.began(0)
    const stopped = await engine.send(task, 'Stop that!', { delivery: 'abort' })
    expect(stopped.status).toBe('paused')
    for await (const event of engine.events({ taskId: task.id })) if (event.type === 'run.closed') break
    expect(signal.aborted).toBe(true)
    expect(model.inputs).toHaveLength(1)
    await engine.resume(task)
    expect(await engine.result(task)).toBe('Answer 2')
    expect(inShort(model.messages(2)).slice(-2)).toEqual([
      expect.stringMatching(/^tool a: Error: /),
      'user: Stop that!',
    ])
  })
})

describe('a message to an agent that does not run', () => {
  it('a message to an agent that does not run with delivery abort is refused and not stored when the task cannot be paused', async () => {
    const model = llm(() => ({ toolCalls: [{ id: 'q', name: 'ask_user', arguments: { question: 'Well?' } }] }))
    const engine = await openEngine({ abilities: [model.ability] })
    const held = await engine.create({ goal: 'one', autoStart: false })
    const asking = await engine.create({ goal: 'two' })
    await reached(engine, asking, 'input_required')
    for (const task of [held, asking]) {
      await refusalOf(engine.send(task, 'Stop!', { delivery: 'abort' }), 'INVALID_TRANSITION')
      expect(await talk(engine, task)).not.toContain('user: Stop!')
    }
    await engine.cancel(asking)
  })

  it('a message to an agent that does not run is stored without resuming a paused task, and the next run reads it', async () => {
    const held = heldModel()
    const engine = await openEngine({ model: held.model })
    const task = await engine.create({ goal: 'one' })
    await held.step(0)
    await engine.pause(task)
    expect((await engine.send(task, 'two')).status).toBe('paused')
    expect((await engine.send(task, 'three')).status).toBe('paused')
    expect(await engine.get(task.id)).toMatchObject({ status: 'paused' })
    await engine.resume(task)
    const next = await held.step(1)
    expect(next.prompt.messages.slice(1).map(({ text }) => text)).toEqual(['one\n\ntwo\n\nthree'])
    next.go()
    expect(await engine.result(task)).toBe('re: one\n\ntwo\n\nthree')
  })

  it('a message to an agent that does not run is read by the first step of a task that has not begun', async () => {
    const model = createScriptedModel(({ messages }) => ({ text: messages.map(({ text }) => text).join('|') }))
    const engine = await openEngine({ model })
    const task = await engine.create({ goal: 'one', autoStart: false })
    expect((await engine.send(task, 'two')).status).toBe('submitted')
    await engine.start(task)
    expect(await engine.result(task)).toBe('You are a helpful AI assistant.|one\n\ntwo')
  })

  it('a message to an agent that does not run is refused by a settled task; with retry, a failed task gets a new attempt that reads it', async () => {
    const model = createScriptedModel(({ last, turn }) => {
      if (last === 'one') throw new Error('no idea')
      return { text: `re ${turn}: ${last}` }
    })
    const engine = await openEngine({ model, modelRetry: { maxAttempts: 1 } })
    const task = await engine.create({ goal: 'one' })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed' })
    const refusal = await refusalOf(engine.send(task, 'two'), 'INVALID_TRANSITION')
    expect(refusal.message).toContain('with `retry`')
    expect(await talk(engine, task)).toEqual(['user: one'])
    expect((await engine.send(task, 'two', { retry: true })).status).not.toBe('failed')
    expect(await engine.result(task)).toBe('re 0: one\n\ntwo')
    expect(await engine.get(task.id)).toMatchObject({ attempt: 2 })
    await refusalOf(engine.send(task, 'three', { retry: true }), 'INVALID_TRANSITION')
    const canceled = await engine.create({ goal: 'two', autoStart: false })
    await engine.cancel(canceled)
    await refusalOf(engine.send(canceled, 'three', { retry: true }), 'INVALID_TRANSITION')
  })
})

describe('an agent that asks its user', () => {
  const asks = (...questions: Array<Record<string, unknown>>) => ({
    toolCalls: questions.map((question, index) => ({ id: `q${index}`, name: 'ask_user', arguments: question })),
  })

  it('S1-052 C-12 an agent that asks its user waits for the answer and continues with it, in the same conversation', async () => {
    const model = llm((_input, step) => (step === 1 ? asks({ question: 'Which file?' }) : { content: 'Thanks.' }))
    const engine = await openEngine({ abilities: [model.ability] })
    const task = await engine.create({ goal: 'Delete a file' })
    const asking = await reached(engine, task, 'input_required')
    expect(asking.questions).toMatchObject([{ question: 'Which file?', schema: { type: 'string' } }])
    expect(await callsOf(engine, task)).toEqual(['ask_user pending null'])
    await engine.answer(task, 'a.txt')
    expect(await engine.result(task)).toBe('Thanks.')
    expect(inShort(model.messages(2)).slice(-2)).toEqual([
      'assistant:  q0=ask_user({"question":"Which file?"})',
      'tool q0: a.txt',
    ])
    expect(await callsOf(engine, task)).toEqual(['ask_user completed "a.txt"'])
  })

  it('S1-027 an agent that asks its user takes a message as the answer when the question accepts plain text, and reads it once', async () => {
    const model = llm((_input, step) => (step === 1 ? asks({ question: 'Which file?' }) : { content: 'Thanks.' }))
    const engine = await openEngine({ abilities: [model.ability] })
    const task = await engine.create({ goal: 'Delete a file' })
    await reached(engine, task, 'input_required')
    await engine.send(task, 'b.txt')
    expect(await engine.result(task)).toBe('Thanks.')
    expect(inShort(model.messages(2)).filter((line) => line.includes('b.txt'))).toEqual(['tool q0: b.txt'])
  })

  it('an agent that asks its user accepts only one of the options as an answer; any other message is stored and leaves the question open', async () => {
    const model = llm((_input, step) =>
      step === 1 ? asks({ question: 'Which?', options: ['red', 'blue'] }) : { content: 'Thanks.' },
    )
    const engine = await openEngine({ abilities: [model.ability] })
    const task = await engine.create({ goal: 'Paint' })
    await reached(engine, task, 'input_required')
    expect((await engine.send(task, 'green')).status).toBe('input_required')
    await refusalOf(engine.answer(task, 'green'), 'INVALID_ANSWER')
    await engine.send(task, 'blue')
    expect(await engine.result(task)).toBe('Thanks.')
    expect(inShort(model.messages(2)).slice(-2)).toEqual(['tool q0: blue', 'user: green'])
  })

  it('an agent that asks its user may have several open questions, each with its own answer, in the order of asking', async () => {
    const model = llm((_input, step) =>
      step === 1 ? asks({ question: 'First?' }, { question: 'Second?' }) : { content: 'Thanks.' },
    )
    const engine = await openEngine({ abilities: [model.ability] })
    const task = await engine.create({ goal: 'Ask' })
    const { questions } = await reached(engine, task, 'input_required')
    expect(questions.map(({ question }) => question)).toEqual(['First?', 'Second?'])
    await refusalOf(engine.answer(task, 'which?'), 'NO_QUESTION')
    // It is unclear which question it would answer: it is a message like any other.
    expect((await engine.send(task, 'Well…')).status).toBe('input_required')
    await engine.answer(task, 'two', { question: questions[1]?.id as string })
    expect(await engine.get(task.id)).toMatchObject({ status: 'input_required' })
    await engine.answer(task, 'one')
    expect(await engine.result(task)).toBe('Thanks.')
    expect(inShort(model.messages(2)).slice(-3)).toEqual(['tool q0: one', 'tool q1: two', 'user: Well…'])
  })

  it('an agent that asks its user finishes the other tools of the turn before its question', async () => {
    const slow = gatedTool('test:slow')
    const model = llm((_input, step) =>
      step === 1
        ? {
            toolCalls: [
              { id: 'q', name: 'ask_user', arguments: { question: 'Go on?' } },
              { id: 's', name: 'test_slow', arguments: {} },
              { id: 'e', name: 'test_echo', arguments: { text: 'a' } },
            ],
          }
        : { content: 'Done' },
    )
    const engine = await openEngine({ abilities: [model.ability, slow.ability, echo] })
    const task = await engine.create({ goal: 'Work and ask' })
    const call = await slow.began(0)
    expect(await engine.get(task.id)).toMatchObject({ status: 'working' })
    call.end('slept')
    await reached(engine, task, 'input_required')
    expect(await callsOf(engine, task)).toEqual([
      'ask_user pending null',
      'test:slow completed "slept"',
      'test:echo completed "a"',
    ])
    await engine.answer(task, 'yes')
    expect(await engine.result(task)).toBe('Done')
    expect(inShort(model.messages(2)).slice(-3)).toEqual(['tool q: yes', 'tool s: slept', 'tool e: a'])
    expect(slow.calls).toHaveLength(1)
  })

  it('an agent that asks its user reads the refusal of an invalid question, which is not asked', async () => {
    const model = llm((_input, step) => (step === 1 ? asks({ question: '' }, {}) : { content: 'Sorry.' }))
    const engine = await openEngine({ abilities: [model.ability] })
    const task = await engine.create({ goal: 'Ask' })
    expect(await engine.result(task)).toBe('Sorry.')
    expect(await callsOf(engine, task)).toEqual(['ask_user failed INVALID_INPUT', 'ask_user failed INVALID_INPUT'])
    expect(typesOf(await history(engine, task.id))).not.toContain('question.asked')
  })
})

describe('an agent that waits for tasks', () => {
  const waits = (input: Record<string, unknown> = {}) => ({
    toolCalls: [{ id: 'w', name: 'wait_for_tasks', arguments: input }],
  })

  it('Q-13 an agent that waits for tasks has the status WAITING until the tasks have settled, and continues with their outcomes', async () => {
    const model = llm((_input, step) => (step === 1 ? waits() : { content: 'All there.' }))
    const engine = await openEngine({ abilities: [model.ability] })
    const task = await engine.create({ goal: 'Wait', autoStart: false })
    const [good, bad] = await engine.create([
      { name: 'good', parentId: task.id },
      { name: 'bad', parentId: task.id },
    ])
    await engine.start(task)
    await reached(engine, task, 'waiting')
    await engine.start(good as { id: string })
    await engine.complete(good as { id: string }, { rows: 3 })
    expect(await engine.get(task.id)).toMatchObject({ status: 'waiting' })
    await engine.start(bad as { id: string })
    await engine.fail(bad as { id: string }, 'no luck')
    expect(await engine.result(task)).toBe('All there.')
    expect(JSON.parse(model.messages(2).at(-1)?.content ?? '')).toEqual({
      tasks: [
        { taskId: good?.id, status: 'completed', result: { rows: 3 } },
        { taskId: bad?.id, status: 'failed', error: 'no luck' },
      ],
    })
  })

  it('Q-13 an agent stops waiting for tasks when a message arrives, with the outcomes so far', async () => {
    const model = llm((_input, step) => (step === 1 ? waits() : { content: 'I stop waiting.' }))
    const engine = await openEngine({ abilities: [model.ability] })
    const task = await engine.create({ goal: 'Wait', autoStart: false })
    const child = await engine.create({ name: 'slow', parentId: task.id })
    await engine.start(task)
    await reached(engine, task, 'waiting')
    await engine.send(task, 'Never mind.')
    expect(await engine.result(task)).toBe('I stop waiting.')
    expect(inShort(model.messages(2)).slice(-2)).toEqual([
      `tool w: {"tasks":[{"taskId":"${child.id}","status":"open"}]}`,
      'user: Never mind.',
    ])
    expect(await engine.get(child.id)).toMatchObject({ status: 'submitted' })
  })

  it('Q-13 an agent that waits for tasks stops waiting after its time-out, and may wait for the first task only', async () => {
    const model = llm((_input, step) =>
      step === 1 ? waits({ timeoutMs: 5 }) : step === 2 ? waits({ mode: 'any' }) : { content: 'Enough.' },
    )
    const engine = await openEngine({ abilities: [model.ability] })
    const task = await engine.create({ goal: 'Wait', autoStart: false })
    const [first, second] = await engine.create([
      { name: 'first', parentId: task.id },
      { name: 'second', parentId: task.id },
    ])
    await engine.start(task)
    for await (const event of engine.events({ taskId: task.id })) if (event.type === 'call.failed') break
    await engine.start(first as { id: string })
    await engine.complete(first as { id: string })
    expect(await engine.result(task)).toBe('Enough.')
    expect(model.messages(2).at(-1)?.content).toMatch(/^Error: /)
    expect(JSON.parse(model.messages(3).at(-1)?.content ?? '')).toEqual({
      tasks: [
        { taskId: first?.id, status: 'completed', result: null },
        { taskId: second?.id, status: 'open' },
      ],
    })
  })

  it('an agent may wait only for tasks of its own subtree', async () => {
    const model = llm((_input, step) => (step === 1 ? waits({ taskIds: [other.id] }) : { content: 'Alas.' }))
    const engine = await openEngine({ abilities: [model.ability] })
    const other = await engine.create({ name: 'not yours' })
    const task = await engine.create({ goal: 'Wait' })
    expect(await engine.result(task)).toBe('Alas.')
    expect(await callsOf(engine, task)).toEqual(['wait_for_tasks failed FORBIDDEN'])
  })
})
