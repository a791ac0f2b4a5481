// A turn of a task as one message, as the AI SDK's own reader assembles it from the chunks, however these arrived.
import { readUIMessageStream, type UIMessage, uiMessageChunkSchema } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../../src/bus/ability.ts'
import { ErrandError } from '../../../src/core/errors.ts'
import type { StreamItem } from '../../../src/engine/engine-api.ts'
import type { ChattingEngine, UiMessageChunk } from '../../../src/surfaces/chat/index.ts'
import { toUiMessageStream, uiMessageResponse } from '../../../src/surfaces/chat/index.ts'
import { Turn } from '../../../src/surfaces/chat/turn.ts'
import { createScriptedModel, type ScriptedTurn } from '../../../src/testing/index.ts'
import { deferred, openEngine } from '../../engine/world.ts'

const base = { taskId: 'task-1', seq: 1 }
const piece = (messageId: string, content: string, offset = 0): StreamItem => ({
  ...base,
  type: 'content',
  messageId,
  content,
  offset,
})
const whole = (messageId: string, content: string): StreamItem => ({
  ...base,
  type: 'message',
  messageId,
  role: 'assistant',
  content,
  announcement: false,
})
const end: StreamItem = { ...base, type: 'end', status: 'completed' }

function chunksOf(...items: StreamItem[]): UiMessageChunk[] {
  const turn = new Turn('reply')
  return items.flatMap((item) => [...turn.take(item)])
}

/** The final message of the SDK's reader. */
async function readAll(stream: ReadableStream<UiMessageChunk>): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message
  return last
}

const read = (...items: StreamItem[]) =>
  readAll(ReadableStream.from(chunksOf(...items)) as ReadableStream<UiMessageChunk>)

const textOf = (message: UIMessage | undefined) =>
  message?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('|')

it('the text of a turn arrives in chunks, and ends with its message', () => {
  expect(chunksOf(piece('m', 'Hel'), piece('m', 'lo', 3), whole('m', 'Hello'), end)).toEqual([
    { type: 'start', messageId: 'reply' },
    { type: 'start-step' },
    { type: 'text-start', id: 'm' },
    { type: 'text-delta', id: 'm', delta: 'Hel' },
    { type: 'text-delta', id: 'm', delta: 'lo' },
    { type: 'text-end', id: 'm' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'stop' },
  ])
})

it.each([
  ['no chunk arrived', [whole('m', 'Hello')]],
  ['its first chunk is missing', [piece('m', 'lo', 3), whole('m', 'Hello')]],
  ['a chunk in the middle is missing', [piece('m', 'H'), piece('m', 'lo', 3), whole('m', 'Hello')]],
  ['its last chunk is missing', [piece('m', 'Hel'), whole('m', 'Hello')]],
  ['it was broken off and repeated as another message', [piece('l', 'Goodb'), piece('m', 'Hel'), whole('m', 'Hello')]],
  [
    'its attempt failed and another follows',
    [
      piece('l', 'Goodb'),
      { ...base, type: 'error', error: { code: 'x', message: 'y' }, willRetry: true },
      whole('m', 'Hello'),
    ] as StreamItem[],
  ],
])('the text of a turn is complete and appears once if %s', async (_what, items) => {
  expect(textOf(await read(...items, end))).toBe('Hello')
})

it('the text of a turn of an executor that is not an agent is its output', async () => {
  const output = (content: string): StreamItem => ({ ...base, type: 'content', content })
  expect(textOf(await read(output('line 1\n'), output('line 2\n'), end))).toBe('line 1\nline 2\n')
})

it('a turn ends when its task asks a question, whichever of state and question comes first', () => {
  const state: StreamItem = { ...base, type: 'state', status: 'input_required', from: 'working', reason: null, at: 0 }
  const question: StreamItem = {
    ...base,
    type: 'question',
    questionId: 'q',
    question: 'Sure?',
    for: 'person',
    schema: null,
  }
  for (const items of [
    [state, question],
    [question, state],
  ]) {
    const chunks = chunksOf(...items)
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'other' })
    expect(chunks.filter(({ type }) => type === 'data-errand-question')).toHaveLength(1)
  }
})

it('a turn omits the results of calls of another turn', () => {
  const result: StreamItem = { ...base, type: 'tool_result', callId: 'c', tool: 't', result: 1 }
  expect(chunksOf(result)).toEqual([{ type: 'start', messageId: 'reply' }])
})

it.each([
  ['failed', { type: 'finish', finishReason: 'error' }],
  ['canceled', { type: 'abort', reason: 'The task was canceled.' }],
] as const)('a turn reports that its task is %s', (status, last) => {
  const error: StreamItem = { ...base, type: 'error', error: { code: 'x', message: 'It broke.' }, willRetry: false }
  const chunks = chunksOf(piece('m', 'Hel'), error, { ...base, type: 'end', status })
  expect(chunks.at(-1)).toEqual(last)
  expect(chunks).toContainEqual({ type: 'error', errorText: 'It broke.' })
  expect(chunks.filter(({ type }) => type === 'finish-step')).toHaveLength(1)
})

