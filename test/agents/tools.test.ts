// The calls of an agent's tools: how they are recorded, in which order they run, and how bad ones are handled.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { defineAbility } from '../../src/bus/ability.ts'
import { Failure } from '../../src/core/errors.ts'
import type { Call } from '../../src/entities/call.ts'
import { toCall } from '../../src/entities/call.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { deferred, history, openEngine, reached, typesOf } from '../engine/world.ts'
import { announced, callsOf, echo, gatedTool, inShort, llm, tool } from './world.ts'

/** A ledger that records the status of all calls after each commit. */
function watched(inner: Ledger) {
  const seen: Array<{ step: string; calls: Call[]; messages: string[] }> = []
  const ledger = delegateLedger(inner, {
    async step(step) {
      const result = await inner.step(step)
      const rows = await inner.read(function* (tx) {
        const [task] = yield* tx.task.list({}, 1)
        if (task === undefined) return { calls: [], messages: [] }
        return { calls: yield* tx.call.list(task.id, ['call']), messages: yield* tx.message.list(task.id) }
      })
      seen.push({
        step: step.name,
        calls: rows.calls.map(toCall),
        messages: rows.messages.map(({ content }) => content),
      })
      return result
    },
  })
  return { ledger, seen }
}

describe('a tool call of an agent', () => {
  it('S0-068 S0-069 S0-018 S0-019 a tool call of an agent is pending, in progress, then completed: each state is committed, with its line for people', async () => {
    const inner = await openLedger(':memory:')
    const { ledger, seen } = watched(inner)
    const model = createScriptedModel([{ tools: [{ name: 'test_echo', input: { text: 'hi' } }] }, { text: 'Done' }])
    const engine = await openEngine({ ledger, model, abilities: [echo] })
    const task = await engine.create({ goal: 'Echo' })
    await engine.result(task)
    const states = seen.flatMap(({ calls, messages }) =>
      calls.map(({ status, startMessageId, endMessageId }) => ({
        status,
        announced: [startMessageId !== null, endMessageId !== null],
        lines: messages.filter((line) => /^[🔧✓✗]/u.test(line)),
      })),
    )
    const distinct = states.filter((each, index) => JSON.stringify(each) !== JSON.stringify(states[index - 1]))
    const calling = '🔧 Calling test:echo...'
    expect(distinct).toEqual([
      { status: 'pending', announced: [false, false], lines: [] },
      { status: 'in_progress', announced: [true, false], lines: [calling] },
      { status: 'completed', announced: [true, true], lines: [calling, '✓ test:echo completed'] },
    ])
    await engine.close()
    await inner.close()
  })

  it('S0-017 a tool call of an agent refers to the messages that announce its beginning and its end, both of its task', async () => {
    const model = createScriptedModel([
      {
        tools: [
          { name: 'test_echo', input: { text: 'a' } },
          { name: 'test_boom', input: {} },
        ],
      },
      { text: 'Done' },
    ])
    const boom = tool('test:boom', () => {
      throw new Error('bang')
    })
    const engine = await openEngine({ model, abilities: [echo, boom] })
    const task = await engine.create({ goal: 'Try' })
    await engine.result(task)
    const lines = new Map((await engine.messages(task)).map((message) => [message.id, message]))
    const found = (await engine.calls(task)).map(({ startMessageId, endMessageId }) => [
      lines.get(startMessageId as string)?.content,
      lines.get(endMessageId as string)?.content,
    ])
    expect(found).toEqual([
      ['🔧 Calling test:echo...', '✓ test:echo completed'],
      ['🔧 Calling test:boom...', '✗ test:boom failed: bang'],
    ])
  })

  it('S0-071 S0-072 a tool call of an agent is made to the ability of the tool name, however many colons and underscores it has', async () => {
    const ids = ['one:two', 'one:two:three', 'my_notes:add_one', 'my:notes_add_one', 'ask:user']
    const given: string[] = []
    const abilities = ids.map((id) => tool(id, () => void given.push(id)))
    const model = llm((input, step) => {
      const names = (input.tools ?? []).map((each) => each.function.name)
      const own = names.filter((name) => /^(one|my|ask)_/.test(name) && name !== 'ask_user')
      if (step > 1) return { content: own.join(' ') }
      return { toolCalls: own.map((name, index) => ({ id: `c${index}`, name, arguments: {} })) }
    })
    const engine = await openEngine({ abilities: [model.ability, ...abilities], toolExecution: 'sequential' })
    const task = await engine.create({ goal: 'Call them all' })
    const names = String(await engine.result(task)).split(' ')
    expect([...given].sort()).toEqual([...ids].sort())
    expect(names).toContain('one_two')
    expect(names).toContain('one_two_three')
    expect((await engine.calls(task)).map(({ name }) => name).sort()).toEqual([...ids].sort())
  })

  it('S0-068 a tool call of an agent passes the parsed arguments and the signal of the run to the ability', async () => {
    const got: unknown[] = []
    const look = tool('test:look', (input, { signal, caller }) => {
      got.push(input, signal.aborted, caller.surface, caller.taskId, caller.run)
      return null
    })
    const model = createScriptedModel([
      { tools: [{ name: 'test_look', arguments: '{"a": [1, {"b": "ü"}]}' }] },
      { text: 'Done' },
    ])
    const engine = await openEngine({ model, abilities: [look] })
    const task = await engine.create({ goal: 'Look' })
    await engine.result(task)
    expect(got).toEqual([{ a: [1, { b: 'ü' }] }, false, 'model', task.id, 1])
  })
})

