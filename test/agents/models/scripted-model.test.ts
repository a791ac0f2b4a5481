// The scripted model: how turns are chosen, and what they do.
import { describe, expect, it } from 'vitest'
import { runModelStep, streamModelStep } from '../../../src/agents/models/model-step.ts'
import type { ModelMessage, ModelStepInput, ToolDefinition } from '../../../src/agents/models/step-schema.ts'
import { createScriptedModel, parseScript, type ScriptedModel, type ScriptedTurn } from '../../../src/testing/index.ts'
import { collect, failureOf, hello, never } from './chunks.ts'

const user = (content: string): ModelMessage => ({ role: 'user', content })
const tool = (name: string): ToolDefinition => ({ type: 'function', function: { name, parameters: {} } })

const step = (model: ScriptedModel, messages: ModelMessage[], rest: Partial<ModelStepInput> = {}) =>
  runModelStep(model, { messages, ...rest }, never())

/** Plays a conversation to its end: every call of a tool gets the result `result of <name>`. */
async function converse(model: ScriptedModel, messages: ModelMessage[], steps = 10): Promise<ModelMessage[]> {
  const said = [...messages]
  for (let number = 0; number < steps; number++) {
    const { content, toolCalls } = await step(model, said)
    said.push({ role: 'assistant', content, ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}) })
    if (toolCalls.length === 0) return said
    for (const { id, function: called } of toolCalls) {
      said.push({ role: 'tool', tool_call_id: id, content: `result of ${called.name}` })
    }
  }
  return said
}