async function agent(turns: ScriptedTurn[]) {
  const weather = defineAbility({
    id: 'weather:now',
    description: 'The weather in a city, now.',
    input: z.object({ city: z.string() }),
    output: z.object({ celsius: z.number() }),
    handle: ({ city }) => {
      if (city === 'Atlantis') throw new Error('sunk')
      return { celsius: city.length * 4 }
    },
  })
  return openEngine({ model: createScriptedModel(turns), abilities: [weather] })
}

it('the stream of a real task is read by the AI SDK as text and tools in steps, with the states beside them', async () => {
  const engine = await agent([
    {
      text: 'I look.',
      tools: [
        { name: 'weather_now', input: { city: 'Oslo' } },
        { name: 'weather_now', input: { city: 'Atlantis' } },
      ],
    },
    { text: 'Sixteen degrees.' },
  ])
  const { id } = await engine.create({ goal: 'How warm is it?' })
  const message = await readAll(toUiMessageStream(engine, id))
  const parts = message?.parts.map((part) =>
    'state' in part && 'toolCallId' in part ? [part.type, part.state] : [part.type],
  )
  expect(parts).toEqual([
    ['data-errand-state'],
    ['step-start'],
    ['text'],
    ['dynamic-tool', 'output-available'],
    ['dynamic-tool', 'output-error'],
    ['step-start'],
    ['text'],
  ])
  expect(textOf(message)).toBe('I look.|Sixteen degrees.')
  expect(message?.parts[0]).toMatchObject({ data: { taskId: id, status: 'completed' } })
  expect(message?.parts[3]).toMatchObject({
    toolName: 'weather:now',
    input: { city: 'Oslo' },
    output: { celsius: 16 },
  })
  // A repeated chunk leads to the same message.
  expect(await readAll(toUiMessageStream(engine, id))).toEqual(message)
})

it('the stream of a real task is sent over HTTP with the headers of its protocol, valid chunks and [DONE]', async () => {
  const engine = await agent([{ text: 'Hello.' }])
  const { id } = await engine.create({ goal: 'Say hello.' })
  const response = uiMessageResponse(engine, id)
  expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const events = (await response.text()).split('\n\n')
  expect(events.splice(-2)).toEqual(['data: [DONE]', ''])
  const schema = uiMessageChunkSchema()
  for (const event of events) {
    const chunk: unknown = JSON.parse(event.slice('data: '.length))
    expect(await schema.validate?.(chunk), event).toMatchObject({ success: true })
  }
  expect(await schema.validate?.({ type: 'no such chunk' })).toMatchObject({ success: false })
})

it('the stream of a real task is closed when its reader cancels, and the task continues', async () => {
  const begun = deferred()
  const go = deferred()
  const wait = defineAbility({
    id: 'test:wait',
    description: 'Waits.',
    input: z.object({}),
    output: z.null(),
    handle: async () => {
      begun.resolve()
      await go.promise
      return null
    },
  })
  const model = createScriptedModel([{ tools: [{ name: 'test_wait', input: {} }] }, { text: 'Done.' }])
  const engine = await openEngine({ model, abilities: [wait] })
  const { id } = await engine.create({ goal: 'Wait.' })
  const stream = toUiMessageStream(engine, id)
  const reader = stream.getReader()
  await reader.read()
  await begun.promise
  await reader.cancel()
  go.resolve()
  expect(await engine.result(id)).toBe('Done.')
})

it('the stream of an unknown task is an error', async () => {
  const engine = await openEngine()
  const chunks: UiMessageChunk[] = []
  for await (const chunk of toUiMessageStream(engine, 'task-none')) chunks.push(chunk)
  expect(chunks).toEqual([{ type: 'error', errorText: expect.stringContaining('task-none') as string }])
})

it('the stream of a task that fails reports no details, and passes the cause to onError', async () => {
  const broken = new ErrandError('LEDGER_UNAVAILABLE', 'Cannot open /home/ann/errand.db.', {})
  const bus = {
    async *stream() {
      throw broken
    },
  }
  const errors: unknown[] = []
  const chunks: UiMessageChunk[] = []
  const stream = toUiMessageStream({ bus } as unknown as ChattingEngine, 'task-a', { onError: (e) => errors.push(e) })
  for await (const chunk of stream) chunks.push(chunk)
  expect(chunks).toEqual([{ type: 'error', errorText: expect.stringContaining('LEDGER_UNAVAILABLE') as string }])
  expect(JSON.stringify(chunks)).not.toContain('/home/ann')
  expect(errors).toEqual([broken])
})
