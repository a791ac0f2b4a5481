// One step of any model: both versions of the specification, middleware, and misbehaving models.

import { defaultSettingsMiddleware, extractReasoningMiddleware, wrapLanguageModel } from 'ai'
import { MockLanguageModelV3, MockLanguageModelV4, simulateReadableStream } from 'ai/test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isLanguageModel,
  type LanguageModelLike,
  requireLanguageModel,
} from '../../../src/agents/models/language-model.ts'
import { retryableModelCodes, toModelFailure } from '../../../src/agents/models/model-error.ts'
import { toPrompt } from '../../../src/agents/models/model-prompt.ts'
import { runModelStep, streamModelStep } from '../../../src/agents/models/model-step.ts'
import { ErrandError, Failure } from '../../../src/core/errors.ts'
import { SimulatedClock } from '../../../src/testing/simulated-clock.ts'
import { collect, failureOf, hello, never } from './chunks.ts'

function modelThat(doStream: LanguageModelLike['doStream'], version: 'v3' | 'v4' = 'v4'): LanguageModelLike {
  return { specificationVersion: version, provider: 'hand', modelId: 'made', doStream }
}

/** A model whose stream holds these parts. An Error breaks the stream. */
function modelOf(parts: unknown[], version: 'v3' | 'v4' = 'v4'): LanguageModelLike {
  return modelThat(async () => ({ stream: streamOf(parts) }), version)
}

/** One part per pull: an error must not overtake the parts before it. */
function streamOf(parts: unknown[]): ReadableStream<unknown> {
  const rest = [...parts]
  return new ReadableStream({
    pull(controller) {
      if (rest.length === 0) return controller.close()
      const part = rest.shift()
      if (part instanceof Error) controller.error(part)
      else controller.enqueue(part)
    },
  })
}

const text = (delta: string) => ({ type: 'text-delta', id: '1', delta })
const call = (fields: object = {}) => ({ type: 'tool-call', toolCallId: 'a', toolName: 'look', input: '{}', ...fields })
const finish = (fields: object = {}) => ({
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: { inputTokens: { total: 3 }, outputTokens: { total: 4 } },
  ...fields,
})

