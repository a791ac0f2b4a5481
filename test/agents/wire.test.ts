// An agent with a model over the wire, through the real OpenAI-compatible provider: the effects of each possible fault
// on the conversation, the calls and the events.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Engine, EngineOptions } from '../../src/engine/engine-api.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { collect, history, openEngine, reached, turns, typesOf } from '../engine/world.ts'
import { type FakeTurn, startFakeOpenAi } from './models/fake-openai-server.ts'
import { announced, callsOf, echo, gatedTool, said } from './world.ts'

/** A server that plays these turns, and an engine with it as its model. */
async function setup(turns: FakeTurn[], options: Partial<EngineOptions<Record<never, never>>> = {}) {
  const server = await startFakeOpenAi(turns)
  onTestFinished(() => server.close())
  const provider = createOpenAICompatible({
    name: 'fake',
    baseURL: server.baseURL,
    apiKey: 'sk-secret-0123456789abcdef',
    includeUsage: true,
  })
  const engine = await openEngine({ model: provider('fake-1'), abilities: [echo], ...options })
  return { server, engine }
}

const opening = ['system: You are a helpful AI assistant.', 'user: Greet']

async function modelFailures(engine: Engine, taskId: string): Promise<Array<TaskEvent['data']>> {
  return (await history(engine, taskId)).filter(({ type }) => type === 'model.failed').map(({ data }) => data)
}

/** Everywhere a partial answer or a key might have been left: messages, calls, events, the task itself. */
async function everything(engine: Engine, taskId: string): Promise<string> {
  const { messages, calls } = { messages: await engine.messages(taskId), calls: await engine.calls(taskId) }
  return JSON.stringify([messages, calls, await history(engine, taskId), await engine.get(taskId)])
}

/** Resolves when no run of the engine is open any more. */
async function slotFree({ status }: Engine): Promise<void> {
  const used = status.select(({ slots }) => slots.used)
  if (used.get() === 0) return
  await new Promise<void>((resolve) => {
    const watching = used.subscribe((count) => {
      if (count > 0) return
      watching.unsubscribe()
      resolve()
    })
  })
}

