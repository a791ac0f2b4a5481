// The loop of an agent, step by step: the input of its model, what is stored of the answer, and when it ends.
import { describe, expect, it } from 'vitest'
import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { collect, deferred, history, openEngine, refusalOf, turns, typesOf } from '../engine/world.ts'
import { echo, finish, gatedTool, inShort, llm, partsModel, reasoning, said, text, toolCall } from './world.ts'

describe('a step of the model of an agent', () => {
  it('S0-061 S0-062 S1-056 an agent calls model:llm with all messages of its task and the tools that it may call', async () => {
    const model = llm(() => ({ content: 'Fine.' }))
    const engine = await openEngine({ abilities: [model.ability, echo] })
    const task = await engine.create({ goal: 'How are you?' })
    expect(await engine.result(task)).toBe('Fine.')
    expect(model.inputs).toHaveLength(1)
    expect(model.messages(1)).toEqual([
      { role: 'system', content: 'You are a helpful AI assistant.' },
      { role: 'user', content: 'How are you?' },
    ])
    const names = model.inputs[0]?.tools?.map((each) => each.function.name) ?? []
    expect(names).toContain('test_echo')
    expect(
      names.filter((name) =>
        /^(ldg|bus)_|model_llm|model_register|mem_(merge|branches|history|save|archive)/.test(name),
      ),
    ).toEqual([])
    expect(model.inputs[0]?.tools?.find((each) => each.function.name === 'test_echo')?.function).toMatchObject({
      description: 'Gives back a text.',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    })
  })

  it('S0-023 S0-063 S0-065 a step of the model of an agent streams each piece at once and stores the text once, whole', async () => {
    const hold = deferred()
    const model = partsModel([text('Good '), text('morn'), hold.promise, text('ing'), finish()])
    const engine = await openEngine({ model })
    const task = await engine.create({ goal: 'Greet' })
    const received: string[] = []
    for await (const item of engine.stream(task)) {
      if (item.type === 'content') received.push(item.content)
      if (item.type === 'content' && received.length === 2) {
        // The model has not ended: nothing of its answer is in the ledger.
        expect(await said(engine, task)).toEqual(['system: You are a helpful AI assistant.', 'user: Greet'])
        hold.resolve()
      }
    }
    expect(received.join('')).toBe('Good morning')
    expect(received.slice(0, 2)).toEqual(['Good ', 'morn'])
    expect(await said(engine, task)).toEqual([
      'system: You are a helpful AI assistant.',
      'user: Greet',
      'assistant: Good morning',
    ])
    expect(typesOf(await history(engine, task.id)).filter((type) => type === 'message.appended')).toHaveLength(3)
  })

  it('S0-024 stamps a streamed message with the time of its end, and a received one with that of its receipt', async () => {
    const clock = new SimulatedClock(1_000_000)
    const hold = deferred()
    const engine = await openEngine({ clock, model: partsModel([text('Hello'), hold.promise, finish()]) })
    const task = await engine.create({ goal: 'Greet' })
    for await (const item of engine.stream(task)) {
      if (item.type !== 'content') continue
      clock.increment(5_000)
      hold.resolve()
    }
    const messages = await engine.messages(task)
    expect(messages.map(({ role, timestamp }) => [role, timestamp])).toEqual([
      ['system', 1_000_000],
      ['user', 1_000_000],
      ['assistant', 1_005_000],
    ])
  })

  it('S0-025 a step of the model of an agent keeps markdown, line breaks and any character of an answer', async () => {
    const words = '# Ä heading\r\n\n- 🧵 one\n- 日本語\n\n```ts\nconst a = "\\n\\u0000"\n```\n\ttab, trailing  '
    const engine = await openEngine({ model: createScriptedModel([{ text: words, chunkSize: 3 }]) })
    const task = await engine.create({ goal: 'Write' })
    expect(await engine.result(task)).toBe(words)
    expect((await engine.messages(task)).at(-1)?.content).toBe(words)
  })

  it('S0-025 a step of the model of an agent keeps an answer that is cut off within a character, with U+FFFD in its place', async () => {
    const engine = await openEngine({
      model: partsModel([text('cut \ud83d'), finish()], [text('nul \u0000'), finish()]),
    })
    for (const kept of ['cut \uFFFD', 'nul \uFFFD']) {
      expect(await engine.result(await engine.create({ goal: 'Write' }))).toBe(kept)
    }
  })

  it('S0-064 S0-016 an agent collects tool calls that come in several chunks, and records one row for each', async () => {
    const model = partsModel(
      [
        text('Two.'),
        toolCall('a', 'test_echo', { text: 'first' }),
        text(' More.'),
        toolCall('b', 'test_echo', { text: 'second' }),
        finish('tool-calls'),
      ],
      [text('Done'), finish()],
    )
    const engine = await openEngine({ model, abilities: [echo] })
    const task = await engine.create({ goal: 'Echo' })
    expect(await engine.result(task)).toBe('Done')
    expect((await engine.calls(task)).map(({ params, result }) => [params, result])).toEqual([
      [{ text: 'first' }, 'first'],
      [{ text: 'second' }, 'second'],
    ])
    expect(await said(engine, task)).toContain('assistant: Two. More.')
  })

  it('S1-054 S0-026 a step of the model of an agent stores no message of a step that breaks off, and fails the task with its error', async () => {
    const broken = Promise.reject(Object.assign(new Error('bad things'), { statusCode: 400 }))
    broken.catch(() => {})
    const engine = await openEngine({ model: partsModel([text('I was say'), broken]) })
    const task = await engine.create({ goal: 'Speak' })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'protocol' } })
    expect(await said(engine, task)).toEqual(['system: You are a helpful AI assistant.', 'user: Speak'])
    const failures = (await history(engine, task.id)).filter(({ type }) => type === 'model.failed')
    expect(failures).toMatchObject([{ data: { try: 1, againInMs: null, error: { code: 'protocol' } } }])
    expect(JSON.stringify(failures)).not.toContain('I was say')
  })

  it('a step of an agent records its usage, its model and its finish reason, and is not a call', async () => {
    const model = createScriptedModel([
      {
        text: 'Look.',
        tools: [{ name: 'test_echo', input: { text: 'a' } }],
        usage: { inputTokens: 7, outputTokens: 3 },
      },
      { text: 'Seen.', usage: { inputTokens: 20, outputTokens: 1 } },
    ])
    const engine = await openEngine({ model, abilities: [echo] })
    const task = await engine.create({ goal: 'Look' })
    await engine.result(task)
    const steps = (await engine.messages(task)).flatMap(({ step }) => step ?? [])
    expect(steps).toMatchObject([
      {
        modelId: 'script',
        finishReason: 'tool-calls',
        usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 },
        attempt: 1,
        calls: [{ id: 'call_1_1', tool: 'test_echo', ability: 'test:echo', arguments: '{"text":"a"}' }],
      },
      { finishReason: 'stop', usage: { inputTokens: 20, outputTokens: 1, totalTokens: 21 }, calls: [] },
    ])
    expect((await engine.calls(task)).map(({ name }) => name)).toEqual(['test:echo'])
    expect(engine.bus.log({ abilityId: 'model:llm' })).toHaveLength(2)
  })

  it('a step of an agent records how long the model took, which people read with its model and its tokens', async () => {
    const clock = new SimulatedClock(5_000_000)
    const model = createScriptedModel(() => {
      clock.increment(1_500)
      return { text: 'Seen.', usage: { inputTokens: 20, outputTokens: 1 } }
    })
    const engine = await openEngine({ clock, model })
    const task = await engine.create({ goal: 'Look' })
    await engine.result(task)
    const read = async (caller: object) => {
      const found = await engine.bus.call('task:messages', { taskId: task.id }, { caller: caller as never })
      return found.messages.flatMap(({ step }) => step ?? [])
    }
    const usage = { inputTokens: 20, outputTokens: 1, totalTokens: 21 }
    expect(await read({ surface: 'http' })).toEqual([{ modelId: 'script', usage, tookMs: 1_500 }])
    expect(await read({ surface: 'model', taskId: task.id, run: 1 })).toEqual([])
  })
})

