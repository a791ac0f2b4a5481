// errand/otel: which spans an engine makes, what they contain, and which it does not make.
import { type Tracer, trace } from '@opentelemetry/api'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { defineAbility } from '../../src/index.ts'
import { type OtelOptions, otel } from '../../src/otel/otel.ts'
import { deferred, ledgerFile, openEngine, reached } from '../engine/world.ts'
import { followAsyncCode, providerTo, type SeenSpan } from './spans.ts'

let stopFollowing: () => void
beforeAll(() => {
  stopFollowing = followAsyncCode()
})
afterAll(() => stopFollowing())

function tracing(options: OtelOptions = {}) {
  const spans: SeenSpan[] = []
  const tracerProvider = providerTo((span) => spans.push(span))
  return {
    spans,
    telemetry: otel({ tracerProvider, ...options }),
    tracer: tracerProvider.getTracer('test') as Tracer,
    named: (name: string) => spans.filter((span) => span.name === name),
  }
}

const secret = 'hunter2'

it('a run is a span in a trace of its own, and a call a span below it', async () => {
  const { spans, telemetry } = tracing()
  const executors = { work: async (_task: ExecutorTask, run: Run) => run.call('fetch', { url: secret }, () => secret) }
  const engine = await openEngine({ telemetry, executors })
  const task = await engine.create({ name: secret, executor: 'work', input: secret })
  await engine.result(task)
  const [call] = await engine.calls(task)
  const run = spans.find(({ name }) => name === 'invoke_agent work')
  expect(spans).toEqual([
    {
      name: 'execute_tool fetch',
      kind: 0,
      traceId: run?.traceId,
      id: expect.any(String) as string,
      parentId: run?.id,
      links: [],
      events: [],
      status: { code: 0 },
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'fetch',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': call?.id,
        'errand.call.id': call?.id,
      },
    },
    {
      name: 'invoke_agent work',
      kind: 0,
      traceId: expect.any(String) as string,
      id: expect.any(String) as string,
      parentId: undefined,
      links: [],
      events: [],
      status: { code: 0 },
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'work',
        'gen_ai.conversation.id': task.id,
        'errand.task.id': task.id,
        'errand.attempt': 1,
        'errand.run': 1,
        'errand.run.outcome': 'returned',
      },
    },
  ])
})

it('each attempt is a span with its error code, without its message, and a repeated attempt makes no span of a call that it replays', async () => {
  const { named, spans, telemetry } = tracing()
  const executors = {
    work: async (_task: ExecutorTask, run: Run) => {
      await run.call('once', () => 1)
      if (run.attempt === 1) {
        await run.call('broken', () => {
          throw new TypeError(secret)
        })
      }
      return 1
    },
  }
  const engine = await openEngine({ telemetry, executors })
  const task = await engine.create({ name: 'x', executor: 'work', retry: { maxAttempts: 2 } })
  await engine.result(task)
  expect(named('execute_tool once')).toHaveLength(1)
  const [broken] = named('execute_tool broken')
  expect(broken).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': expect.any(String) as string } })
  const runs = named('invoke_agent work')
  expect(runs.map(({ attributes, status }) => [attributes['errand.run.outcome'], status.code])).toEqual([
    ['threw', 2],
    ['returned', 0],
  ])
  expect(new Set(runs.map(({ traceId }) => traceId)).size).toBe(2)
  expect(JSON.stringify(spans)).not.toContain(secret)
})

it('a run that waits ends its span as suspended, with an event for the wait, and the next run is another span', async () => {
  const { spans, named, telemetry } = tracing()
  const executors = {
    work: async (_task: ExecutorTask, run: Run) => {
      await run.call('before', () => 1)
      const answer = (await run.ask('Well?')) as string
      await run.call('after', () => answer)
      await run.sleep(1)
    },
  }
  const engine = await openEngine({ telemetry, executors })
  const asked = deferred()
  engine.subscribe('question.asked', () => asked.resolve())
  const task = await engine.create({ name: 'x', executor: 'work' })
  await asked.promise
  await engine.answer(task, 'yes')
  await engine.result(task)
  const runs = named('invoke_agent work')
  expect(runs[0]).toMatchObject({ events: ['errand.ask'], attributes: { 'errand.run.outcome': 'suspended' } })
  expect(runs.at(-1)?.attributes['errand.run.outcome']).toBe('returned')
  expect(new Set(runs.map(({ attributes }) => attributes['errand.run'])).size).toBe(runs.length)
  // Whether the sleep ends in the run or wakes another one, it began once.
  expect(runs.slice(1).flatMap(({ events }) => events)).toEqual(['errand.sleep'])
  const calls = spans.filter(({ name }) => name.startsWith('execute_tool'))
  expect(calls.map(({ name, parentId }) => [name, parentId])).toEqual([
    ['execute_tool before', runs[0]?.id],
    ['execute_tool after', runs[1]?.id],
  ])
})

