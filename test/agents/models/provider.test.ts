// One step through the real OpenAI-compatible provider, against a server that implements the wire format.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { runModelStep, streamModelStep } from '../../../src/agents/models/model-step.ts'
import { toStoredError } from '../../../src/core/stored-error.ts'
import { collect, failureOf, hello, never } from './chunks.ts'
import { type FakeOpenAi, type FakeTurn, startFakeOpenAi } from './fake-openai-server.ts'

const key = 'sk-secret-0123456789abcdef'

function modelOf(baseURL: string) {
  return createOpenAICompatible({ name: 'fake', baseURL, apiKey: key, includeUsage: true })('fake-1')
}

async function setup(...turns: FakeTurn[]): Promise<FakeOpenAi & { model: ReturnType<typeof modelOf> }> {
  const server = await startFakeOpenAi(turns)
  return Object.assign(server, { model: modelOf(server.baseURL) })
}

describe('streamModelStep through the provider of the AI SDK', () => {
  it('S0-063 streamModelStep through the provider of the AI SDK yields each piece of text as it arrives, and the finish as the last chunk', async () => {
    await using server = await setup({ text: ['Good ', 'morning'], reasoning: 'polite' })
    expect(await collect(streamModelStep(server.model, hello, never()))).toEqual([
      { reasoning: 'polite' },
      { content: 'Good ' },
      { content: 'morning' },
      {
        parts: [
          { type: 'reasoning', text: 'polite' },
          { type: 'text', text: 'Good morning' },
        ],
      },
      {
        finish: {
          reason: 'stop',
          usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
          modelId: 'fake-1',
        },
      },
    ])
  })

  it('S0-063 streamModelStep through the provider of the AI SDK yields a first piece before the answer of the model is complete', async () => {
    await using server = await setup({ text: 'first', ending: 'hang' })
    const chunks = streamModelStep(server.model, hello, never())
    expect(await chunks.next()).toEqual({ done: false, value: { content: 'first' } })
    server.release()
    expect((await collect(chunks)).map((chunk) => Object.keys(chunk)[0])).toEqual(['finish'])
  })

  it('S0-064 streamModelStep through the provider of the AI SDK joins parallel tool calls whose arguments arrive in pieces', async () => {
    await using server = await setup({
      text: 'Both.',
      toolCalls: [
        { id: 'a', name: 'weather', arguments: { city: 'Paris', days: 3 } },
        { id: 'b', name: 'weather', arguments: { city: 'Reykjavík' } },
      ],
    })
    const answer = await runModelStep(server.model, hello, never())
    expect(answer.content).toBe('Both.')
    expect(answer.toolCalls).toEqual([
      { id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris","days":3}' } },
      { id: 'b', type: 'function', function: { name: 'weather', arguments: '{"city":"Reykjavík"}' } },
    ])
    expect(answer.finish?.reason).toBe('tool-calls')
  })

  it('streamModelStep through the provider of the AI SDK passes on tool arguments that are not JSON unchanged, and missing ones as an empty object', async () => {
    await using server = await setup({
      toolCalls: [
        { name: 'broken', arguments: '{"city": "Par' },
        { name: 'bare', arguments: '' },
      ],
    })
    const { toolCalls } = await runModelStep(server.model, hello, never())
    expect(toolCalls.map((call) => call.function.arguments)).toEqual(['{"city": "Par', '{}'])
  })

  it('streamModelStep through the provider of the AI SDK ends an answer without text and tools with a finish chunk', async () => {
    await using server = await setup({ usage: null })
    expect(await runModelStep(server.model, hello, never())).toEqual({
      content: '',
      toolCalls: [],
      finish: {
        reason: 'stop',
        usage: { inputTokens: null, outputTokens: null, totalTokens: null },
        modelId: 'fake-1',
      },
    })
  })

  it('S0-062 streamModelStep through the provider of the AI SDK sends the whole conversation over the wire, with tools and their results', async () => {
    await using server = await setup({ text: 'ok' })
    const parameters = { type: 'object', properties: { city: { type: 'string' } } }
    await runModelStep(
      server.model,
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: 'Weather?' },
          {
            role: 'assistant',
            content: '',
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
              { id: 'b', type: 'function', function: { name: 'weather', arguments: '{"city": "Par' } },
              { id: 'c', type: 'function', function: { name: 'weather', arguments: '["Rome"]' } },
            ],
          },
          { role: 'tool', tool_call_id: 'a', content: 'sunny' },
          { role: 'tool', tool_call_id: 'b', content: 'Error: the arguments are not JSON' },
          { role: 'tool', tool_call_id: 'c', content: '' },
          { role: 'assistant', content: '' },
          { role: 'assistant', content: 'Sunny.' },
          { role: 'user', content: 'Thanks.' },
        ],
        tools: [{ type: 'function', function: { name: 'weather', description: 'Returns the weather.', parameters } }],
        toolChoice: 'required',
        settings: { temperature: 0.5, maxOutputTokens: 100, topP: 0.9, seed: 7, stopSequences: ['END'] },
      },
      never(),
    )
    const call = (id: string, text: string) => ({
      id,
      type: 'function',
      function: { name: 'weather', arguments: text },
    })
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/v1/chat/completions' })
    expect(server.requests[0]?.body).toMatchObject({
      model: 'fake-1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Weather?' },
        // Arguments that are not an object are replayed as an empty one.
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('a', '{"city":"Paris"}'), call('b', '{}'), call('c', '{}')],
        },
        { role: 'tool', tool_call_id: 'a', content: 'sunny' },
        { role: 'tool', tool_call_id: 'b', content: 'Error: the arguments are not JSON' },
        { role: 'tool', tool_call_id: 'c', content: '' },
        { role: 'assistant', content: 'Sunny.' },
        { role: 'user', content: 'Thanks.' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', description: 'Returns the weather.', parameters } }],
      tool_choice: 'required',
      temperature: 0.5,
      max_tokens: 100,
      top_p: 0.9,
      seed: 7,
      stop: ['END'],
    })
  })

  it('requests a JSON answer when a response format is given', async () => {
    await using server = await setup({ text: '{}' })
    await runModelStep(server.model, { ...hello, responseFormat: { type: 'json' } }, never())
    expect(server.requests[0]?.body.response_format).toEqual({ type: 'json_object' })
  })
})

