// A durable model by itself: what is recorded of a step, what a repeated run gets of it, and how its failures are
// handled.
import { APICallError } from '@ai-sdk/provider'
import { generateText, streamText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { durable } from '../../../src/agents/ai/durable.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import { SimulatedClock } from '../../../src/testing/simulated-clock.ts'
import { deferred, openEngine, turns } from '../../engine/world.ts'
import { answerOf, modelOf, outcomeOf, partsOf, question, runOnce, seenTwice, streamOfParts, textOf } from './world.ts'

function tooMany(
  message = 'Too many requests',
  headers: Record<string, string> = { 'retry-after-ms': '1' },
): APICallError {
  return new APICallError({
    message,
    url: 'https://models.example/chat',
    requestBodyValues: { secret: 'the conversation' },
    statusCode: 429,
    responseHeaders: headers,
    isRetryable: true,
  })
}

/** A model that does not answer until it is aborted; `asked` resolves to the signal. */
function silentModel() {
  const asked = deferred<AbortSignal>()
  const model = new MockLanguageModelV4({
    modelId: 'mock-1',
    doGenerate: (options) => {
      const signal = options.abortSignal as AbortSignal
      asked.resolve(signal)
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  return { model, asked: asked.promise }
}

/** A model that fails so often before it answers. */
function failingModel(errors: unknown[]): MockLanguageModelV4 {
  const left = [...errors]
  return new MockLanguageModelV4({
    modelId: 'mock-1',
    doGenerate: async () => {
      if (left.length > 0) throw left.shift()
      return answerOf(textOf('At last.'))
    },
    doStream: async () => {
      if (left.length > 0) throw left.shift()
      return { stream: streamOfParts(partsOf(textOf('At last.'))) }
    },
  })
}

describe('a step of a durable model', () => {
  it('a step of a durable model returns bytes, dates and URLs of a durable step, without the echoed request', async () => {
    const model = new MockLanguageModelV4({
      doGenerate: async () => ({
        ...answerOf([
          { type: 'text', text: 'A cat.\u0000\ud83d' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([0, 1, 254, 255]) } },
          { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://pictures.example/cat') } },
        ]),
        providerMetadata: { mock: { $schema: 'x', constructor: 'y' } } as never,
        request: { body: 'all that was said' },
        response: { timestamp: new Date(7), modelId: 'mock-1', headers: { 'x-id': '1' }, body: 'the answer once more' },
      }),
    })
    const { seen } = await seenTwice(async (run) => durable(run, model).doGenerate(question))
    expect(model.doGenerateCalls).toHaveLength(1)
    expect(seen[1]).toEqual(seen[0])
    expect(seen[1]).toMatchObject({
      content: [
        { text: 'A cat.\u0000\ud83d' },
        { data: { data: new Uint8Array([0, 1, 254, 255]) } },
        { data: { url: new URL('https://pictures.example/cat') } },
      ],
      response: { timestamp: new Date(7), modelId: 'mock-1', headers: { 'x-id': '1' } },
    })
    expect(Object.entries(seen[1]?.providerMetadata?.['mock'] ?? {})).toEqual([
      ['$schema', 'x'],
      ['constructor', 'y'],
    ])
    expect(seen[0]).not.toHaveProperty('request')
    expect(seen[0]?.response).not.toHaveProperty('body')
  })

  it('a durable step is identified by its options: another prompt is another step, an equal one the next of its kind', async () => {
    let answers = 0
    const model = new MockLanguageModelV4({ doGenerate: async () => answerOf(textOf(`Answer ${++answers}`)) })
    const { seen } = await seenTwice(async (run) => {
      const { doGenerate } = durable(run, model)
      const asked = [
        question,
        { ...question, temperature: 1 },
        question,
        { ...question, headers: { 'x-run': `${run.number}` } },
      ]
      const given = []
      for (const each of asked) given.push((await doGenerate(each)).content)
      return given
    })
    expect(answers).toBe(4)
    expect(seen[1]).toEqual(seen[0])
    expect(seen[1]).toEqual([1, 2, 3, 4].map((n) => textOf(`Answer ${n}`)))
  })

  it('a durable step is identified by its key, n-th among equals, whatever the prompt', async () => {
    let answers = 0
    const model = new MockLanguageModelV4({ doGenerate: async () => answerOf(textOf(`Answer ${++answers}`)) })
    const ask = (key?: string) => (run: Run) =>
      generateText({
        model: durable(run, model, key === undefined ? {} : { key }),
        prompt: `In run ${run.number}?`,
      }).then(({ text }) => text)
    expect((await seenTwice(ask('chat'))).seen).toEqual(['Answer 1', 'Answer 1'])
    expect((await seenTwice(ask())).seen).toEqual(['Answer 2', 'Answer 3'])
  })

  it('a durable step that a pause interrupted calls the provider again', async () => {
    const [asked, model] = [deferred(), modelOf([textOf('Hello.')])]
    const answer = model.doGenerate
    model.doGenerate = (options) => {
      if (model.doGenerateCalls.length > 0) return answer(options)
      model.doGenerateCalls.push(options)
      asked.resolve()
      return new Promise((_resolve, reject) =>
        options.abortSignal?.addEventListener('abort', () => reject(new Error('Cut off.'))),
      )
    }
    const engine = await openEngine({
      executors: {
        chat: (_task: ExecutorTask, run: Run) =>
          generateText({ model: durable(run, model), prompt: 'Hello?' }).then(({ text }) => text),
      },
    })
    const task = await engine.create({ executor: 'chat' })
    await asked.promise
    await engine.pause(task)
    await engine.resume(task)
    expect(await engine.result(task)).toBe('Hello.')
    expect((await engine.calls(task)).map(({ status }) => status)).toEqual(['failed', 'completed'])
  })

  it('a step of a durable model rejects a durable step with RUN_ENDED when the run ends, and aborts the provider', async () => {
    const refused = deferred<unknown>()
    const { model, asked } = silentModel()
    const engine = await openEngine({
      executors: {
        chat: async (_task: ExecutorTask, run: Run) => {
          await generateText({ model: durable(run, model), prompt: 'Hello?' }).catch(refused.resolve)
        },
      },
    })
    const task = await engine.create({ executor: 'chat' })
    const signal = await asked
    await engine.cancel(task)
    expect(signal.aborted).toBe(true)
    expect(await refused.promise).toMatchObject({ code: 'RUN_ENDED' })
  })

  it('a durable step is aborted by the signal of its caller', async () => {
    const caller = new AbortController()
    const { model, asked } = silentModel()
    void asked.then(() => caller.abort())
    const retry = { maxAttempts: 3, backoffMs: 0 }
    const { seen } = await seenTwice((run) =>
      outcomeOf(() => durable(run, model, { retry }).doGenerate({ ...question, abortSignal: caller.signal })),
    )
    expect(seen.map((error) => (error as Error).name)).toEqual(['AbortError', 'AbortError'])
    expect(model.doGenerateCalls).toHaveLength(1)
  })

  it('a durable step is aborted by its time-out', async () => {
    const clock = new SimulatedClock()
    const { model, asked } = silentModel()
    const work = runOnce(
      async (run) => String(await outcomeOf(() => durable(run, model, { timeoutMs: 50 }).doGenerate(question))),
      { clock },
    )
    await asked
    clock.increment(50)
    expect((await work).result).toBe('ErrandError: Call "model mock-1" took longer than 50 ms.')
  })
})

describe('a failure of the provider of a durable model', () => {
  it('a failure of the provider of a durable model restores an error of the provider, in the first run as in a repeated one', async () => {
    const error = tooMany('Not now', { 'retry-after': '3' })
    const model = failingModel([error])
    const { seen } = await seenTwice((run) => outcomeOf(() => durable(run, model).doGenerate(question)))
    expect(seen[0]).toEqual(seen[1])
    expect(APICallError.isInstance(seen[1])).toBe(true)
    expect(String(seen[1])).toBe(String(error))
    expect(seen[1]).toMatchObject({ isRetryable: true, statusCode: 429, responseHeaders: { 'retry-after': '3' } })
    expect(seen[1]).not.toHaveProperty('requestBodyValues')
    expect(model.doGenerateCalls).toHaveLength(1)
  })

  it('a failure of the provider of a durable model lets the SDK retry in a repeated run as in the first, without calling the provider', async () => {
    for (const ask of [
      async (run: Run, model: MockLanguageModelV4) =>
        (await generateText({ model: durable(run, model), prompt: 'Hello?' })).text,
      (run: Run, model: MockLanguageModelV4) => streamText({ model: durable(run, model), prompt: 'Hello?' }).text,
    ]) {
      const model = failingModel([tooMany(), tooMany()])
      const { seen, calls } = await seenTwice(async (run) => ask(run, model))
      expect(seen).toEqual(['At last.', 'At last.'])
      expect(model.doGenerateCalls.length + model.doStreamCalls.length).toBe(3)
      expect(calls).toBe(3)
    }
  })

  it('a failure of the provider leads a repeated run to the same fallback model', async () => {
    const [broken, spare] = [failingModel([tooMany()]), modelOf([textOf('I can.')])]
    const { seen } = await seenTwice(async (run) => {
      const ask = (model: MockLanguageModelV4) =>
        generateText({ model: durable(run, model), prompt: 'Who can?', maxRetries: 0 })
      return (await ask(broken).catch(() => ask(spare))).text
    })
    expect(seen).toEqual(['I can.', 'I can.'])
    expect(broken.doGenerateCalls).toHaveLength(1)
    expect(spare.doGenerateCalls).toHaveLength(1)
  })

  it('a durable step whose provider failed calls it again in a new attempt', async () => {
    const model = failingModel([tooMany()])
    const engine = await openEngine({
      executors: {
        chat: async (_task: ExecutorTask, run: Run) =>
          (await generateText({ model: durable(run, model), prompt: 'Hello?', maxRetries: 0 })).text,
      },
    })
    const task = await engine.create({ executor: 'chat', retry: { maxAttempts: 2, backoffMs: 0 } })
    expect(await engine.result(task)).toBe('At last.')
    expect(model.doGenerateCalls).toHaveLength(2)
  })

  it('a failure of the provider of a durable model retries a durable step inside one entry, unless the provider says that it is of no use', async () => {
    const retry = { maxAttempts: 3, backoffMs: 0 }
    const model = failingModel([tooMany(), new Error('The line went dead.')])
    const { engine, task, result } = await runOnce(
      async (run) => (await durable(run, model, { retry }).doGenerate(question)).content,
    )
    expect(result).toEqual(textOf('At last.'))
    expect(await engine.calls(task)).toHaveLength(1)
    expect(model.doGenerateCalls).toHaveLength(3)

    const denied = new APICallError({ message: 'Denied', url: '', requestBodyValues: {}, statusCode: 401 })
    const strict = failingModel([denied])
    const { seen } = await seenTwice((run) => outcomeOf(() => durable(run, strict, { retry }).doStream(question)))
    expect(seen[0]).toEqual(seen[1])
    expect(seen[1]).toMatchObject({ statusCode: 401, isRetryable: false })
    expect(strict.doStreamCalls).toHaveLength(1)
  })

  it.each<Record<string, string>>([
    { 'retry-after': '7' },
    { 'Retry-After-Ms': '7000' },
    { 'retry-after': 'Sun, 29 Nov 2026 10:00:07 GMT', date: 'Sun, 29 Nov 2026 10:00:00 GMT' },
  ])(
    'a failure of the provider of a durable model waits for the retry-after of the provider before it retries a durable step: %o',
    async (headers) => {
      const clock = new SimulatedClock()
      const model = failingModel([tooMany('Later', headers)])
      const work = runOnce(
        (run) =>
          durable(run, model, { retry: { maxAttempts: 2, backoffMs: 1 } })
            .doGenerate(question)
            .then(({ content }) => content) as Promise<unknown>,
        { clock },
      )
      while (model.doGenerateCalls.length === 0) await turns(1)
      await turns()
      clock.increment(6_999)
      await turns()
      expect(model.doGenerateCalls).toHaveLength(1)
      clock.increment(1)
      expect((await work).result).toEqual(textOf('At last.'))
    },
  )

  it('a failure of the provider of a durable model counts a step that finished with an error as failed: this attempt gets it, a new one calls again', async () => {
    let asked = 0
    const model = new MockLanguageModelV4({
      doGenerate: async () => ({
        ...answerOf(textOf(`Answer ${++asked}`)),
        finishReason: { unified: 'error', raw: 'oops' },
      }),
    })
    const engine = await openEngine({
      executors: {
        chat: async (_task: ExecutorTask, run: Run) => {
          const { text, finishReason } = await generateText({ model: durable(run, model), prompt: 'Hello?' })
          if (run.attempt === 1) throw new Error(`It said ${text}`)
          return { text, finishReason }
        },
      },
    })
    const task = await engine.create({ executor: 'chat', retry: { maxAttempts: 2, backoffMs: 0 } })
    expect(await engine.result(task)).toEqual({ text: 'Answer 2', finishReason: 'error' })
    expect((await engine.calls(task)).map(({ status }) => status)).toEqual(['failed', 'failed'])
  })

  it('a failure of the provider of a durable model counts an empty answer of the provider as a failed step', async () => {
    const model = new MockLanguageModelV4({
      doGenerate: async () => undefined as never,
      doStream: async () => ({}) as never,
    })
    const { engine, task, result } = await runOnce(async (run) => [
      ((await outcomeOf(() => durable(run, model).doGenerate(question))) as { code: string }).code,
      ((await outcomeOf(() => durable(run, model).doStream(question))) as { code: string }).code,
    ])
    expect(result).toEqual(['INVALID_INPUT', 'INVALID_INPUT'])
    expect((await engine.calls(task)).map(({ status }) => status)).toEqual(['failed', 'failed'])
  })
})