describe('several tool calls of one turn', () => {
  async function twoGated(toolExecution: 'parallel' | 'sequential') {
    const slow = gatedTool('test:slow')
    const fast = gatedTool('test:fast')
    const model = llm((_input, step) =>
      step > 1
        ? { content: 'Both.' }
        : {
            toolCalls: [
              { id: 'one', name: 'test_slow', arguments: {} },
              { id: 'two', name: 'test_fast', arguments: {} },
            ],
          },
    )
    const engine = await openEngine({ abilities: [model.ability, slow.ability, fast.ability], toolExecution })
    return { engine, model, slow, fast, task: await engine.create({ goal: 'Both' }) }
  }

  it('S1-047 S1-048 several tool calls of one turn run in parallel, with their results in the order of the calls, whichever ends first', async () => {
    const { engine, model, slow, fast, task } = await twoGated('parallel')
    const [first, second] = await Promise.all([slow.began(0), fast.began(0)])
    expect((await engine.calls(task)).map(({ status }) => status)).toEqual(['in_progress', 'in_progress'])
    second.end('second')
    for await (const event of engine.events({ taskId: task.id })) if (event.type === 'call.completed') break
    first.end('first')
    expect(await engine.result(task)).toBe('Both.')
    expect(inShort(model.messages(2)).slice(-2)).toEqual(['tool one: first', 'tool two: second'])
    const ends = (await history(engine, task.id)).filter(({ type }) => type === 'call.completed')
    expect(ends.map(({ data }) => data.tool)).toEqual(['test:fast', 'test:slow'])
  })

  it('C-11 several tool calls of one turn run one after the other when the engine or the agent is configured so', async () => {
    const { engine, slow, fast, task } = await twoGated('sequential')
    const first = await slow.began(0)
    expect((await engine.calls(task)).map(({ status }) => status)).toEqual(['in_progress', 'pending'])
    expect(fast.calls).toHaveLength(0)
    first.end('first')
    const second = await fast.began(0)
    expect((await engine.calls(task)).map(({ status }) => status)).toEqual(['completed', 'in_progress'])
    second.end('second')
    expect(await engine.result(task)).toBe('Both.')
  })

  it('C-11 several tool calls of one turn run as the agent says, against the engine', async () => {
    const gated = gatedTool('test:slow')
    const model = createScriptedModel([{ tools: [{ name: 'test_slow' }, { name: 'test_slow' }] }, { text: 'Done' }])
    const engine = await openEngine({
      model,
      abilities: [gated.ability],
      executors: { orderly: agent({ toolExecution: 'sequential' }) },
    })
    const task = await engine.create({ executor: 'orderly', goal: 'Both' })
    ;(await gated.began(0)).end(1)
    ;(await gated.began(1)).end(2)
    await engine.result(task)
    const found = typesOf(await history(engine, task.id)).filter((type) => type.startsWith('call.'))
    expect(found).toEqual(['call.started', 'call.completed', 'call.started', 'call.completed'])
  })

  it('S1-049 S0-070 several tool calls of one turn continue when one of them fails, and so does the loop', async () => {
    const model = createScriptedModel([
      {
        tools: [
          { name: 'test_boom', input: {} },
          { name: 'test_echo', input: { text: 'fine' } },
        ],
      },
      { text: 'One of them.' },
    ])
    const boom = tool('test:boom', () => {
      throw new Error('bang')
    })
    for (const toolExecution of ['parallel', 'sequential'] as const) {
      const engine = await openEngine({ model, abilities: [boom, echo], toolExecution })
      const task = await engine.create({ goal: 'Both' })
      expect(await engine.result(task)).toBe('One of them.')
      expect(await callsOf(engine, task)).toEqual(['test:boom failed EXECUTION_ERROR', 'test:echo completed "fine"'])
    }
    expect(model.prompts[1]?.messages.at(-1)?.text).toBe('Error: bang\nfine')
  })
})