describe('the chunks of a model step', () => {
  it('streamModelStep reads the early form of specification v3: the finish reason as a word, the usage as plain numbers', async () => {
    const early = {
      type: 'finish',
      finishReason: 'tool-calls',
      usage: { inputTokens: 3, outputTokens: 4, totalTokens: 9 },
    }
    const model = modelOf([{ type: 'stream-start', warnings: [] }, text('Hi'), call(), early], 'v3')
    expect(await runModelStep(model, hello, never())).toEqual({
      content: 'Hi',
      toolCalls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
      finish: { reason: 'tool-calls', usage: { inputTokens: 3, outputTokens: 4, totalTokens: 9 }, modelId: 'made' },
    })
  })

  it('streamModelStep reads the present form of v3 and v4: finish reason and usage as objects', async () => {
    for (const version of ['v3', 'v4'] as const) {
      const { finish: end } = await runModelStep(modelOf([text('Hi'), finish()], version), hello, never())
      expect(end).toEqual({
        reason: 'stop',
        usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
        modelId: 'made',
      })
    }
  })

  it.each([
    ['no usage', undefined],
    ['usage without numbers', { inputTokens: {}, outputTokens: {} }],
    ['usage that is not a number', { inputTokens: Number.NaN, outputTokens: 'many' }],
  ])('streamModelStep reads a usage of %s as unknown', async (_name, usage) => {
    const { finish: end } = await runModelStep(modelOf([finish({ usage })]), hello, never())
    expect(end?.usage).toEqual({ inputTokens: null, outputTokens: null, totalTokens: null })
  })

  it('streamModelStep reports the model that answered when the provider names it', async () => {
    const model = modelOf([{ type: 'response-metadata', modelId: 'made-2026-01-01', timestamp: new Date(0) }, finish()])
    expect((await runModelStep(model, hello, never())).finish?.modelId).toBe('made-2026-01-01')
  })

  it('streamModelStep ignores all other parts of the stream of a provider', async () => {
    const others = [
      { type: 'tool-input-start', id: 'a', toolName: 'look' },
      { type: 'tool-input-delta', id: 'a', delta: '{' },
      { type: 'raw', rawValue: {} },
      { type: 'ping' },
      { type: 'a-part-of-the-future' },
      { type: 'toString' },
      'no part at all',
      null,
      call({ providerExecuted: true }),
      { type: 'tool-result', toolCallId: 'a', toolName: 'look', result: 'done' },
      text(''),
    ]
    expect(await collect(streamModelStep(modelOf([...others, finish()]), hello, never()))).toHaveLength(1)
  })

  it('streamModelStep accepts a mock model of the AI SDK, of specification v3 or v4', async () => {
    const chunks = [text('from '), text('a mock'), finish()] as never[]
    const doStream = async () => ({ stream: simulateReadableStream({ chunks }) })
    for (const model of [new MockLanguageModelV4({ doStream }), new MockLanguageModelV3({ doStream })]) {
      expect(isLanguageModel(model)).toBe(true)
      expect((await runModelStep(model, hello, never())).content).toBe('from a mock')
    }
  })

  it('streamModelStep accepts a model wrapped in middleware of the AI SDK', async () => {
    const inner = new MockLanguageModelV4({
      doStream: async () => ({
        stream: simulateReadableStream({
          chunks: [
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: '<think>hm</think>yes' },
            { type: 'text-end', id: '1' },
            finish() as never,
          ],
        }),
      }),
    })
    const model = wrapLanguageModel({
      model: inner,
      middleware: [
        defaultSettingsMiddleware({ settings: { temperature: 0.3 } }),
        extractReasoningMiddleware({ tagName: 'think' }),
      ],
    })
    const chunks = await collect(streamModelStep(requireLanguageModel(model), hello, never()))
    expect(chunks.slice(0, 2)).toEqual([{ reasoning: 'hm' }, { content: 'yes' }])
    expect(inner.doStreamCalls[0]?.temperature).toBe(0.3)
  })
})

describe('the input of a model step', () => {
  it.each([
    ['a model of version 2', { ...modelOf([]), specificationVersion: 'v2' }, /specification v2.*v3 or v4/],
    ['the name of a model', 'openai:gpt-5-mini', /got the string "openai:gpt-5-mini"/],
    ['nothing', undefined, /got undefined/],
    ['an object that is not a model', {}, /no `specificationVersion`/],
    ['a model that cannot stream', { ...modelOf([]), doStream: undefined }, /no `doStream`/],
    ['a model without a provider', { ...modelOf([]), provider: undefined }, /no `provider`/],
    ['a model without an id', { ...modelOf([]), modelId: '' }, /no `modelId`/],
  ])('requireLanguageModel refuses %s', (_name, model, said) => {
    expect(() => requireLanguageModel(model)).toThrow(said)
    expect(isLanguageModel(model)).toBe(false)
  })

  it.each([
    ['no messages', { messages: [] }],
    ['a result that names no call', { messages: [{ role: 'tool', content: 'x' }] }],
    [
      'a user who calls tools',
      {
        messages: [{ role: 'user', content: 'x', tool_calls: [{ id: 'a', function: { name: 'b', arguments: '{}' } }] }],
      },
    ],
    ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }],
  ])('a model step refuses %s', async (_name, input) => {
    await expect(runModelStep(modelOf([finish()]), input as never, never())).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  it('a model step refuses an unknown option and names the nearest one', async () => {
    const input = { ...hello, setings: {} }
    await expect(runModelStep(modelOf([finish()]), input as never, never())).rejects.toMatchObject({
      code: 'UNKNOWN_OPTION',
      details: { nearest: 'settings' },
    })
  })
})