it('a run that is canceled or paused ends its span once, and an executor that ignores its signal too', async () => {
  const { named, telemetry } = tracing()
  const started = deferred()
  const go = deferred()
  const executors = {
    stubborn: async () => {
      started.resolve()
      await go.promise
    },
  }
  const engine = await openEngine({ telemetry, executors, abortGraceMs: 1 })
  const closed = deferred()
  engine.subscribe('run.closed', () => closed.resolve())
  const task = await engine.create({ name: 'x', executor: 'stubborn' })
  await started.promise
  await engine.cancel(task)
  await closed.promise
  go.resolve()
  await engine.close()
  expect(named('invoke_agent stubborn').map(({ attributes }) => attributes['errand.run.outcome'])).toEqual(['ended'])
})

it('the active context follows into calls, so that spans of the program and nested calls are below theirs', async () => {
  const { named, telemetry, tracer } = tracing()
  const executors = {
    work: async (_task: ExecutorTask, run: Run) => {
      await run.call('outer', async () => {
        tracer.startSpan('GET example.org').end()
        await run.call('inner', () => 1)
      })
      await tracer.startActiveSpan('own', async (own) => {
        await run.call('within own', () => 1)
        own.end()
      })
    },
  }
  const engine = await openEngine({ telemetry, executors })
  await engine.result(await engine.create({ name: 'x', executor: 'work' }))
  const [run] = named('invoke_agent work')
  const [outer] = named('execute_tool outer')
  expect(outer?.parentId).toBe(run?.id)
  expect(named('GET example.org')[0]?.parentId).toBe(outer?.id)
  expect(named('execute_tool inner')[0]?.parentId).toBe(outer?.id)
  expect(named('own')[0]?.parentId).toBe(run?.id)
  expect(named('execute_tool within own')[0]?.parentId).toBe(named('own')[0]?.id)
})

it('a run is linked to the span that created its task, which may be a run of another task, and names the root of its tree', async () => {
  const { named, telemetry, tracer } = tracing()
  const executors = {
    parent: async (_task: ExecutorTask, run: Run) => run.wait(await run.spawn({ executor: 'child' })),
    child: async () => 1,
  }
  const engine = await openEngine({ telemetry, executors })
  const task = await tracer.startActiveSpan('request', async (request) => {
    const created = await engine.create({ name: 'x', executor: 'parent' })
    request.end()
    return created
  })
  await engine.result(task)
  const [request] = named('request')
  const [first] = named('invoke_agent parent')
  const [child] = named('invoke_agent child')
  expect(first).toMatchObject({ parentId: undefined, links: [request?.id] })
  expect(first?.traceId).not.toBe(request?.traceId)
  expect(child).toMatchObject({ links: [first?.id], attributes: { 'gen_ai.conversation.id': task.id } })
})

it('a later run, which has another span, finds the children that an earlier one has spawned', async () => {
  const { telemetry } = tracing()
  const executors = {
    child: () => 1,
    parent: async (_task: ExecutorTask, run: Run) => {
      const child = await run.spawn({ executor: 'child' })
      await run.waitForSignal('on')
      return run.wait(child)
    },
  }
  const engine = await openEngine({ telemetry, executors })
  const task = await engine.create({ executor: 'parent' })
  await reached(engine, task, 'waiting')
  await engine.signal(task, 'on')
  expect(await engine.result(task)).toBe(1)
  expect((await engine.get(task))?.run).toBe(2)
})

it('an agent makes spans for its steps and its tools, with models and tokens', async () => {
  const { named, telemetry, spans } = tracing()
  const model = createScriptedModel([
    { tools: [{ name: 'weather_now', input: { city: secret } }], usage: { inputTokens: 7, outputTokens: 3 } },
    { text: secret, usage: { inputTokens: 20, outputTokens: 1 } },
  ])
  const weather = defineAbility({
    id: 'weather:now',
    description: 'Says how the weather is.',
    access: 'read',
    input: z.object({ city: z.string() }),
    output: z.object({ text: z.string() }),
    handle: () => ({ text: secret }),
  })
  const engine = await openEngine({
    telemetry,
    abilities: [weather],
    executors: { forecaster: agent({ model, abilities: ['weather:now'] }) },
  })
  await engine.result(await engine.create({ goal: secret, executor: 'forecaster' }))
  const [run] = named('invoke_agent forecaster')
  const steps = spans.filter(({ name }) => name.startsWith('chat'))
  expect(steps).toHaveLength(2)
  for (const step of steps) {
    expect(step).toMatchObject({ kind: 2, parentId: run?.id, name: 'chat script' })
    expect(step.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'errand-script',
      'gen_ai.request.model': 'script',
      'gen_ai.response.model': 'script',
    })
  }
  expect(steps.map(({ attributes }) => attributes['gen_ai.response.finish_reasons'])).toEqual([
    ['tool-calls'],
    ['stop'],
  ])
  expect(
    steps.map(({ attributes: of }) => [of['gen_ai.usage.input_tokens'], of['gen_ai.usage.output_tokens']]),
  ).toEqual([
    [7, 3],
    [20, 1],
  ])
  expect(named('execute_tool weather:now')).toMatchObject([{ parentId: run?.id }])
  expect(JSON.stringify(spans)).not.toContain(secret)
})

