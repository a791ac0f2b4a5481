// A ledger that fails in the middle of an agent's work, at each of its writes and in each way: no tool runs twice, no
// message is written twice, and a retry brings the task to its end.
import { describe, expect, it } from 'vitest'
import { agent } from '../../src/agents/loop/agent.ts'
import { recallText } from '../../src/agents/loop/first-messages.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { ErrandError } from '../../src/core/errors.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createFaultyLedger, type FaultKind, type FaultyLedger } from '../../src/testing/faulty-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { deferred, history, openEngine, reached } from '../engine/world.ts'
import { isLong } from '../tier.ts'
import { callsOf, echo, llm, said, tool } from './world.ts'

const answer = 'All done.'

/** An agent that notes, asks, and notes again; every note leaves a mark. */
async function work(plan: (ledger: FaultyLedger) => void) {
  const ledger = createFaultyLedger(await openLedger(':memory:'))
  const marks: string[] = []
  const note = tool('test:note', ({ mark }) => {
    marks.push(String(mark))
    return mark
  })
  const model = createScriptedModel([
    {
      text: 'First.',
      tools: [
        { name: 'test_note', input: { mark: 'one' } },
        { name: 'test_note', input: { mark: 'two' } },
      ],
    },
    { text: 'Second.', tools: [{ name: 'ask_user', input: { question: 'Well?' } }] },
    { text: 'Third.', tools: [{ name: 'test_note', input: { mark: 'three' } }] },
    { text: answer },
  ])
  const engine = await createEngine({
    ledger,
    model,
    abilities: [note, tool('mem:retrieve', () => ({ chunks: [{ content: 'Recalled.' }] }))],
    executors: { agent: agent() },
    // The planted faults are reported here and ignored.
    onError: () => {},
  })
  // Created by an engine without the agent: the agent has to open the conversation.
  const producer = await createEngine({ ledger, work: false })
  plan(ledger)
  const create = () => producer.create({ executor: 'agent', goal: 'Note', key: 'note' } as never)
  const { id } = (await create().catch(create)) as { id: string }
  let attempts = 1
  for await (const event of engine.events({ taskId: id })) {
    if (event.type === 'question.asked') {
      const [question] = (await engine.get(id))?.questions ?? []
      // An answer whose outcome is unknown is given again, and found to be given.
      const give = () => engine.answer(id, 'so', { question: question?.id as string })
      if (question !== undefined) await give().catch(() => give().catch(() => {}))
    }
    if (event.type === 'task.completed') break
    if (event.type === 'task.failed') {
      attempts++
      ledger.mend()
      await engine.retry(id)
    }
  }
  const outcome = {
    marks,
    attempts,
    result: (await engine.get(id))?.result,
    said: (await said(engine, id)).filter((line) => !line.startsWith('user: ') || line === recalled),
    calls: await callsOf(engine, id),
    events: (await history(engine, id)).map(({ type }) => type),
    steps: [...ledger.steps],
  }
  await producer.close()
  await engine.close()
  await ledger.close()
  return outcome
}

const recalled = `user: ${recallText({ chunks: [{ content: 'Recalled.' }] })}`

const words = [
  'system: You are a helpful AI assistant.',
  recalled,
  'assistant: First.',
  'assistant: Second.',
  'assistant: Third.',
  `assistant: ${answer}`,
]

describe('an agent on a failing ledger', () => {
  it('the planted faults are off: the agent completes its work', async () => {
    const { marks, result, said: spoken, attempts } = await work(() => {})
    expect({ marks, result, attempts }).toEqual({ marks: ['one', 'two', 'three'], result: answer, attempts: 1 })
    expect(spoken).toEqual(words)
  })

  it.each(['refused', 'lost', 'kept'] as const)(
    'after a failure at any write (%s) no tool runs twice and no message is written twice',
    async (how: FaultKind) => {
      const whole = await work(() => {})
      const first = whole.steps.indexOf('create')
      let failed = 0
      for (let nth = 1; nth <= whole.steps.length - first; nth += isLong ? 1 : 4) {
        const found = await work((ledger) => ledger.fail(nth, how))
        const what = `step ${nth} (${found.steps[first + nth - 1]}) ${how}`
        expect(found.marks.length, what).toBe(new Set(found.marks).size)
        expect(found.result, what).toBe(answer)
        expect(new Set(found.said), what).toEqual(new Set(words))
        expect(found.said.length, what).toBe(words.length)
        // One row for each note: an interrupted one is returned to the model and not repeated. What a failed attempt
        // never began, the next one does.
        const begun = found.calls.filter((call) => call.startsWith('test:note') && !call.endsWith('RUN_ENDED'))
        expect(begun.length, `${what}: ${found.calls.join()}`).toBe(3)
        expect(found.events.filter((type) => type === 'question.asked').length, what).toBe(1)
        if (found.attempts > 1) failed++
        // A ledger that fails is no failure of the model.
        expect(found.events, what).not.toContain('model.failed')
      }
      expect(failed).toBeGreaterThan(0)
    },
  )
})