describe('a misbehaving model', () => {
  it('a misbehaving model fails the step finally when the model throws before it streams', async () => {
    const failure = await failureOf(
      runModelStep(
        modelThat(() => {
          throw new TypeError('options.prompt.map is not a function')
        }),
        hello,
        never(),
      ),
    )
    expect(failure).toMatchObject({ code: 'protocol', retry: false })
    expect(failure.message).toContain('hand/made')
    expect(failure.message).toContain('options.prompt.map')
  })

  it('a misbehaving model fails the step with retry when the model puts an Error into its stream', async () => {
    const model = modelOf([text('Hi'), { type: 'error', error: new Error('overloaded') }])
    const failure = await failureOf(runModelStep(model, hello, never()))
    expect(failure).toMatchObject({ code: 'upstream', retry: true, details: { partial: { content: 'Hi' } } })
  })

  it.each([
    ['ends with the reason "error"', [finish({ finishReason: 'error' })], 'upstream', true],
    ['ends interrupted', [finish({ finishReason: { unified: 'interrupted' } })], 'protocol', true],
    ['just ends', [text('Hi')], 'protocol', true],
    ['sends a part of the wrong shape', [{ type: 'text-delta', id: '1' }, finish()], 'protocol', false],
    ['sends a call without a name', [call({ toolName: '' }), finish()], 'protocol', false],
    [
      'loses its connection',
      [new TypeError('terminated', { cause: new Error('other side closed') })],
      'connection',
      true,
    ],
  ])('a misbehaving model fails the step when the stream %s', async (_name, parts, code, retry) => {
    expect(await failureOf(runModelStep(modelOf(parts), hello, never()))).toMatchObject({ code, retry })
  })

  it('a misbehaving model stops a model whose answer exceeds the maximum length', async () => {
    const endless = modelThat(async () => ({
      stream: new ReadableStream({ pull: (controller) => controller.enqueue(text('x'.repeat(1024 * 1024))) }),
    }))
    const failure = await failureOf(runModelStep(endless, hello, never()))
    expect(failure).toMatchObject({ code: 'protocol', retry: false })
    expect(failure.message).toContain('exceeds 4194304 characters')
  })

  it('a misbehaving model keeps a tool call in the details of a step that fails after it', async () => {
    const failure = await failureOf(runModelStep(modelOf([call(), new Error('ECONNRESET')]), hello, never()))
    expect(failure.details.partial.toolCalls).toEqual([
      { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } },
    ])
  })

  it('a misbehaving model rejects at once on an abort, even if the model ignores the signal', async () => {
    const controller = new AbortController()
    const canceled = Promise.withResolvers<unknown>()
    const unresponsive = modelThat(async () => ({ stream: new ReadableStream({ cancel: canceled.resolve }) }))
    const step = failureOf(runModelStep(unresponsive, hello, controller.signal))
    controller.abort()
    expect((await step).code).toBe('aborted')
    await canceled.promise
  })

  it('a misbehaving model cancels a stream that opens after the step has ended', async () => {
    const controller = new AbortController()
    const canceled = Promise.withResolvers<unknown>()
    const late = Promise.withResolvers<{ stream: ReadableStream<unknown> }>()
    const step = failureOf(
      runModelStep(
        modelThat(() => late.promise),
        hello,
        controller.signal,
      ),
    )
    controller.abort()
    expect((await step).code).toBe('aborted')
    late.resolve({ stream: new ReadableStream({ cancel: canceled.resolve }) })
    await canceled.promise
  })

  it('a misbehaving model passes on a Failure or an error of the engine that the model throws', async () => {
    const model = modelThat(async () => {
      throw new Failure('the local model is still loading', { code: 'upstream', retryAfterMs: 50 })
    })
    expect(await failureOf(runModelStep(model, hello, never()))).toMatchObject({
      code: 'upstream',
      retry: true,
      retryAfterMs: 50,
      details: { provider: 'hand', modelId: 'made' },
    })
  })
})