describe('the loop of an agent', () => {
  it('S0-066 S1-051 S1-006 the loop of an agent ends with the answer when no tool is called, and publishes it once', async () => {
    const clock = new SimulatedClock(5_000_000)
    const engine = await openEngine({ clock, model: createScriptedModel([{ text: 'Forty-two.' }]) })
    const task = await engine.create({ goal: 'Answer' })
    const items = await collect(engine.stream(task))
    expect(items.filter(({ type }) => type === 'end')).toMatchObject([{ status: 'completed' }])
    expect(items.at(-1)?.type).toBe('end')
    const events = (await history(engine, task.id)).filter(({ type }) => type === 'task.completed')
    expect(events).toHaveLength(1)
    expect(await engine.get(task.id)).toMatchObject({
      status: 'completed',
      result: 'Forty-two.',
      completedAt: 5_000_000,
    })
  })

  it('S0-067 S0-074 S1-007 S1-009 S1-010 S1-011 the loop of an agent continues while tools are called, with the calls and results in the next step', async () => {
    const model = llm((_input, step) =>
      step === 1
        ? { content: 'Let me see.', toolCalls: [{ id: 'x', name: 'test_echo', arguments: { text: 'seen' } }] }
        : { content: 'I have seen it.' },
    )
    const engine = await openEngine({ abilities: [model.ability, echo] })
    const task = await engine.create({ goal: 'Look' })
    expect(await engine.result(task)).toBe('I have seen it.')
    expect(model.messages(2)).toEqual([
      { role: 'system', content: 'You are a helpful AI assistant.' },
      { role: 'user', content: 'Look' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [{ id: 'x', type: 'function', function: { name: 'test_echo', arguments: '{"text":"seen"}' } }],
      },
      { role: 'tool', tool_call_id: 'x', name: 'test_echo', content: 'seen' },
    ])
  })

  it('S1-010 a conversation has no tool_calls for an assistant entry without calls', async () => {
    const model = llm((_input, step) => ({ content: `Answer ${step}` }))
    const engine = await openEngine({ abilities: [model.ability] })
    const hold = await engine.create({ goal: 'Talk', autoStart: false })
    await engine.send(hold, 'And then?', { delivery: 'followup' })
    await engine.start(hold)
    expect(await engine.result(hold)).toBe('Answer 2')
    const assistant = model.messages(2).find(({ role }) => role === 'assistant')
    expect(assistant).toEqual({ role: 'assistant', content: 'Answer 1' })
  })

  it('the loop of an agent continues after tool calls, whatever finish reason the provider reports', async () => {
    const model = partsModel(
      [toolCall('a', 'test_echo', { text: 'once' }), finish('stop')],
      [toolCall('b', 'test_echo', { text: 'twice' }), finish('length')],
      [text('Done'), finish()],
    )
    const engine = await openEngine({ model, abilities: [echo] })
    const task = await engine.create({ goal: 'Echo' })
    expect(await engine.result(task)).toBe('Done')
    expect((await engine.calls(task)).map(({ result }) => result)).toEqual(['once', 'twice'])
  })

  it.each([
    ['an empty answer', [finish()], 'EMPTY_ANSWER', 'Your answer was empty.'],
    ['reasoning alone', [reasoning('Hm.'), finish()], 'EMPTY_ANSWER', 'Your answer was empty.'],
    ['an answer that is cut', [text('Half of'), finish('length')], 'ANSWER_CUT', 'Your answer was cut'],
    ['calls that do not come', [text('I look.'), finish('tool-calls')], 'EMPTY_ANSWER', 'You announced a call'],
  ])(
    'S1-055 after %s the model is asked once more, and then the task fails with a code of its own',
    async (_what, step, code, request) => {
      const model = partsModel(step, [text('Whole.'), finish()], step, step, [text('At last.'), finish()])
      const engine = await openEngine({ model })
      const fine = await engine.create({ goal: 'Talk' })
      expect(await engine.result(fine)).toBe('Whole.')
      expect((await said(engine, fine)).at(-2)).toContain(`user: ${request}`)
      const failed = await engine.create({ goal: 'Talk' })
      expect(await engine.settled(failed)).toMatchObject({ status: 'failed', error: { code } })
      await engine.retry(failed)
      expect(await engine.result(failed)).toBe('At last.')
    },
  )

  it('an answer that is a file alone ends the work, and its message has the file', async () => {
    const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }
    const engine = await openEngine({ model: partsModel([reasoning('I draw.'), file, finish()]) })
    const task = await engine.create({ goal: 'Draw' })
    expect(await engine.result(task)).toBe('')
    const drawn = (await engine.messages(task)).at(-1)
    expect(drawn?.step?.parts?.at(-1)).toEqual({ type: 'file', mediaType: 'image/png', base64: 'AAAA' })
  })

  it('an answer that the provider withholds fails the task at once, and a retry asks for another one', async () => {
    const engine = await openEngine({
      model: partsModel([text('Some of'), finish('content-filter')], [text('Fine.'), finish()]),
    })
    const task = await engine.create({ goal: 'Talk' })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'ANSWER_WITHHELD' } })
    await engine.retry(task)
    expect(await engine.result(task)).toBe('Fine.')
  })

  it('S0-075 the loop of an agent shows announcements to people, and to no step of a model', async () => {
    const model = llm((_input, step) =>
      step <= 2
        ? { toolCalls: [{ id: `x${step}`, name: 'test_echo', arguments: { text: 'a' } }] }
        : { content: 'Done' },
    )
    const engine = await openEngine({ abilities: [model.ability, echo] })
    const task = await engine.create({ goal: 'Echo' })
    await engine.result(task)
    expect((await engine.messages(task)).filter(({ announcement }) => announcement)).toHaveLength(4)
    for (const { messages } of model.inputs) expect(JSON.stringify(messages)).not.toMatch(/🔧|✓|✗/u)
    expect(inShort(model.messages(3)).map((line) => line.split(':')[0])).toEqual([
      'system',
      'user',
      'assistant',
      'tool x1',
      'assistant',
      'tool x2',
    ])
  })

  it('C-15 C-16 the loop of an agent streams from the start to exactly one end, however late the reader starts', async () => {
    const model = createScriptedModel([{ tools: [{ name: 'test_echo', input: { text: 'a' } }] }, { text: 'Done.' }])
    const engine = await openEngine({ model, abilities: [echo] })
    const task = await engine.create({ goal: 'Echo' })
    await engine.result(task)
    const types = (await collect(engine.stream(task))).map(({ type }) => type)
    expect(types[0]).toBe('start')
    expect(types.filter((type) => type === 'end')).toHaveLength(1)
    expect(types.at(-1)).toBe('end')
    expect(types.indexOf('tool_call')).toBeGreaterThan(0)
    expect(types.indexOf('tool_result')).toBeGreaterThan(types.indexOf('tool_call'))
  })

  it('S0-079 S1-053 the loop of an agent fails the task with the message of an exception, which the conversation announces to people', async () => {
    const model = llm(() => {
      throw new Error('the model is on strike')
    })
    const engine = await openEngine({ abilities: [model.ability] })
    const task = await engine.create({ goal: 'Work' })
    const items = await collect(engine.stream(task))
    expect(items.filter(({ type }) => type === 'error')).toMatchObject([
      { error: { message: expect.stringContaining('the model is on strike') as string }, willRetry: false },
    ])
    expect(items.at(-1)).toMatchObject({ type: 'end', status: 'failed' })
    const last = (await engine.messages(task)).at(-1)
    expect(last).toMatchObject({ role: 'assistant', announcement: true })
    expect(last?.content).toBe(`Task failed: ${(await engine.get(task.id))?.error?.message}`)
  })
})