describe('a failed tool call', () => {
  const strict = defineAbility({
    id: 'test:strict',
    description: 'Wants a number.',
    input: z.strictObject({ count: z.int() }),
    output: z.unknown(),
    handle: ({ count }) => count,
  })

  /** One call with these arguments: its row, and what the model reads of it. */
  async function callOnce(name: string, given: string) {
    const model = llm((_input, step) =>
      step > 1 ? { content: 'I see.' } : { toolCalls: [{ id: 'x', name, arguments: given }] },
    )
    const boom = tool('test:boom', () => {
      throw new Failure('out of paper', { code: 'NO_PAPER' })
    })
    const engine = await openEngine({ abilities: [model.ability, strict, boom] })
    const task = await engine.create({ goal: 'Try' })
    expect(await engine.result(task)).toBe('I see.')
    const [call] = await engine.calls(task)
    return { call: call as Call, read: model.messages(2).at(-1)?.content, lines: await announced(engine, task) }
  }

  it('S0-073 a failed tool call of an unknown tool is returned to the model, and the task continues', async () => {
    const { call, read } = await callOnce('no_such_tool', '{"a":1}')
    expect(call).toMatchObject({
      name: 'no_such_tool',
      status: 'failed',
      params: { a: 1 },
      error: { code: 'NOT_FOUND' },
    })
    expect(read).toBe(`Error: ${call.error?.message}`)
  })

  it.each(['{"count": 1', '[1]', 'null', '"count"', '{"count": 1} and more'])(
    'S0-073 a failed tool call with arguments that are not a JSON object is returned to the model without calling the ability: %s',
    async (given) => {
      const { call, read, lines } = await callOnce('test_strict', given)
      expect(call).toMatchObject({
        name: 'test:strict',
        status: 'failed',
        params: given,
        error: { code: 'INVALID_INPUT' },
      })
      expect(read).toMatch(/^Error: The arguments are not a JSON object/)
      expect(lines[0]).toBe('🔧 Calling test:strict...')
      expect(lines[1]).toMatch(/^✗ test:strict failed: /)
    },
  )

  it.each([
    ['{"a":"\\u0000"}', 'NUL'],
    ['{"a":"\\ud83d"}', 'surrogate'],
    ['{"count":12345678901234567890}', 'cannot be stored exactly'],
    [`{"a":${'['.repeat(70)}${']'.repeat(70)}}`, 'nested'],
  ])(
    'S0-073 a failed tool call with arguments that no ledger stores is returned with the reason, without calling the ability: %s',
    async (given, why) => {
      const { call, read } = await callOnce('test_strict', given)
      expect(call).toMatchObject({ status: 'failed', params: given, error: { code: 'INVALID_INPUT' } })
      expect(read).toMatch(/^Error: Cannot store the arguments: /)
      expect(read).toContain(why)
    },
  )

  it.each([
    ['test_strict', '{"count":"\ud83d', '{"count":"\uFFFD'],
    ['test_strict', '{"count":"\u0000', '{"count":"\uFFFD'],
  ])(
    'S0-073 a failed tool call with arguments cut off within a character is returned to the model (%s)',
    async (name, given, kept) => {
      const { call } = await callOnce(name, given)
      expect(call).toMatchObject({ status: 'failed', params: kept, error: { code: 'INVALID_INPUT' } })
    },
  )

  it('S0-073 a failed tool call with a name that no ledger stores is returned to the model, and the task continues', async () => {
    const { call } = await callOnce('no\u0000such\ud83dtool', '{}')
    expect(call).toMatchObject({ name: 'no\uFFFDsuch\uFFFDtool', error: { code: 'NOT_FOUND' } })
  })

  it.each([
    ['bin\u0000ary', 'bin\uFFFDary'],
    ['half \ud83d', 'half \uFFFD'],
  ])(
    'S0-073 a tool call whose ability threw what no ledger stores leaves the conversation intact: %j',
    async (thrown, read) => {
      const model = llm((_input, step) =>
        step > 1 ? { content: 'I see.' } : { toolCalls: [{ id: 'x', name: 'test_torn', arguments: {} }] },
      )
      const torn = tool('test:torn', () => {
        throw new Error(thrown)
      })
      const engine = await openEngine({ abilities: [model.ability, torn] })
      const task = await engine.create({ goal: 'Try' })
      expect(await engine.result(task)).toBe('I see.')
      expect(model.messages(2).at(-1)?.content).toBe(`Error: ${read}`)
    },
  )

  it('S0-073 a failed tool call with arguments that do not match the schema is returned with its issues', async () => {
    const { call, read } = await callOnce('test_strict', '{"count":"three"}')
    expect(call).toMatchObject({ status: 'failed', params: { count: 'three' }, error: { code: 'INVALID_INPUT' } })
    expect(read).toMatch(/^Error: .*count/)
  })

  it('S0-070 S1-011 a failed tool call whose ability threw has the message, the code and the stack', async () => {
    const { call, read, lines } = await callOnce('test_boom', '{}')
    expect(call).toMatchObject({
      status: 'failed',
      error: { message: 'out of paper', stack: expect.stringContaining('out of paper') },
    })
    expect(read).toBe('Error: out of paper')
    expect(lines).toEqual(['🔧 Calling test:boom...', '✗ test:boom failed: out of paper'])
  })

  it('the ability of a tool call without arguments gets an empty object', async () => {
    const { call } = await callOnce('test_boom', '')
    expect(call).toMatchObject({ params: {}, error: { message: 'out of paper' } })
  })

  it('a tool call is retried as its ability allows, in the same call', async () => {
    let tries = 0
    const flaky = tool(
      'test:flaky',
      () => {
        if (++tries < 3) throw new Error('not yet')
        return 'now'
      },
      { retry: { maxAttempts: 3 } },
    )
    const model = createScriptedModel([{ tools: [{ name: 'test_flaky' }] }, { text: 'Done' }])
    const engine = await openEngine({ model, abilities: [flaky] })
    const task = await engine.create({ goal: 'Try' })
    await engine.result(task)
    expect(await callsOf(engine, task)).toEqual(['test:flaky completed "now"'])
  })

  it('a failed tool call fails with TIMEOUT when it exceeds the time-out of its ability', async () => {
    const slow = tool('test:slow', () => new Promise(() => {}), { timeoutMs: 5 })
    const model = createScriptedModel([{ tools: [{ name: 'test_slow' }] }, { text: 'Too slow' }])
    const engine = await openEngine({ model, abilities: [slow] })
    const task = await engine.create({ goal: 'Try' })
    expect(await engine.result(task)).toBe('Too slow')
    expect(await callsOf(engine, task)).toEqual(['test:slow failed TIMEOUT'])
  })

  it('a tool call whose result is not JSON is completed, and the model reads that the result is lost', async () => {
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    const model = createScriptedModel([{ tools: [{ name: 'test_odd' }] }, { text: 'Odd' }])
    const engine = await openEngine({ model, abilities: [tool('test:odd', () => circular)] })
    const task = await engine.create({ goal: 'Try' })
    expect(await engine.result(task)).toBe('Odd')
    expect((await engine.calls(task))[0]).toMatchObject({
      status: 'completed',
      result: null,
      resultLost: expect.stringContaining('circular'),
    })
  })

  it('a tool call without a result is completed, and the model reads so', async () => {
    const model = llm((_input, step) =>
      step > 1 ? { content: 'Quiet.' } : { toolCalls: [{ id: 'x', name: 'test_mute', arguments: {} }] },
    )
    const engine = await openEngine({ abilities: [model.ability, tool('test:mute', () => undefined)] })
    const task = await engine.create({ goal: 'Try' })
    expect(await engine.result(task)).toBe('Quiet.')
    expect(model.messages(2).at(-1)).toMatchObject({ role: 'tool', content: 'null' })
  })

  it('a result with a type of media and data is read as it is, except images, sounds and files of MCP servers', async () => {
    const page = { mimeType: 'text/html', data: '<p>Hello</p>' }
    const media = [
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA' } },
    ]
    const model = llm((_input, step) =>
      step > 1 ? { content: 'Seen' } : { toolCalls: [{ id: 'a', name: 'test_look', arguments: {} }] },
    )
    const engine = await openEngine({ abilities: [model.ability, tool('test:look', () => ({ page, media }))] })
    await engine.result(await engine.create({ goal: 'Look' }))
    expect(JSON.parse(model.messages(2).at(-1)?.content ?? '')).toEqual({
      page,
      media: [
        { type: 'image', mimeType: 'image/png', data: '(3 bytes of image/png, left out)' },
        { type: 'resource', resource: { uri: 'file:///a', blob: '(3 bytes of unknown type, left out)' } },
      ],
    })
  })

  it('two tool calls with one id of the model are two calls, whose results go back under two ids', async () => {
    const model = llm((_input, step) =>
      step > 1
        ? { content: 'Done' }
        : {
            toolCalls: [
              { id: 'same', name: 'test_echo', arguments: { text: 'a' } },
              { id: 'same', name: 'test_echo', arguments: { text: 'b' } },
            ],
          },
    )
    const engine = await openEngine({ abilities: [model.ability, echo] })
    const task = await engine.create({ goal: 'Try' })
    await engine.result(task)
    expect(await callsOf(engine, task)).toEqual(['test:echo completed "a"', 'test:echo completed "b"'])
    expect(inShort(model.messages(2)).slice(-3)).toEqual([
      'assistant:  same=test_echo({"text":"a"}) call_1_2=test_echo({"text":"b"})',
      'tool same: a',
      'tool call_1_2: b',
    ])
  })
})