it('a step of a model that fails is a span with its code, and each try one of its own', async () => {
  const { spans, telemetry } = tracing()
  let tries = 0
  const model = createScriptedModel(() => {
    if (++tries === 1) throw new Error(secret)
    return { text: 'done' }
  })
  const engine = await openEngine({ telemetry, model, modelRetry: { backoffMs: 1, on: ['*'] as never } })
  const task = await engine.create({ goal: 'x', retry: { maxAttempts: 2 } })
  await engine.settled(task)
  const steps = spans.filter(({ name }) => name.startsWith('chat'))
  expect(steps.map(({ status }) => status.code)).toContain(2)
  expect(JSON.stringify(spans)).not.toContain(secret)
})

it('with `content`, spans contain what the ledger stores, redacted as there', async () => {
  const { named, telemetry } = tracing({ content: true })
  const redact = (value: unknown) => (typeof value === 'string' ? value.replaceAll(secret, '[hidden]') : value)
  const executors = {
    work: async (_task: ExecutorTask, run: Run) => run.call('fetch', { key: secret }, () => ({ got: secret })),
  }
  const model = createScriptedModel([{ text: `the word is ${secret}` }])
  const engine = await openEngine({ telemetry, executors, redact, model })
  await engine.result(await engine.create({ name: 'x', executor: 'work', input: { word: secret } }))
  await engine.result(await engine.create({ goal: `say ${secret}` }))
  expect(named('execute_tool fetch')[0]?.attributes).toMatchObject({
    'gen_ai.tool.call.arguments': '{"key":"[hidden]"}',
    'gen_ai.tool.call.result': '{"got":"[hidden]"}',
  })
  const [run] = named('invoke_agent work')
  expect(run?.attributes['gen_ai.input.messages']).toContain('[hidden]')
  expect(run?.attributes['gen_ai.output.messages']).toContain('[hidden]')
  const [step] = named('chat script')
  expect(step?.attributes['gen_ai.input.messages']).toContain('say [hidden]')
  expect(step?.attributes['gen_ai.output.messages']).toContain('the word is [hidden]')
})

it('an engine that continues after another one makes no span of the calls that had ended', async () => {
  const { named, telemetry } = tracing()
  const ledger = ledgerFile()
  const inside = deferred()
  const hold = deferred()
  const executors = {
    work: async (_task: ExecutorTask, run: Run) => {
      await run.call('ended', () => 1)
      return run.call(
        'held',
        async () => {
          inside.resolve()
          await hold.promise
          return 1
        },
        { onInterrupt: 'rerun' },
      )
    },
  }
  const first = await createEngine({ ledger, telemetry, executors, shutdownTimeoutMs: 1, abortGraceMs: 1 })
  const task = await first.create({ name: 'x', executor: 'work' })
  await inside.promise
  await first.close()
  hold.resolve()
  const second = await openEngine({ ledger, telemetry, executors })
  await second.result(task.id)
  expect(named('execute_tool ended')).toHaveLength(1)
  expect(named('invoke_agent work').map(({ attributes }) => attributes['errand.run'])).toEqual([1, 2])
})

it('an SDK that fails changes nothing for the task', async () => {
  const tracerProvider = {
    getTracer: () => {
      throw new Error('no tracer')
    },
  }
  const errors: unknown[] = []
  const engine = await createEngine({
    telemetry: otel({ tracerProvider }),
    executors: { work: async (_task: ExecutorTask, run: Run) => run.call('a', () => 1) },
    onError: (error) => errors.push(error),
  })
  onTestFinished(() => engine.close())
  expect(await engine.result(await engine.create({ name: 'x', executor: 'work' }))).toBe(1)
  expect(errors).toHaveLength(1)
  const failing = providerTo(() => {
    throw new Error('the processor failed')
  })
  const other = await openEngine({
    telemetry: otel({ tracerProvider: failing }),
    executors: { work: async (_task: ExecutorTask, run: Run) => run.call('a', () => 2) },
  })
  expect(await other.result(await other.create({ name: 'x', executor: 'work' }))).toBe(2)
})

it('without a registered SDK nothing is recorded, and the options are checked', async () => {
  expect(trace.getTracerProvider().getTracer('x').startSpan('x').isRecording()).toBe(false)
  const engine = await openEngine({ telemetry: otel(), executors: { work: async () => 1 } })
  expect(await engine.result(await engine.create({ name: 'x', executor: 'work' }))).toBe(1)
  expect(() => otel({ contents: true } as never)).toThrow(/content/)
  expect(() => otel({ tracerProvider: {} as never })).toThrow(/tracer provider/)
  await expect(createEngine({ telemetry: {} as never })).rejects.toThrow(/errand\/otel/)
})