describe('the iterations of an agent', () => {
  const forever = () => createScriptedModel(() => ({ tools: [{ name: 'test_echo', input: { text: 'again' } }] }))

  it('S0-076 S0-077 S1-050 an agent fails its task after ten model steps in one attempt, with MAX_ITERATIONS', async () => {
    const model = forever()
    const engine = await openEngine({ model, abilities: [echo] })
    const task = await engine.create({ goal: 'Never end' })
    expect(await engine.settled(task)).toMatchObject({
      status: 'failed',
      error: { code: 'MAX_ITERATIONS', message: 'Maximum iterations reached', details: { maxIterations: 10 } },
    })
    expect(model.prompts).toHaveLength(10)
    expect((await engine.messages(task)).at(-1)?.content).toBe('Task failed: Maximum iterations reached')
    expect(await engine.calls(task)).toHaveLength(10)
  })

  it('S0-076 the maximum of iterations is taken from the agent, else from the engine', async () => {
    const model = forever()
    const executors = { brief: agent({ maxIterations: 1 }), agent: agent() }
    const engine = await openEngine({ model, abilities: [echo], executors, maxIterations: 3 })
    for (const [executor, steps] of [
      ['agent', 3],
      ['brief', 1],
    ] as const) {
      const before = model.prompts.length
      const task = await engine.create({ executor, goal: 'Never end' })
      expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'MAX_ITERATIONS' } })
      expect(model.prompts.length - before).toBe(steps)
    }
  })

  it('S0-078 an agent completes a task that it answers in its last iteration', async () => {
    const turn = { tools: [{ name: 'test_echo', input: { text: 'a' } }] }
    const engine = await openEngine({
      model: createScriptedModel([turn, turn, { text: 'Just in time' }]),
      abilities: [echo],
      maxIterations: 3,
    })
    expect(await engine.result(await engine.create({ goal: 'Hurry' }))).toBe('Just in time')
  })

  it('an agent counts iterations through pauses: a resumed run has no more of them', async () => {
    const held = [deferred(), deferred()]
    const model = createScriptedModel(async ({ turn }) => {
      if (turn === 1) await held[0]?.promise
      return { tools: [{ name: 'test_echo', input: { text: `${turn}` } }] }
    })
    const engine = await openEngine({ model, abilities: [echo], maxIterations: 3 })
    const task = await engine.create({ goal: 'Never end' })
    for await (const event of engine.events({ taskId: task.id })) if (event.type === 'call.completed') break
    await engine.pause(task)
    held[0]?.resolve()
    await engine.resume(task)
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'MAX_ITERATIONS' } })
    expect((await engine.messages(task)).filter(({ step }) => step !== null)).toHaveLength(3)
    expect((await engine.runs(task)).length).toBe(2)
  })

  it('an agent counts iterations anew after a retry, which continues the same conversation', async () => {
    const model = createScriptedModel(({ turn }) =>
      turn < 4 ? { tools: [{ name: 'test_echo', input: { text: `${turn}` } }] } : { text: 'At last' },
    )
    const engine = await openEngine({ model, abilities: [echo], maxIterations: 3 })
    const task = await engine.create({ goal: 'Take long' })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed' })
    await engine.retry(task)
    expect(await engine.result(task)).toBe('At last')
    expect(model.prompts.map(({ turn }) => turn)).toEqual([0, 1, 2, 3, 4])
    expect((await engine.calls(task)).map(({ result }) => result)).toEqual(['0', '1', '2', '3'])
    expect((await engine.messages(task)).flatMap(({ step }) => step?.attempt ?? [])).toEqual([1, 1, 1, 2, 2])
  })
})