describe('a scripted model', () => {
  it('X-035 a scripted model plays its turns in order, in small pieces, under the provider errand-script', async () => {
    const model = createScriptedModel(
      [
        { reasoning: 'Let me see.', text: 'Zwölf Boxkämpfer 🥊🥊', tools: [{ name: 'look', input: { at: 'x' } }] },
        { text: 'Done.' },
      ],
      { chunkSize: 4 },
    )
    expect(model).toMatchObject({ specificationVersion: 'v4', provider: 'errand-script', modelId: 'script' })
    const chunks = await collect(streamModelStep(model, hello, never()))
    const texts = chunks.flatMap((chunk) => ('content' in chunk ? [chunk.content] : []))
    expect(texts).toEqual(['Zwöl', 'f Bo', 'xkäm', 'pfer', ' 🥊🥊'])
    expect(chunks.at(-3)).toEqual({
      toolCalls: [{ id: 'call_1_1', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } }],
    })
    expect(chunks.at(-1)).toEqual({
      finish: {
        reason: 'tool-calls',
        usage: { inputTokens: null, outputTokens: null, totalTokens: null },
        modelId: 'script',
      },
    })
  })

  it('X-035 a scripted model continues a script after a restart, and in a conversation that the model object has never seen', async () => {
    const script: ScriptedTurn[] = [
      { text: 'First.', tools: [{ name: 'one' }] },
      { text: 'Second.', tools: [{ name: 'two' }, { name: 'three' }] },
      { text: 'Third.' },
    ]
    const whole = await converse(createScriptedModel(script), [user('Go')])
    // A resumed conversation holds what is recorded: wherever it is the model's turn, another object gives the same
    // answer.
    for (const recorded of [1, 3, 6]) {
      const reborn = createScriptedModel(parseScript(JSON.stringify(script)))
      expect(await converse(reborn, whole.slice(0, recorded))).toEqual(whole)
    }
    expect(whole.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'tool',
      'assistant',
    ])
  })

  it('a scripted model plays the turns for the goal of each conversation', async () => {
    const model = createScriptedModel([
      { when: { goal: 'trip' }, text: 'Trip 1', tools: [{ name: 'book' }] },
      { text: 'Other 1', tools: [{ name: 'book' }] },
      { when: { goal: /HOTEL/i }, text: 'Hotel 1' },
      { when: { goal: 'trip' }, text: 'Trip 2' },
      { text: 'Other 2' },
    ])
    const texts = async (goal: string) =>
      (await converse(model, [{ role: 'system', content: 'A trip to a hotel.' }, user(goal)]))
        .filter(({ role }) => role === 'assistant')
        .map(({ content }) => content)
    expect(await texts('Plan a trip')).toEqual(['Trip 1', 'Trip 2'])
    expect(await texts('Book a hotel')).toEqual(['Hotel 1'])
    expect(await texts('Write a poem')).toEqual(['Other 1', 'Other 2'])
  })

  it('a scripted model prefers a turn for the last message to all others', async () => {
    const model = createScriptedModel([
      { when: { goal: 'Go' }, text: 'Going', tools: [{ name: 'walk' }] },
      { when: { last: 'Error: ', goal: 'Go' }, text: 'Sorry.' },
      { when: { last: /^stop$/ }, text: 'Stopped.' },
    ])
    const going: ModelMessage[] = [
      user('Go'),
      {
        role: 'assistant',
        content: 'Going',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'walk', arguments: '{}' } }],
      },
    ]
    const answer = async (last: ModelMessage) => (await step(model, [...going, last])).content
    expect(await answer({ role: 'tool', tool_call_id: 'a', content: 'Error: tired' })).toBe('Sorry.')
    expect(await answer(user('stop'))).toBe('Stopped.')
    expect((await step(model, [user('stop')])).content).toBe('Stopped.')
  })

  it('a scripted model chooses a turn by the offered tools', async () => {
    const model = createScriptedModel([{ when: { tools: ['look'] }, text: 'with' }, { text: 'without' }])
    expect((await step(model, [user('x')], { tools: [tool('walk'), tool('look')] })).content).toBe('with')
    expect((await step(model, [user('x')])).content).toBe('without')
    expect(model.prompts.map(({ tools }) => tools)).toEqual([['walk', 'look'], []])
  })

  it('a scripted model fails a step without a turn finally, and quotes the goal and the last message', async () => {
    const model = createScriptedModel([{ text: 'once' }])
    const failure = await failureOf(
      step(model, [user('Open the socket'), { role: 'assistant', content: 'once' }, user('Again')]),
    )
    expect(failure).toMatchObject({ code: 'protocol', retry: false })
    expect(failure.message).toMatch(/no turn for this step.*answered 1 times.*"Open the socket".*"Again"/)
  })

  it('V-04 a scripted model fails a step whose patterns take too long, instead of blocking the process', async () => {
    const model = createScriptedModel(
      parseScript('- { when: { last: "/^(a+)+$/" }, text: Only letters. }\n- text: Hello.'),
    )
    const failure = await failureOf(step(model, [user(`${'a'.repeat(60)}!`)]))
    expect(failure).toMatchObject({ code: 'protocol', retry: false })
    expect(failure.message).toMatch(/patterns of the script took longer than 1000 ms.*nested repetition/i)
    expect((await step(model, [user('aaa')])).content).toBe('Only letters.')
    expect((await step(model, [user('b')])).content).toBe('Hello.')
  })

  it('a scripted model plays the turn that a function chooses by the prompt', async () => {
    const model = createScriptedModel(({ goal, last, turn, messages }) => ({
      text: `${turn}: ${goal} / ${last} / ${messages.length}`,
    }))
    const { content } = await step(model, [user('Go'), { role: 'assistant', content: 'Where?' }, user('Home')])
    expect(content).toBe('1: Go / Home / 3')
    await expect(
      step(
        createScriptedModel(() => ({ txt: 'x' }) as never),
        [user('x')],
      ),
    ).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('Did you mean "text"?'),
    })
  })

  it('a scripted model sends arguments that are not JSON, ids, a finish reason and a usage of the script', async () => {
    const model = createScriptedModel([
      {
        tools: [{ name: 'look', arguments: '{"at": ', id: 'mine' }],
        finish: 'length',
        usage: { inputTokens: 1, outputTokens: 2 },
      },
    ])
    expect(await runModelStep(model, hello, never())).toEqual({
      content: '',
      toolCalls: [{ id: 'mine', type: 'function', function: { name: 'look', arguments: '{"at": ' } }],
      finish: { reason: 'length', usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }, modelId: 'script' },
    })
  })
})

