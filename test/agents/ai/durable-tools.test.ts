// Durable tools by themselves: what they receive, what is recorded of them, and what a crash in the middle of one
// means.
import { isStepCount, streamText, type ToolSet, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { durable } from '../../../src/agents/ai/durable.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import { collect, deferred, openEngine, reached, refusalOf } from '../../engine/world.ts'
import { callOf, modelOf, outcomeOf, runOnce, seenTwice, textOf } from './world.ts'

const given = (toolCallId: string, more: object = {}) => ({ toolCallId, messages: [], context: {}, ...more }) as never

const anything = z.object({}).loose()
const acting = (execute: (...args: any[]) => any) => tool({ inputSchema: anything, execute }) as any

/** Executes one tool through the journal. */
const executed = (run: Run, execute: (...args: any[]) => any, id = 'call-1', options = {}) =>
  durable(run, { act: acting(execute) }, options).act.execute({ n: 1 }, given(id))

describe('a durable tool', () => {
  it('a durable tool receives all options of the SDK, with a signal that also aborts with the run', async () => {
    const caller = new AbortController()
    const messages = [{ role: 'user', content: 'Hello?' }]
    const started = deferred<[unknown, { abortSignal: AbortSignal }]>()
    const engine = await openEngine({
      executors: {
        once: (_task: ExecutorTask, run: Run) => {
          const act = acting((input, options) => {
            started.resolve([input, options])
            return new Promise((_resolve, reject) =>
              options.abortSignal.addEventListener('abort', () => reject(new Error('Stopped.'))),
            )
          })
          return durable(run, { act }).act.execute(
            { city: 'Oslo' },
            given('call-1', { messages, context: { who: 'Ada' }, abortSignal: caller.signal }),
          )
        },
      },
    })
    const task = await engine.create({ executor: 'once' })
    const [input, options] = await started.promise
    expect(input).toEqual({ city: 'Oslo' })
    expect(options).toMatchObject({ toolCallId: 'call-1', messages, context: { who: 'Ada' } })
    expect(options.abortSignal.aborted).toBe(false)
    await engine.cancel(task)
    expect(options.abortSignal.aborted).toBe(true)
  })

  it('a durable tool is aborted by the signal of its caller', async () => {
    const caller = new AbortController()
    const { result } = await runOnce((run) =>
      outcomeOf(() =>
        durable(run, {
          act: acting((_input, { abortSignal }) => {
            caller.abort()
            return String(abortSignal.aborted)
          }),
        }).act.execute({}, given('call-1', { abortSignal: caller.signal })),
      ),
    )
    expect(result).toBe('true')
  })

  it('a call of a durable tool is identified by its id: equal inputs are two calls, in any order', async () => {
    let executions = 0
    const { seen, calls } = await seenTwice(async (run) => {
      const found: Record<string, unknown> = {}
      for (const id of run.number === 1 ? ['call-1', 'call-2'] : ['call-2', 'call-1']) {
        found[id] = await executed(run, () => ++executions, id)
      }
      return found
    })
    expect(seen).toEqual(Array(2).fill({ 'call-1': 1, 'call-2': 2 }))
    expect([executions, calls]).toEqual([2, 2])
  })

  it('a durable tool returns values that JSON cannot represent', async () => {
    const value = {
      at: new Date(5),
      bytes: new Uint8Array([7]),
      big: 10n ** 20n,
      far: Number.POSITIVE_INFINITY,
      none: [undefined],
    }
    const { seen } = await seenTwice(async (run) => [
      await executed(run, () => value, 'call-1'),
      await executed(run, () => undefined, 'call-2'),
    ])
    expect(seen).toEqual([
      [value, undefined],
      [value, undefined],
    ])
  })

  it('a durable tool whose result cannot be stored is recorded as completed, and not executed again', async () => {
    const endless: { self?: unknown } = {}
    endless.self = endless
    let executions = 0
    const { seen } = await seenTwice((run) =>
      outcomeOf(() =>
        executed(run, () => ++executions && endless, 'call-1', { retry: { maxAttempts: 3, backoffMs: 0 } }),
      ),
    )
    expect(seen.map((error) => (error as { code: string }).code)).toEqual(['INVALID_RESULT', 'INVALID_RESULT'])
    expect(executions).toBe(1)
  })

  it('a durable tool throws its recorded error in a repeated run, with the same text, whatever was thrown', async () => {
    class PaymentError extends Error {
      override readonly name = 'PaymentError'
      readonly socket = { token: 'secret', self: this }
    }
    for (const thrown of [
      new PaymentError('Declined.'),
      new TypeError(''),
      'a text',
      { reason: 'an object' },
      undefined,
    ]) {
      const { seen } = await seenTwice((run) =>
        outcomeOf(() =>
          executed(run, () => {
            throw thrown
          }),
        ),
      )
      expect(seen[0]).toEqual(seen[1])
      expect(thrown instanceof Error ? String(seen[1]) : seen[1]).toEqual(
        thrown instanceof Error ? String(thrown) : thrown,
      )
      expect(JSON.stringify(seen[1]) ?? '').not.toContain('secret')
    }
  })

  it('retries a durable tool as its options say', async () => {
    let executions = 0
    const { result } = await runOnce((run) =>
      executed(
        run,
        () => {
          executions++
          if (executions < 3) throw new Error('Busy.')
          return 'done'
        },
        'call-1',
        { perTool: { act: { retry: { maxAttempts: 3, backoffMs: 0 } } } },
      ),
    )
    expect([result, executions]).toEqual(['done', 3])
  })

  it('a durable tool that was interrupted is repeated, fails, or asks a person, by its onInterrupt', async () => {
    for (const [onInterrupt, expected] of [
      ['rerun', 'done'],
      ['fail', 'CALL_INTERRUPTED'],
      ['ask', 'done'],
    ] as const) {
      const started = deferred()
      let executions = 0
      const act = acting(() => {
        if (++executions > 1) return 'done'
        started.resolve()
        return new Promise(() => {})
      })
      const engine = await openEngine({
        abortGraceMs: 10,
        executors: {
          once: async (_task: ExecutorTask, run: Run) => {
            const tools = durable(run, { act, other: act }, { onInterrupt: 'fail', perTool: { act: { onInterrupt } } })
            try {
              return await tools.act.execute({}, given('call-1'))
            } catch (error) {
              return (error as { code: string }).code
            }
          },
        },
      })
      const task = await engine.create({ executor: 'once' })
      await started.promise
      await engine.pause(task)
      await engine.resume(task)
      if (onInterrupt === 'ask') {
        await reached(engine, task, 'input_required')
        await engine.answer(task, 'rerun')
      }
      expect(await engine.result(task)).toBe(expected)
      expect(executions).toBe(expected === 'done' ? 2 : 1)
    }
  })

  it('a durable tool streams its values as they come; the last one is its result', async () => {
    let executions = 0
    const steps = async function* () {
      executions++
      yield 'a third'
      yield 'two thirds'
      yield 'all'
    }
    const { seen } = await seenTwice(async (run) => collect(await executed(run, steps)))
    expect(seen).toEqual([['a third', 'two thirds', 'all'], ['all']])
    expect(executions).toBe(1)

    const { result } = await runOnce((run) => executed(run, () => steps()))
    expect(result).toBe('all')
    const { seen: none } = await seenTwice(async (run) => collect(await executed(run, async function* () {})))
    expect(none).toEqual([[undefined], [undefined]])
    const broken = async function* () {
      yield 'a third'
      throw new Error('It broke.')
    }
    const { seen: failed } = await seenTwice((run) => outcomeOf(async () => collect(await executed(run, broken))))
    expect(failed.map(String)).toEqual(['Error: It broke.', 'Error: It broke.'])
  })

  it('a durable tool yields its values in a streamed loop, and only its result in a repeated one', async () => {
    const model = modelOf([[callOf('call-1', 'count', {})], textOf('Counted.')])
    const count = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 1
        yield 2
      },
    })
    const { seen } = await seenTwice(async (run) => {
      const { stream } = streamText({
        model: durable(run, model),
        tools: durable(run, { count }),
        prompt: 'Count.',
        stopWhen: isStepCount(3),
      })
      const results = (await collect(stream)).filter((part) => part.type === 'tool-result')
      return results.map(({ output, preliminary }) => [output, preliminary ?? false])
    })
    expect(seen).toEqual([
      [
        [1, true],
        [2, true],
        [2, false],
      ],
      [
        [2, true],
        [2, false],
      ],
    ])
  })

  it('a durable tool keeps all other properties of a tool, and a tool without execute unchanged', async () => {
    class Prefixed {
      readonly inputSchema = anything
      readonly description = 'Says it with a prefix.'
      prefix = 'so: '
      execute(input: { text: string }) {
        return this.prefix + input.text
      }
      needsApproval = true
    }
    const asked: ToolSet[string] = tool({ inputSchema: anything, outputSchema: z.string() })
    const prefixed = new Prefixed()
    const { result } = await runOnce(async (run) => {
      const tools = durable(run, { prefixed, asked })
      expect(Object.keys(tools)).toEqual(['prefixed', 'asked'])
      expect(tools.asked).toBe(asked)
      expect(tools.prefixed).toBeInstanceOf(Prefixed)
      expect(tools.prefixed).toMatchObject({ description: 'Says it with a prefix.', needsApproval: true })
      return (tools.prefixed.execute as (...args: unknown[]) => unknown)({ text: 'yes' }, given('call-1'))
    })
    expect(result).toBe('so: yes')
  })

  it('a durable tool continues a loop with the answer when a tool that asks a person is left out', async () => {
    const model = modelOf([[callOf('call-1', 'approve', {}), callOf('call-2', 'pay', { sum: 5 })], textOf('Paid.')])
    let payments = 0
    const chat = async (_task: ExecutorTask, run: Run) => {
      const approve = tool({ inputSchema: z.object({}), execute: () => run.ask<boolean>('May I pay?') })
      const pay = tool({ inputSchema: z.object({ sum: z.number() }), execute: async () => ++payments })
      const result = streamText({
        model: durable(run, model),
        tools: { approve, ...durable(run, { pay }) },
        prompt: 'Pay.',
        stopWhen: isStepCount(3),
        onError: () => {},
      })
      return result.text
    }
    const engine = await openEngine({ executors: { chat } })
    const task = await engine.create({ executor: 'chat' })
    await reached(engine, task, 'input_required')
    await engine.answer(task, true)
    expect(await engine.result(task)).toBe('Paid.')
    expect([payments, model.doStreamCalls.length]).toEqual([1, 2])
    expect(JSON.stringify(model.doStreamCalls.at(-1)?.prompt)).toContain('{"type":"json","value":true}')
  })
})