describe('toModelFailure', () => {
  const judge = (thrown: unknown, clock?: SimulatedClock) =>
    toModelFailure(thrown, {
      model: modelOf([]),
      signal: never(),
      partial: { content: '', toolCalls: [] },
      ...(clock ? { clock } : {}),
    })

  it('toModelFailure returns a code for anything that can be thrown, and never throws itself', () => {
    const codes = ['aborted', 'auth', 'rate_limited', 'context_overflow', 'upstream', 'connection', 'protocol']
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        const failure = judge(thrown)
        expect(codes).toContain(failure.code)
        if (failure.retry) expect(retryableModelCodes).toContain(failure.code)
      }),
    )
  })

  it('toModelFailure unwraps the last error of a wrapper that retried', () => {
    const last = Object.assign(new Error('Slow down'), { statusCode: 429, responseHeaders: { 'Retry-After': '1' } })
    const wrapped = Object.assign(new Error('gave up'), { name: 'AI_RetryError', lastError: last })
    expect(judge(wrapped)).toMatchObject({ code: 'rate_limited', retryAfterMs: 1000 })
  })

  it.each([
    ['1500', 1500],
    ['0', 0],
    ['-5', 0],
    ['0.4', 1],
    ['soon', undefined],
    ['', undefined],
    ['1e99', 3_600_000],
  ])('toModelFailure reads retry-after-ms "%s" as %s', (value, expected) => {
    const error = { statusCode: 429, message: '', responseHeaders: { 'retry-after-ms': value } }
    expect(judge(error).retryAfterMs).toBe(expected)
  })

  it('measures a retry-after date against the clock when the response has no date header', () => {
    const clock = new SimulatedClock(Date.parse('Fri, 02 Jan 2026 10:00:00 GMT'))
    const error = (date: string) => ({ statusCode: 503, message: '', responseHeaders: { 'retry-after': date } })
    expect(judge(error('Fri, 02 Jan 2026 10:01:00 GMT'), clock).retryAfterMs).toBe(60_000)
    expect(judge(error('Fri, 02 Jan 2026 09:00:00 GMT'), clock).retryAfterMs).toBe(0)
  })

  it('toModelFailure hides text that looks like a key from the message of a model failure', () => {
    const said = judge({
      statusCode: 400,
      message: 'no such key sk-abcdef123456 in ?api_key=hunter2 with Bearer abc.def',
    })
    expect(said.message).not.toMatch(/abcdef|hunter2|abc\.def/)
    expect(said.message).toContain('[hidden]')
  })

  it('toModelFailure treats an abort of the provider itself as a time-out of the connection', () => {
    expect(judge(new DOMException('too slow', 'TimeoutError'))).toMatchObject({ code: 'connection', retry: true })
  })

  it('toModelFailure keeps an error of the engine final', () => {
    expect(judge(new ErrandError('NO_MODEL', 'There is no model.'))).toMatchObject({ code: 'protocol', retry: false })
  })
})

describe('the prompt of a model', () => {
  it('the prompt of a model joins consecutive tool results into one message, with the names of their tools', () => {
    const tool = (id: string, name: string) => ({ id, type: 'function' as const, function: { name, arguments: '{}' } })
    expect(
      toPrompt([
        { role: 'assistant', content: 'Both.', tool_calls: [tool('a', 'look'), tool('b', 'see')] },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
        { role: 'tool', tool_call_id: 'b', content: 'Error: y', name: 'renamed' },
        { role: 'user', content: 'And?' },
        { role: 'tool', tool_call_id: 'z', content: 'stray' },
      ]),
    ).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Both.' },
          { type: 'tool-call', toolCallId: 'a', toolName: 'look', input: {} },
          { type: 'tool-call', toolCallId: 'b', toolName: 'see', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'a', toolName: 'look', output: { type: 'text', value: 'x' } },
          {
            type: 'tool-result',
            toolCallId: 'b',
            toolName: 'renamed',
            output: { type: 'error-text', value: 'Error: y' },
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'I have read the results.' }] },
      { role: 'user', content: [{ type: 'text', text: 'And?' }] },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'z', toolName: 'unknown', output: { type: 'text', value: 'stray' } },
        ],
      },
    ])
  })
})