describe('a scripted failure', () => {
  it('a scripted failure throws an HTTP error of the script', async () => {
    const model = createScriptedModel([{ error: { status: 429, message: 'Slow down', retryAfterMs: 20 } }])
    expect(await failureOf(runModelStep(model, hello, never()))).toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 20,
      details: { status: 429 },
    })
  })

  it('a scripted failure drops the connection after the text when the script says so', async () => {
    const model = createScriptedModel([{ text: 'It is a long', tools: [{ name: 'look' }], error: 'drop' }])
    expect(await failureOf(runModelStep(model, hello, never()))).toMatchObject({
      code: 'connection',
      retry: true,
      details: { partial: { content: 'It is a long', toolCalls: [] } },
    })
  })

  it('a scripted stream can be aborted between two pieces', async () => {
    const model = createScriptedModel([{ text: 'one two three' }], { chunkSize: 4 })
    const controller = new AbortController()
    const chunks = streamModelStep(model, hello, controller.signal)
    expect(await chunks.next()).toEqual({ done: false, value: { content: 'one ' } })
    controller.abort()
    expect((await failureOf(collect(chunks))).code).toBe('aborted')
    // The same for a reader that reads the stream itself.
    const { stream } = await model.doStream({ prompt: [], abortSignal: never() })
    const other = new AbortController()
    const reader = (await model.doStream({ prompt: [], abortSignal: other.signal })).stream.getReader()
    other.abort(new Error('enough'))
    const reading = (async () => {
      while (!(await reader.read()).done);
    })()
    await expect(reading).rejects.toThrow('enough')
    await stream.cancel()
  })
})

describe('a script', () => {
  it('a script in code is checked when its model is created', () => {
    const made = (script: unknown) => () => createScriptedModel(script as never)
    expect(made([])).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
    expect(made([{ txt: 'x' }])).toThrow(expect.objectContaining({ code: 'UNKNOWN_OPTION' }))
    expect(made([{ when: {} }])).toThrow(/no condition/)
    expect(made([{ tools: [{ name: 'a', input: {}, arguments: '' }] }])).toThrow(/only one of them/)
    expect(() => createScriptedModel([{ text: 'x' }], { chunkSize: 0 })).toThrow(/chunkSize/)
    expect(() => createScriptedModel([{ text: 'x' }], { chunksize: 1 } as never)).toThrow(/Did you mean "chunkSize"/)
  })

  it('a script file is parsed as YAML or JSON, with or without the key turns', async () => {
    const yaml = `
turns:
  - when: { goal: /^plan.*trip$/is, last: "a trip" }
    text: |
      Two
      lines.
    tools: [{ name: look, input: { at: x } }]
    error: drop
  - error: { status: 429 }
`
    const [first, second] = parseScript(yaml)
    expect(first).toEqual({
      when: { goal: /^plan.*trip$/is, last: 'a trip' },
      text: 'Two\nlines.\n',
      tools: [{ name: 'look', input: { at: 'x' } }],
      error: 'drop',
    })
    expect(second).toEqual({ error: { status: 429, message: 'scripted error' } })
    const [turn] = parseScript('[{"text": "hi", "when": {"last": "/"}}]')
    expect(turn).toEqual({ text: 'hi', when: { last: '/' } })
    expect((await runModelStep(createScriptedModel(parseScript('- text: hi')), hello, never())).content).toBe('hi')
  })

  it.each([
    ['neither YAML nor JSON', '- text: "hi', { line: 1 }, /neither YAML nor JSON/],
    ['no list', 'text: hi', { line: 1, column: 1, path: '' }, /expected a list/],
    ['an empty file', '', { line: 1 }, /not valid/],
    ['an empty list', 'turns: []', { line: 1, column: 8, path: 'turns' }, /not valid/],
    ['an unknown key', '- text: hi\n- txt: hi\n', { line: 2, path: '1' }, /Did you mean "text"\?/],
    [
      'a value of the wrong kind',
      'turns:\n  - text: hi\n    tools:\n      - name: 7\n',
      { line: 4, column: 15, path: 'turns.0.tools.0.name' },
      /expected a string/,
    ],
    [
      'a pattern that is none',
      '- text: hi\n  when:\n    goal: /(/\n',
      { line: 3, column: 11, path: '0.when.goal' },
      /Invalid regular expression/,
    ],
    ['a missing name', '- tools:\n    - input: {}\n', { line: 2, path: '0.tools.0.name' }, /expected a string/],
    ['a repeated key', '- text: a\n  text: b\n', { line: 2 }, /unique/],
    [
      'aliases that grow without bound',
      `a: &a [x]\n${Array.from('bcdefghijk', (name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[index]}`).join(',')}]`).join('\n')}`,
      { line: 1 },
      /alias/i,
    ],
  ])('an invalid script file is refused with line and column: %s', (_name, text, details, said) => {
    expect(() => parseScript(text, 'demo.yaml')).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(said),
        details: expect.objectContaining({ file: 'demo.yaml', ...details }),
      }),
    )
    expect(() => parseScript(text, 'demo.yaml')).toThrow(/^demo\.yaml:\d+:\d+: /)
  })
})