describe('the arguments of durable', () => {
  it('durable refuses anything but a run, a model or tools, and unknown options', async () => {
    await runOnce(async (run) => {
      const loose = durable as (...args: any[]) => unknown
      const model = modelOf([])
      const tools = { weather: acting(() => 1) }
      await refusalOf(() => loose({}, model), 'INVALID_INPUT')
      await refusalOf(() => loose(undefined, model), 'INVALID_INPUT')
      expect((await refusalOf(() => loose(run, 'openai/gpt-5'), 'INVALID_INPUT')).message).toContain(
        'pass the model object',
      )
      await refusalOf(() => loose(run, null), 'INVALID_INPUT')
      const old = { specificationVersion: 'v2', modelId: 'old', provider: 'x', doGenerate() {}, doStream() {} }
      expect((await refusalOf(() => loose(run, old), 'INVALID_INPUT')).message).toContain('got "v2"')
      await refusalOf(() => loose(run, { ...old, specificationVersion: 'v4', doGenerate: undefined }), 'INVALID_INPUT')
      await refusalOf(() => loose(run, { weather: 'sunny' }), 'INVALID_INPUT')
      expect((await refusalOf(() => loose(run, model, { onInterupt: 'ask' }), 'UNKNOWN_OPTION')).message).toContain(
        '"onInterrupt"',
      )
      await refusalOf(() => loose(run, model, { timeoutMs: -1 }), 'INVALID_INPUT')
      await refusalOf(() => loose(run, model, { perTool: {} }), 'UNKNOWN_OPTION')
      await refusalOf(() => loose(run, tools, { key: 'x' }), 'UNKNOWN_OPTION')
      const { details } = await refusalOf(() => loose(run, tools, { perTool: { wether: {} } }), 'UNKNOWN_OPTION')
      expect(details).toMatchObject({ option: 'wether', nearest: 'weather' })
      await expect(outcomeOf(async () => (durable(run, tools) as any).weather.execute({}, {}))).resolves.toMatchObject({
        code: 'INVALID_INPUT',
      })
    })
  })
})