describe('a canceled agent', () => {
  it('S0-053 S0-055 S1-045 S1-046 a canceled agent aborts its tools in flight, and fails their calls and the pending ones with the reason', async () => {
    const slow = gatedTool('test:slow')
    const model = createScriptedModel([
      {
        tools: [
          { name: 'test_slow', input: {} },
          { name: 'test_echo', input: { text: 'a' } },
        ],
      },
    ])
    const engine = await openEngine({ model, abilities: [slow.ability, echo], toolExecution: 'sequential' })
    const task = await engine.create({ goal: 'Take long' })
    const child = await engine.create({ name: 'child', parentId: task.id })
    const { signal } = await slow.began(0)
    await engine.cancel(task, 'no longer needed')
    expect(await engine.settled(task)).toMatchObject({ status: 'canceled', statusReason: 'no longer needed' })
    for await (const event of engine.events({ taskId: task.id })) if (event.type === 'run.closed') break
    expect(signal.aborted).toBe(true)
    const calls = await engine.calls(task)
    expect(calls.map(({ name, status }) => `${name} ${status}`)).toEqual(['test:slow failed', 'test:echo failed'])
    for (const { error } of calls) expect(error?.message).toContain('no longer needed')
    expect(await engine.get(child.id)).toMatchObject({ status: 'canceled' })
    await refusalOf(engine.resume(task), 'INVALID_TRANSITION')
  })

  it('S0-054 a canceled agent stays canceled: a later answer adds no message and changes nothing', async () => {
    const hold = deferred()
    const late = deferred()
    const model = createScriptedModel(async () => {
      hold.resolve()
      await late.promise
      return { text: 'Too late' }
    })
    const engine = await openEngine({ model })
    const task = await engine.create({ goal: 'Answer' })
    await hold.promise
    await engine.cancel(task)
    late.resolve()
    await turns()
    expect(await engine.get(task.id)).toMatchObject({ status: 'canceled', result: null })
    expect(await said(engine, task)).toEqual(['system: You are a helpful AI assistant.', 'user: Answer'])
  })
})
