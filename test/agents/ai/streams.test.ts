// A streamed step: it is streamed live, recorded once and whole, and nothing acts on it before that.
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { isStepCount, streamText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { durable } from '../../../src/agents/ai/durable.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import { SimulatedClock } from '../../../src/testing/simulated-clock.ts'
import { collect, deferred, openEngine, turns } from '../../engine/world.ts'
import {
  callOf,
  modelOf,
  notingTool,
  outcomeOf,
  partsOf,
  question,
  runOnce,
  seenTwice,
  streamOfParts,
  textOf,
} from './world.ts'

const parts = partsOf([{ type: 'text', text: 'One two three' }, callOf('call-1', 'weather', { city: 'Oslo' })])

const streaming = (chunks: LanguageModelV4StreamPart[]) =>
  new MockLanguageModelV4({ doStream: async () => ({ stream: streamOfParts(chunks) }) })

/** A model whose stream is controlled by the test. */
function heldModel() {
  const begun = deferred<ReadableStreamDefaultController<LanguageModelV4StreamPart>>()
  const stopped = deferred()
  const model = new MockLanguageModelV4({
    doStream: async () => ({
      stream: new ReadableStream({ start: (controller) => begun.resolve(controller), cancel: () => stopped.resolve() }),
    }),
  })
  return { model, begun: begun.promise, stopped: stopped.promise }
}

async function readAll(stream: ReadableStream<LanguageModelV4StreamPart>) {
  const seen: LanguageModelV4StreamPart[] = []
  try {
    for await (const part of stream) seen.push(part)
    return { seen, error: undefined }
  } catch (error) {
    return { seen, error }
  }
}

describe('a streamed step of a durable model', () => {
  it('a streamed step of a durable model streams text as it arrives, and tool calls and the end after the step is recorded', async () => {
    const { model, begun } = heldModel()
    const [words, seen] = [deferred(), [] as string[]]
    const engine = await openEngine({
      executors: {
        chat: async (task: ExecutorTask, run: Run) => {
          const { stream } = await durable(run, model).doStream(question)
          for await (const { type } of stream) {
            seen.push(`${type}: ${(await engine.calls(task.id))[0]?.status}`)
            if (type === 'text-end') words.resolve()
          }
        },
      },
    })
    const task = await engine.create({ executor: 'chat' })
    const source = await begun
    for (const part of parts) source.enqueue(part)
    await words.promise
    await turns()
    expect(seen.at(-1)).toBe('text-end: in_progress')
    source.close()
    await engine.settled(task)
    expect(seen.slice(-3)).toEqual(['text-end: in_progress', 'tool-call: completed', 'finish: completed'])
  })

  it('a streamed step of a durable model runs no tool for a streamed step that a pause interrupted', async () => {
    const { model, begun } = heldModel()
    const noted: string[] = []
    const spare = modelOf([[callOf('call-9', 'weather', { city: 'Rome' })], textOf('Sunny.')])
    const engine = await openEngine({
      abortGraceMs: 10,
      executors: {
        chat: async (_task: ExecutorTask, run: Run) => {
          const { text } = streamText({
            model: durable(run, run.number === 1 ? model : spare, { key: 'chat' }),
            tools: durable(run, { weather: notingTool(noted) }),
            stopWhen: isStepCount(3),
            prompt: 'Where is the sun?',
            onError: () => {},
          })
          return text
        },
      },
    })
    const task = await engine.create({ executor: 'chat' })
    const source = await begun
    for (const part of parts) source.enqueue(part)
    await turns()
    await engine.pause(task)
    await engine.resume(task)
    expect(await engine.result(task)).toBe('Sunny.')
    expect(noted).toEqual(['Rome'])
  })

  it('a streamed step of a durable model replays a streamed step with the same text, in larger pieces', async () => {
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: streamOfParts([{ type: 'ping' }, ...parts]),
        response: { headers: { 'x-id': '1' } },
      }),
    })
    const { seen } = await seenTwice(async (run) => {
      const { stream, response } = await durable(run, model).doStream(question)
      return { response, parts: await collect(stream) }
    })
    expect(model.doStreamCalls).toHaveLength(1)
    expect(seen[0]?.parts.filter(({ type }) => type === 'text-delta')).toHaveLength(3)
    expect(seen[1]?.parts).toEqual([
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: 'part-0' },
      { type: 'text-delta', id: 'part-0', delta: 'One two three' },
      { type: 'text-end', id: 'part-0' },
      ...parts.slice(-2),
    ])
    expect(seen.map((each) => each.response)).toEqual([{ headers: { 'x-id': '1' } }, { headers: { 'x-id': '1' } }])
  })

  it('a streamed step of a durable model keeps a character whole that the provider split into two pieces', async () => {
    const pieces = ['A \ud83d', '\ude00!'].map((delta) => ({ type: 'text-delta' as const, id: 't', delta }))
    const model = streaming([...pieces, ...partsOf([])])
    const { seen } = await seenTwice(async (run) => collect((await durable(run, model).doStream(question)).stream))
    expect(seen[1]?.[0]).toEqual({ type: 'text-delta', id: 't', delta: 'A \u{1f600}!' })
  })

  it('a streamed step that broke breaks again in a repeated run, with the same error', async () => {
    const { model, begun } = heldModel()
    const feed = begun.then(async (source) => {
      for (const part of parts.slice(0, 3)) source.enqueue(part)
      await turns()
      source.error(new TypeError('The line went dead.'))
    })
    const { seen } = await seenTwice(async (run) =>
      readAll((await durable(run, model, { retry: { maxAttempts: 3, backoffMs: 0 } }).doStream(question)).stream),
    )
    await feed
    expect(model.doStreamCalls).toHaveLength(1)
    expect(seen[0]?.seen).toEqual(parts.slice(0, 3))
    expect(seen.map(({ error }) => String(error))).toEqual(Array(2).fill('TypeError: The line went dead.'))
  })

  it('a stream with an error, or without its finish, is recorded as a failed call that a repeated run gets unchanged', async () => {
    const failing: LanguageModelV4StreamPart[][] = [
      [{ type: 'error', error: new RangeError('Overloaded.') }, ...parts.slice(-1)],
      [...parts.slice(0, 1), { type: 'error', error: { status: 500 } }],
      [{ type: 'stream-start', warnings: [] }],
    ]
    for (const chunks of failing) {
      const model = streaming(chunks)
      const { seen } = await seenTwice(async (run) => readAll((await durable(run, model).doStream(question)).stream))
      expect(model.doStreamCalls).toHaveLength(1)
      expect(seen[0]).toEqual({ seen: chunks, error: undefined })
      expect(seen[1]).toEqual(seen[0])
    }
    const { engine, task } = await runOnce(async (run) => {
      for (const chunks of failing) await readAll((await durable(run, streaming(chunks)).doStream(question)).stream)
    })
    expect((await engine.calls(task)).map(({ status, error }) => [status, error?.message])).toEqual([
      ['failed', 'Overloaded.'],
      ['failed', '[object Object]'],
      ['failed', 'The stream of the model ended before its step was finished.'],
    ])
  })

  it('a streamed step of a durable model reads a streamed step to its end and records it when its reader cancels', async () => {
    const { model, begun } = heldModel()
    const [released, recorded] = [deferred(), deferred()]
    const { seen } = await seenTwice(
      async (run) => {
        const { stream } = await durable(run, model).doStream(question)
        if (run.number > 1) return (await collect(stream)).length
        await stream.cancel()
        released.resolve()
        await recorded.promise
        return 0
      },
      async (engine, task) => {
        const source = await begun
        await released.promise
        for (const part of parts) source.enqueue(part)
        source.close()
        for await (const event of engine.events({ taskId: task.id })) if (event.type === 'call.completed') break
        recorded.resolve()
      },
    )
    expect(model.doStreamCalls).toHaveLength(1)
    expect(seen).toEqual([0, 6])
  })

  it('a streamed step of a durable model stops a streamed step by its caller and by its time-out, which is not retried', async () => {
    const clock = new SimulatedClock()
    const [byCaller, byTime] = [heldModel(), heldModel()]
    const caller = new AbortController()
    const work = runOnce(
      async (run) => {
        const aborted = await durable(run, byCaller.model).doStream({ ...question, abortSignal: caller.signal })
        caller.abort()
        const timed = await durable(run, byTime.model, {
          timeoutMs: 50,
          retry: { maxAttempts: 3, backoffMs: 0 },
        }).doStream(question)
        return [(await readAll(aborted.stream)).error, (await readAll(timed.stream)).error].map((error) =>
          String((error as Error).name),
        )
      },
      { clock },
    )
    await byCaller.stopped
    await byTime.begun
    await turns()
    clock.increment(50)
    expect((await work).result).toEqual(['AbortError', expect.any(String)])
    await byTime.stopped
    expect(byTime.model.doStreamCalls).toHaveLength(1)
  })

  it('a streamed step of a durable model rejects when a stream cannot be opened, as the provider does', async () => {
    const model = new MockLanguageModelV4({ doStream: () => Promise.reject(new Error('No line.')) })
    const { seen } = await seenTwice((run) => outcomeOf(() => durable(run, model).doStream(question)))
    expect(seen.map(String)).toEqual(['Error: No line.', 'Error: No line.'])
  })
})