describe('a failed model step', () => {
  const long = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
  const http: Array<[string, FakeTurn, { code: string; retry: boolean; status: number; retryAfterMs?: number }]> = [
    ['401', { status: 401, error: `Incorrect API key: ${key}` }, { code: 'auth', retry: false, status: 401 }],
    ['403', { status: 403, error: { message: 'Not for you' } }, { code: 'auth', retry: false, status: 403 }],
    [
      '429 with retry-after-ms',
      { status: 429, headers: { 'retry-after-ms': '1500' }, error: { message: 'Slow down' } },
      { code: 'rate_limited', retry: true, status: 429, retryAfterMs: 1500 },
    ],
    [
      '429 with retry-after in seconds',
      { status: 429, headers: { 'retry-after': '2' }, error: { message: 'Slow down' } },
      { code: 'rate_limited', retry: true, status: 429, retryAfterMs: 2000 },
    ],
    [
      '429 with retry-after as a date',
      {
        status: 429,
        headers: { 'retry-after': 'Fri, 02 Jan 2026 10:00:30 GMT', date: 'Fri, 02 Jan 2026 10:00:00 GMT' },
        error: { message: 'Slow down' },
      },
      { code: 'rate_limited', retry: true, status: 429, retryAfterMs: 30_000 },
    ],
    [
      '429 with an endless retry-after, capped at an hour',
      { status: 429, headers: { 'retry-after': '86400' }, error: { message: 'Slow down' } },
      { code: 'rate_limited', retry: true, status: 429, retryAfterMs: 3_600_000 },
    ],
    [
      '429 without retry-after',
      { status: 429, error: { message: 'Slow down' } },
      { code: 'rate_limited', retry: true, status: 429 },
    ],
    [
      '429 for a quota that is used up',
      { status: 429, error: { message: 'You exceeded your quota', code: 'insufficient_quota' } },
      { code: 'rate_limited', retry: false, status: 429 },
    ],
    [
      '400 with the code of an overflow',
      { status: 400, error: { message: long, type: 'invalid_request_error', code: 'context_length_exceeded' } },
      { code: 'context_overflow', retry: false, status: 400 },
    ],
    [
      '400 that mentions the context length only in its text',
      { status: 400, error: { message: long } },
      { code: 'context_overflow', retry: false, status: 400 },
    ],
    ['413', { status: 413, error: 'too large' }, { code: 'context_overflow', retry: false, status: 413 }],
    [
      '400 of another kind',
      { status: 400, error: { message: 'Unknown parameter: foo' } },
      { code: 'protocol', retry: false, status: 400 },
    ],
    [
      '404',
      { status: 404, error: { message: 'The model does not exist' } },
      { code: 'protocol', retry: false, status: 404 },
    ],
    ['500', { status: 500, error: { message: 'Oops' } }, { code: 'upstream', retry: true, status: 500 }],
    [
      '503 with retry-after',
      { status: 503, headers: { 'retry-after': '3' }, error: '<html>' },
      { code: 'upstream', retry: true, status: 503, retryAfterMs: 3000 },
    ],
  ]
  it.each(http)('a failed model step fails with the code for the HTTP error: %s', async (_name, turn, expected) => {
    await using server = await setup(turn)
    const failure = await failureOf(runModelStep(server.model, hello, never()))
    expect({
      code: failure.code,
      retry: failure.retry,
      status: failure.details.status,
      ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
    }).toEqual(expected)
    expect(failure.details).toEqual({
      status: expected.status,
      provider: 'fake.chat',
      modelId: 'fake-1',
      partial: { content: '', toolCalls: [] },
    })
    expect(server.requests).toHaveLength(1)
  })

  const midStream: Array<[string, FakeTurn, { code: string; retry: boolean }]> = [
    ['a dropped connection', { ending: 'destroy' }, { code: 'connection', retry: true }],
    ['an event that is not JSON', { ending: 'malformed' }, { code: 'protocol', retry: false }],
    ['a stream without a finish', { finish: null }, { code: 'protocol', retry: true }],
    [
      'an error event',
      { ending: { error: { message: 'The server had an error', type: 'server_error' } } },
      { code: 'upstream', retry: true },
    ],
    [
      'an error event about the rate',
      { ending: { error: { message: 'Slow down', type: 'rate_limit_error' } } },
      { code: 'rate_limited', retry: true },
    ],
    [
      'an error event about the length',
      { ending: { error: { message: long, code: 'context_length_exceeded' } } },
      { code: 'context_overflow', retry: false },
    ],
    [
      'an error event about the key',
      { ending: { error: { message: key, type: 'authentication_error' } } },
      { code: 'auth', retry: false },
    ],
  ]
  it.each(midStream)(
    'a failed model step fails in the middle of the stream and keeps the partial answer: %s',
    async (_name, turn, expected) => {
      await using server = await setup({ text: ['It is ', 'sun'], ...turn })
      const failure = await failureOf(runModelStep(server.model, hello, never()))
      expect({ code: failure.code, retry: failure.retry }).toEqual(expected)
      expect(failure.details.partial).toEqual({ content: 'It is sun', toolCalls: [] })
    },
  )

  it('a failed model step fails with the code connection when the server is not reachable', async () => {
    const place = createServer().listen(0, '127.0.0.1')
    await once(place, 'listening')
    const { port } = place.address() as AddressInfo
    place.close()
    await once(place, 'close')
    const failure = await failureOf(runModelStep(modelOf(`http://127.0.0.1:${port}/v1`), hello, never()))
    expect(failure).toMatchObject({ code: 'connection', retry: true })
    expect(failure.details.status).toBeNull()
    expect(failure.message).toContain('ECONNREFUSED')
  })

  it('a failed model step stores neither the key nor headers nor bodies', async () => {
    await using server = await setup(
      { status: 401, error: { message: `Bad key ${key}` } },
      { status: 500, error: { message: `Authorization: Bearer ${key} was not understood` } },
      { status: 400, error: `{"echo": "${key}"}` },
      { ending: { error: { message: `key ${key}` } } },
    )
    for (let step = 1; step <= 4; step++) {
      const failure = await failureOf(
        runModelStep(server.model, { messages: [{ role: 'user', content: 'my private words' }] }, never()),
      )
      const stored = JSON.stringify(toStoredError(failure))
      expect(stored).not.toContain('0123456789')
      expect(stored).not.toContain('private words')
    }
    expect(server.unplanned).toBe(0)
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`)
  })
})

describe('an aborted model step', () => {
  it('aborted in the middle of the stream keeps the partial answer and closes the connection to the server', async () => {
    await using server = await setup({ text: 'It is ', ending: 'hang' })
    const controller = new AbortController()
    const chunks = streamModelStep(server.model, hello, controller.signal)
    await chunks.next()
    const rest = failureOf(collect(chunks))
    controller.abort(new Error('the task was paused'))
    const failure = await rest
    expect(failure).toMatchObject({ code: 'aborted', retry: false })
    expect(failure.message).toContain('the task was paused')
    expect(failure.details.partial.content).toBe('It is ')
    expect(await server.requests[0]?.closed).toBe(true)
  })

  it('an aborted model step fails with the code aborted when it is aborted before the answer begins', async () => {
    await using server = await setup({ ending: 'hang' })
    const controller = new AbortController()
    const step = failureOf(runModelStep(server.model, hello, controller.signal))
    const request = await server.request(1)
    controller.abort()
    expect((await step).code).toBe('aborted')
    expect(await request.closed).toBe(true)
  })

  it('an aborted model step sends no request when the signal aborted before the step', async () => {
    await using server = await setup({ text: 'never' })
    expect((await failureOf(runModelStep(server.model, hello, AbortSignal.abort()))).code).toBe('aborted')
    expect(server.requests).toHaveLength(0)
  })

  it('an aborted model step reports an abort instead of the error that it causes', async () => {
    await using server = await setup({ status: 500, error: { message: 'Oops' } })
    const controller = new AbortController()
    const model = {
      specificationVersion: 'v4' as const,
      provider: 'fake.chat',
      modelId: 'fake-1',
      doStream: async (options: LanguageModelV4CallOptions) => {
        try {
          return await server.model.doStream(options)
        } finally {
          controller.abort()
        }
      },
    }
    expect((await failureOf(runModelStep(model, hello, controller.signal))).code).toBe('aborted')
  })

  it('a model step closes the connection to the provider when the loop over it is left early', async () => {
    await using server = await setup({ text: 'It is ', ending: 'hang' })
    for await (const _chunk of streamModelStep(server.model, hello, never())) break
    expect(await server.requests[0]?.closed).toBe(true)
  })
})

describe('the fake OpenAI server', () => {
  it('the fake OpenAI server refuses a request without a planned turn', async () => {
    await using server = await setup({ text: 'planned' })
    await runModelStep(server.model, hello, never())
    const failure = await failureOf(runModelStep(server.model, hello, never()))
    expect(failure).toMatchObject({ code: 'protocol', retry: false })
    expect(failure.message).toContain('No answer is planned for request 2')
    expect(server.unplanned).toBe(1)
    server.plan({ text: 'planned later' })
    expect((await runModelStep(server.model, hello, never())).content).toBe('planned later')
  })

  it('the fake OpenAI server plays the turn that a function chooses by the request', async () => {
    await using server = await startFakeOpenAi(({ body, number }) => ({
      text: `${number}: ${body.messages[0].content}`,
    }))
    expect((await runModelStep(modelOf(server.baseURL), hello, never())).content).toBe('1: Hello')
  })
})