describe('a pause in the middle of a tool call', () => {
  it('a pause in the middle of a tool call passes CALL_INTERRUPTED to the model, and the next run makes the calls that never began', async () => {
    const slow = gatedTool('test:slow')
    const model = llm((_input, step) =>
      step > 1
        ? { content: 'Done' }
        : {
            toolCalls: [
              { id: 'a', name: 'test_slow', arguments: {} },
              { id: 'b', name: 'test_echo', arguments: { text: 'later' } },
            ],
          },
    )
    const engine = await openEngine({ abilities: [model.ability, slow.ability, echo], toolExecution: 'sequential' })
    const task = await engine.create({ goal: 'Work' })
    await slow.began(0)
    await engine.pause(task)
    await reached(engine, task, 'paused')
    await engine.resume(task)
    expect(await engine.result(task)).toBe('Done')
    expect(await callsOf(engine, task)).toEqual(['test:slow failed CALL_INTERRUPTED', 'test:echo completed "later"'])
    expect(inShort(model.messages(2)).slice(-2)).toEqual([
      expect.stringMatching(/^tool a: Error: .*may have happened/),
      'tool b: later',
    ])
    expect(slow.calls).toHaveLength(1)
  })

  it('a pause in the middle of a tool call repeats the call in a new row when its ability has onInterrupt rerun', async () => {
    const hold = deferred()
    let tries = 0
    const again = tool(
      'test:again',
      async (_input, { signal }) => {
        if (++tries > 1) return 'second time'
        hold.resolve()
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
      { onInterrupt: 'rerun' },
    )
    const model = createScriptedModel([{ tools: [{ name: 'test_again' }] }, { text: 'Done' }])
    const engine = await openEngine({ model, abilities: [again] })
    const task = await engine.create({ goal: 'Work' })
    await hold.promise
    await engine.pause(task)
    await engine.resume(task)
    expect(await engine.result(task)).toBe('Done')
    expect(await callsOf(engine, task)).toEqual([
      'test:again failed CALL_INTERRUPTED',
      'test:again completed "second time"',
    ])
    expect(model.prompts.at(-1)?.last).toBe('second time')
  })

  it('a pause in the middle of a tool call asks a person whether to repeat the call when its ability has onInterrupt ask', async () => {
    for (const [decision, expected] of [
      ['rerun', ['test:risky failed CALL_INTERRUPTED', 'test:risky completed 2']],
      ['fail', ['test:risky failed CALL_INTERRUPTED']],
    ] as const) {
      const hold = deferred()
      let tries = 0
      const risky = tool(
        'test:risky',
        async (_input, { signal }) => {
          if (++tries > 1) return tries
          hold.resolve()
          await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        },
        { onInterrupt: 'ask' },
      )
      const model = createScriptedModel([{ tools: [{ name: 'test_risky' }] }, { text: 'Done' }])
      const engine = await openEngine({ model, abilities: [risky] })
      const task = await engine.create({ goal: 'Work' })
      await hold.promise
      await engine.pause(task)
      await engine.resume(task)
      const asking = await reached(engine, task, 'input_required')
      expect(asking.questions[0]?.question).toContain('test:risky')
      await engine.answer(task, decision)
      expect(await engine.result(task)).toBe('Done')
      expect(await callsOf(engine, task)).toEqual(expected)
    }
  })
})