describe('an agent over the wire of a provider', () => {
  it('an agent over the wire of a provider streams an answer as it comes and stores it whole, with its usage', async () => {
    const { server, engine } = await setup([{ text: ['Good ', 'morn', 'ing'] }])
    const task = await engine.create({ goal: 'Greet' })
    const items = await collect(engine.stream(task))
    expect(items.flatMap((item) => (item.type === 'content' ? [item.content] : [])).join('')).toBe('Good morning')
    expect(await said(engine, task)).toEqual([...opening, 'assistant: Good morning'])
    expect((await engine.messages(task)).at(-1)?.step).toMatchObject({
      modelId: 'fake-1',
      finishReason: 'stop',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    })
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]?.body.messages).toEqual([
      { role: 'system', content: 'You are a helpful AI assistant.' },
      { role: 'user', content: 'Greet' },
    ])
    expect(JSON.stringify(server.requests[0]?.body.tools)).toContain('test_echo')
  })

  it('an agent over the wire of a provider runs two parallel calls that arrive in pieces, and returns their results in order under their ids', async () => {
    const gated = gatedTool('test:slow')
    const { server, engine } = await setup(
      [
        {
          text: 'Both.',
          toolCalls: [
            { id: 'call_x', name: 'test_slow', arguments: { n: 1 } },
            { id: 'call_y', name: 'test_slow', arguments: { n: 2 } },
          ],
        },
        { text: 'Done.' },
      ],
      { abilities: [gated.ability] },
    )
    const task = await engine.create({ goal: 'Greet' })
    const [first, second] = await Promise.all([gated.began(0), gated.began(1)])
    expect([first.input, second.input]).toEqual([{ n: 1 }, { n: 2 }])
    second.end('two')
    first.end('one')
    expect(await engine.result(task)).toBe('Done.')
    const { messages } = (await server.request(2)).body as { messages: Array<Record<string, unknown>> }
    expect(messages.slice(2)).toMatchObject([
      {
        role: 'assistant',
        content: 'Both.',
        tool_calls: [
          { id: 'call_x', type: 'function', function: { name: 'test_slow', arguments: '{"n":1}' } },
          { id: 'call_y', type: 'function', function: { name: 'test_slow', arguments: '{"n":2}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_x', content: 'one' },
      { role: 'tool', tool_call_id: 'call_y', content: 'two' },
    ])
    expect(await callsOf(engine, task)).toEqual(['test:slow completed "one"', 'test:slow completed "two"'])
  })

  it('an agent over the wire of a provider returns a failed call for arguments that are not JSON, which the model may correct', async () => {
    const { server, engine } = await setup([
      { toolCalls: [{ id: 'a', name: 'test_echo', arguments: '{"text": "Par' }] },
      { toolCalls: [{ id: 'b', name: 'test_echo', arguments: { text: 'Paris' } }] },
      { text: 'Paris.' },
    ])
    const task = await engine.create({ goal: 'Greet' })
    expect(await engine.result(task)).toBe('Paris.')
    expect(await callsOf(engine, task)).toEqual(['test:echo failed INVALID_INPUT', 'test:echo completed "Paris"'])
    const results = server.requests[2]?.body.messages.filter(({ role }: { role: string }) => role === 'tool')
    expect(results).toMatchObject([
      { tool_call_id: 'a', content: expect.stringContaining('not a JSON object') as string },
      { tool_call_id: 'b', content: 'Paris' },
    ])
  })

  it('an agent over the wire of a provider waits out a short retry-after within the run', async () => {
    const { server, engine } = await setup([
      { status: 429, headers: { 'retry-after-ms': '3' }, error: { message: 'Slow down' } },
      { text: 'Hello' },
    ])
    const task = await engine.create({ goal: 'Greet' })
    expect(await engine.result(task)).toBe('Hello')
    expect(await modelFailures(engine, task.id)).toMatchObject([
      { try: 1, againInMs: 3, error: { code: 'rate_limited' }, run: 1 },
    ])
    expect(await engine.runs(task)).toHaveLength(1)
    expect(server.requests).toHaveLength(2)
    expect(await said(engine, task)).toEqual([...opening, 'assistant: Hello'])
  })

  it('an agent over the wire of a provider gives its slot back for a long retry-after, with a timer that survives restarts', async () => {
    const clock = new SimulatedClock()
    const { server, engine } = await setup(
      [
        { status: 429, headers: { 'retry-after': '60' }, error: { message: 'Come back in a minute' } },
        { text: 'Hello' },
      ],
      { clock },
    )
    const task = await engine.create({ goal: 'Greet' })
    await reached(engine, task, 'waiting')
    await slotFree(engine)
    expect(await engine.why(task)).toMatchObject({ reason: 'timer', at: clock.now() + 60_000 })
    expect(await modelFailures(engine, task.id)).toMatchObject([
      { try: 1, againInMs: 60_000, error: { code: 'rate_limited' } },
    ])
    clock.increment(59_000)
    await turns(20)
    expect(server.requests).toHaveLength(1)
    clock.increment(1_001)
    expect(await engine.result(task)).toBe('Hello')
    expect(await engine.runs(task)).toHaveLength(2)
    expect(await said(engine, task)).toEqual([...opening, 'assistant: Hello'])
    expect(await engine.calls(task)).toEqual([])
  })

  it('an agent over the wire of a provider counts delays as tries, also across runs: an endless rate limit fails the task', async () => {
    const clock = new SimulatedClock()
    const limited = { status: 429, headers: { 'retry-after': '60' }, error: { message: 'Come back later' } }
    const { server, engine } = await setup([limited, limited, limited, limited], { clock })
    const task = await engine.create({ goal: 'Greet' })
    for (const requests of [1, 2]) {
      await server.request(requests)
      await reached(engine, task, 'waiting')
      await slotFree(engine)
      clock.increment(60_001)
    }
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'rate_limited' } })
    expect((await modelFailures(engine, task.id)).map((failure) => [failure['try'], failure['againInMs']])).toEqual([
      [1, 60_000],
      [2, 60_000],
      [3, null],
    ])
    expect(server.requests).toHaveLength(3)
  })

  it('an agent over the wire of a provider waits out each delay, also one that follows a try within the run, and counts every try', async () => {
    const clock = new SimulatedClock()
    const limited = { status: 429, headers: { 'retry-after': '60' }, error: { message: 'Come back later' } }
    const overloaded = { status: 503, headers: { 'retry-after': '0' }, error: { message: 'Overloaded' } }
    const { server, engine } = await setup([overloaded, limited, limited, limited], {
      clock,
      modelRetry: { maxAttempts: 4 },
    })
    const task = await engine.create({ goal: 'Greet' })
    for (const requests of [2, 3]) {
      await server.request(requests)
      await reached(engine, task, 'waiting')
      await slotFree(engine)
      await turns(20)
      expect(server.requests).toHaveLength(requests)
      clock.increment(60_001)
    }
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'rate_limited' } })
    expect((await modelFailures(engine, task.id)).map((failure) => failure['try'])).toEqual([1, 2, 3, 4])
    expect(server.requests).toHaveLength(4)
  })

  it('an agent over the wire of a provider retries after a connection dropped in mid-stream, and keeps nothing of the partial answer', async () => {
    const { server, engine } = await setup(
      [{ text: ['Half an ', 'answer'], ending: 'destroy' }, { text: 'A whole one' }],
      { modelRetry: { maxAttempts: 2, backoffMs: 1 } },
    )
    const task = await engine.create({ goal: 'Greet' })
    expect(await engine.result(task)).toBe('A whole one')
    expect(server.requests).toHaveLength(2)
    expect(server.requests[1]?.body).toEqual(server.requests[0]?.body)
    expect(await said(engine, task)).toEqual([...opening, 'assistant: A whole one'])
    expect(await modelFailures(engine, task.id)).toMatchObject([{ try: 1, error: { code: 'connection' } }])
    expect(await everything(engine, task.id)).not.toContain('Half an')
  })

  it('an agent over the wire of a provider never begins a tool call of a dropped answer', async () => {
    const { engine } = await setup(
      [
        { toolCalls: [{ id: 'a', name: 'test_echo', arguments: { text: 'cut' } }], ending: 'destroy' },
        { toolCalls: [{ id: 'b', name: 'test_echo', arguments: { text: 'whole' } }] },
        { text: 'Done' },
      ],
      { modelRetry: { maxAttempts: 2, backoffMs: 1 } },
    )
    const task = await engine.create({ goal: 'Greet' })
    expect(await engine.result(task)).toBe('Done')
    expect(await callsOf(engine, task)).toEqual(['test:echo completed "whole"'])
  })

  it('S1-054 an agent over the wire of a provider closes the connection on a pause in mid-stream and keeps nothing partial; a resume calls the model again', async () => {
    const { server, engine } = await setup([{ text: 'I was just say', ending: 'hang' }, { text: 'Said.' }])
    const task = await engine.create({ goal: 'Greet' })
    const request = await server.request(1)
    await request.said
    for await (const item of engine.stream(task)) if (item.type === 'content') break
    await engine.pause(task)
    expect(await request.closed).toBe(true)
    expect(await engine.get(task.id)).toMatchObject({ status: 'paused' })
    expect(await said(engine, task)).toEqual(opening)
    expect(await everything(engine, task.id)).not.toContain('I was just say')
    await engine.resume(task)
    expect(await engine.result(task)).toBe('Said.')
    expect(await said(engine, task)).toEqual([...opening, 'assistant: Said.'])
    // An abort is no failure of the model.
    expect(await modelFailures(engine, task.id)).toEqual([])
    expect(server.requests).toHaveLength(2)
  })

  it('S0-054 an agent over the wire of a provider closes the connection on a cancellation in mid-stream', async () => {
    const { server, engine } = await setup([{ text: 'I was', ending: 'hang' }])
    const task = await engine.create({ goal: 'Greet' })
    const request = await server.request(1)
    await request.said
    await engine.cancel(task)
    expect(await request.closed).toBe(true)
    expect(await engine.settled(task)).toMatchObject({ status: 'canceled' })
    expect(await said(engine, task)).toEqual(opening)
  })

  it('S0-107 an agent over the wire of a provider leaves the task to the next engine when its engine closes in mid-stream, with nothing partial', async () => {
    const { server, engine } = await setup([{ text: 'I was', ending: 'hang' }])
    const task = await engine.create({ goal: 'Greet' })
    const request = await server.request(1)
    await request.said
    await engine.close()
    expect(await request.closed).toBe(true)
    expect(task.status).toBe('submitted')
  })

  it('an agent over the wire of a provider fails the task at once with context_overflow when the conversation is too long', async () => {
    const { server, engine } = await setup([
      {
        status: 400,
        error: { message: "This model's maximum context length is 8192 tokens.", code: 'context_length_exceeded' },
      },
    ])
    const task = await engine.create({ goal: 'Greet' })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'context_overflow' } })
    expect(server.requests).toHaveLength(1)
    expect(await said(engine, task)).toEqual(opening)
    expect(await announced(engine, task)).toEqual([expect.stringMatching(/^Task failed: .*too long/)])
    expect(await modelFailures(engine, task.id)).toMatchObject([
      { try: 1, againInMs: null, error: { code: 'context_overflow' } },
    ])
    expect(await engine.calls(task)).toEqual([])
    expect(typesOf(await history(engine, task.id)).at(-1)).toBe('task.failed')
  })

  it('an agent over the wire of a provider does not retry refused credentials, and stores the key nowhere', async () => {
    const { server, engine } = await setup([
      { status: 401, error: { message: 'Incorrect API key provided: sk-secret-0123456789abcdef' } },
    ])
    const task = await engine.create({ goal: 'Greet' })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'auth' } })
    expect(server.requests).toHaveLength(1)
    expect(await everything(engine, task.id)).not.toContain('sk-secret')
  })

  it('an agent over the wire of a provider retries a failing provider as often as the policy allows', async () => {
    const broken: FakeTurn = { status: 500, error: { message: 'Internal error' } }
    const { server, engine } = await setup([broken, broken, broken], {
      modelRetry: { maxAttempts: 3, backoffMs: 1 },
    })
    const task = await engine.create({ goal: 'Greet' })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'upstream' } })
    expect(server.requests).toHaveLength(3)
    expect((await modelFailures(engine, task.id)).map((failure) => failure['try'])).toEqual([1, 2, 3])
  })
})