describe('a call of a tool that is closed or interrupted', () => {
  it('a call of a tool that is closed or interrupted is a failed call like any other when its ability throws RUN_ENDED', async () => {
    let tries = 0
    const odd = tool('test:odd', () => {
      tries++
      throw new ErrandError('RUN_ENDED', 'Some other run has ended.')
    })
    const model = createScriptedModel([{ tools: [{ name: 'test_odd' }] }, { text: answer }])
    const engine = await openEngine({ model, abilities: [odd] })
    const task = await engine.create({ goal: 'Try' })
    expect(await engine.result(task)).toBe(answer)
    expect(tries).toBe(1)
  })

  it('a call of a tool that is closed or interrupted is made once in a run when its ability throws CALL_INTERRUPTED, even if it may be repeated', async () => {
    let tries = 0
    const odd = tool(
      'test:odd',
      () => {
        tries++
        throw new ErrandError('CALL_INTERRUPTED', 'Interrupted somewhere.')
      },
      { onInterrupt: 'rerun' },
    )
    const model = createScriptedModel([{ tools: [{ name: 'test_odd' }] }, { text: answer }])
    const engine = await openEngine({ model, abilities: [odd] })
    const task = await engine.create({ goal: 'Try' })
    expect(await engine.result(task)).toBe(answer)
    expect(tries).toBe(1)
  })

  it('a call of a tool that is closed or interrupted is returned to the model when a person decides not to repeat it, although it was approved', async () => {
    const begun = deferred()
    let tries = 0
    const risky = tool(
      'test:risky',
      async (_input, { signal }) => {
        tries++
        begun.resolve()
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
      { confirm: true, onInterrupt: 'ask' },
    )
    const model = createScriptedModel([{ tools: [{ name: 'test_risky' }] }, { text: answer }])
    const engine = await openEngine({ model, abilities: [risky] })
    const task = await engine.create({ goal: 'Dare' })
    await reached(engine, task, 'input_required')
    await engine.answer(task, { approved: true })
    await begun.promise
    await engine.pause(task)
    await engine.resume(task)
    const asking = await reached(engine, task, (now) => now.status === 'input_required' && now.questions.length > 0)
    expect(asking.questions[0]?.question).toContain('interrupted')
    await engine.answer(task, 'fail')
    expect(await engine.result(task)).toBe(answer)
    expect(tries).toBe(1)
    expect(await callsOf(engine, task)).toEqual(['test:risky failed CALL_INTERRUPTED'])
  })

  it('a call of a tool that is closed or interrupted is passed to the next attempt when its attempt timed out, which makes the calls that never began', async () => {
    const begun = deferred()
    let tries = 0
    const slow = tool('test:slow', (_input, { signal }) => {
      tries++
      begun.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const model = llm((_input, step) =>
      step > 1
        ? { content: answer }
        : {
            toolCalls: [
              { id: 'a', name: 'test_slow', arguments: {} },
              { id: 'b', name: 'test_echo', arguments: { text: 'later' } },
            ],
          },
    )
    const clock = new SimulatedClock()
    const engine = await openEngine({ clock, abilities: [model.ability, slow, echo], toolExecution: 'sequential' })
    const task = await engine.create({ goal: 'Work', timeoutMs: 200, retry: { maxAttempts: 2 } })
    await begun.promise
    clock.increment(200)
    expect(await engine.result(task)).toBe(answer)
    expect(tries).toBe(1)
    expect(await callsOf(engine, task)).toEqual([
      'test:slow failed CALL_INTERRUPTED',
      'test:echo failed RUN_ENDED',
      'test:echo completed "later"',
    ])
    expect(model.messages(2).slice(-2)).toMatchObject([
      { tool_call_id: 'a', content: expect.stringMatching(/^Error: /) as string },
      { tool_call_id: 'b', content: 'later' },
    ])
  })

  it('a call of a tool that is closed or interrupted is decided by a person in the next attempt when its attempt timed out and its ability has onInterrupt ask', async () => {
    for (const [decision, expected] of [
      ['rerun', ['test:risky failed CALL_INTERRUPTED', 'test:risky completed 2']],
      ['fail', ['test:risky failed CALL_INTERRUPTED']],
    ] as const) {
      const begun = deferred()
      let tries = 0
      const risky = tool(
        'test:risky',
        (_input, { signal }) => {
          begun.resolve()
          return ++tries > 1
            ? tries
            : new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        },
        { onInterrupt: 'ask' },
      )
      const model = createScriptedModel([{ tools: [{ name: 'test_risky' }] }, { text: answer }])
      const clock = new SimulatedClock()
      const engine = await openEngine({ clock, model, abilities: [risky] })
      const task = await engine.create({ goal: 'Work', timeoutMs: 200, retry: { maxAttempts: 2 } })
      await begun.promise
      clock.increment(200)
      const asking = await reached(engine, task, 'input_required')
      expect([asking.attempt, tries]).toEqual([2, 1])
      await engine.answer(task, decision)
      expect(await engine.result(task)).toBe(answer)
      expect(await callsOf(engine, task)).toEqual(expected)
    }
  })

  it('an agent that does not wait continues at once', async () => {
    const model = llm((_input, step) =>
      step > 1 ? { content: answer } : { toolCalls: [{ id: 'w', name: 'wait_for_tasks', arguments: {} }] },
    )
    const engine = await openEngine({ abilities: [model.ability] })
    expect(await engine.result(await engine.create({ goal: 'Wait' }))).toBe(answer)
    expect(model.messages(2).at(-1)?.content).toBe('{"tasks":[]}')
  })
})
