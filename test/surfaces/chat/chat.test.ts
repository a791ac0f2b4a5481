// A chat with the AI SDK's own client over a real connection: turns, questions, failures, lost connections, and separate users.
import { AbstractChat, type ChatState, type ChatStatus, DefaultChatTransport, type UIMessage } from 'ai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../../src/bus/ability.ts'
import type { Engine, EngineOptions } from '../../../src/engine/engine-api.ts'
import { type ChatOptions, createChat } from '../../../src/surfaces/chat/index.ts'
import { listen, toNodeListener } from '../../../src/surfaces/web/node-server.ts'
import { createScriptedModel } from '../../../src/testing/index.ts'
import { deferred, ledgerFile, openEngine, refusalOf } from '../../engine/world.ts'

class MemoryState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready'
  error: Error | undefined = undefined
  messages: UIMessage[] = []
  pushMessage = (message: UIMessage) => {
    this.messages = [...this.messages, message]
  }
  popMessage = () => {
    this.messages = this.messages.slice(0, -1)
  }
  replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.messages.with(index, this.snapshot(message))
  }
  snapshot = <T>(value: T): T => structuredClone(value)
}

class Chat extends AbstractChat<UIMessage> {
  constructor(id: string, options: { api: string; headers: Record<string, string>; fetch?: typeof fetch }) {
    super({ id, transport: new DefaultChatTransport(options), state: new MemoryState() })
  }

  /** The text of the last message. */
  get said(): string {
    return textOf(this.messages.at(-1))
  }
}

function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('|')
}

async function open(options: EngineOptions, chatOptions: Partial<ChatOptions> = {}) {
  const engine: Engine = await openEngine(options)
  const errors: unknown[] = []
  const authenticate = ({ headers }: Request) => {
    const owner = headers.get('x-user')
    return owner === null ? null : { owner }
  }
  const handler = createChat(engine, { authenticate, onError: (error) => errors.push(error), ...chatOptions })
  const server = await listen({
    listener: () => toNodeListener(handler, (error) => errors.push(error)),
    limits: { closeGraceMs: 0 },
  })
  onTestFinished(() => server.close())
  const api = `${server.url}/api/chat`
  const chat = (id: string, user = 'ann', network = fetch) =>
    new Chat(id, { api, headers: { 'x-user': user }, fetch: network })
  return { engine, errors, api, chat }
}

/** A network whose first response breaks off as soon as it has delivered this text. */
function breakingOffAfter(word: string): typeof fetch {
  let isBroken = false
  return async (input, init) => {
    const response = await fetch(input, init)
    if (isBroken || response.body === null) return response
    isBroken = true
    const decoder = new TextDecoder()
    let all = ''
    const breaking = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk)
        all += decoder.decode(chunk, { stream: true })
        if (all.includes(word)) controller.error(new TypeError('network error'))
      },
    })
    return new Response(response.body.pipeThrough(breaking), { status: response.status, headers: response.headers })
  }
}

it('a chat answers each turn with a task, which gets the results of the previous ones', async () => {
  const model = createScriptedModel([
    { when: { goal: 'yesterday' }, text: 'Fifteen.' },
    { when: { goal: 'Oslo' }, text: 'Sixteen degrees.' },
  ])
  const { engine, chat } = await open({ model })
  const ann = chat('c1')
  await ann.sendMessage({ text: 'How warm is it in Oslo?' })
  expect([ann.status, ann.said]).toEqual(['ready', 'Sixteen degrees.'])
  await ann.sendMessage({ text: 'And yesterday?' })
  expect([ann.status, ann.said]).toEqual(['ready', 'Fifteen.'])
  expect(ann.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  const { tasks } = await engine.list()
  expect(Object.fromEntries(tasks.map(({ goal, status }) => [goal, status]))).toEqual({
    'How warm is it in Oslo?': 'completed',
    'And yesterday?': 'completed',
  })
  const second = tasks.find(({ goal }) => goal === 'And yesterday?')
  const seen = (await engine.messages(second?.id ?? '')).map(({ content }) => content).join('\n')
  expect(seen).toContain('Sixteen degrees.')
})

it('a chat that asks a question continues in the same task with the next message', async () => {
  const model = createScriptedModel([
    { text: 'One moment.', tools: [{ name: 'ask_user', input: { question: 'Celsius?' } }] },
    { text: 'Sixteen.' },
  ])
  const { engine, chat } = await open({ model })
  const ann = chat('c1')
  await ann.sendMessage({ text: 'How warm is it?' })
  const question = ann.messages.at(-1)?.parts.find(({ type }) => type === 'data-errand-question')
  expect([ann.status, ann.said]).toEqual(['ready', 'One moment.'])
  expect(question).toMatchObject({ data: { question: 'Celsius?' } })
  await ann.sendMessage({ text: 'Yes, please.' })
  expect([ann.status, ann.said]).toEqual(['ready', 'Sixteen.'])
  expect((await engine.list()).total).toBe(1)
})

it('a chat that has failed continues with the next message, or when it is requested again', async () => {
  let fails = true
  const model = createScriptedModel(() => (fails ? { error: { status: 400 } } : { text: 'Better.' }))
  const { engine, chat } = await open({ model })
  const ann = chat('c1')
  await ann.sendMessage({ text: 'Do it.' })
  expect([ann.status, ann.error?.message]).toEqual(['error', expect.any(String)])
  await ann.regenerate()
  expect(ann.status).toBe('error')
  fails = false
  await ann.sendMessage({ text: 'Try once more.' })
  expect([ann.status, ann.said]).toEqual(['ready', 'Better.'])
  expect((await engine.list()).total).toBe(1)
  await ann.regenerate()
  expect([ann.status, ann.said]).toEqual(['ready', 'Better.'])
  expect((await engine.list()).total).toBe(2)
})

it('a chat whose connection breaks in the middle is resumed, and its message is complete and appears once', async () => {
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
  const model = createScriptedModel([{ text: 'I wait.', tools: [{ name: 'test_wait', input: {} }] }, { text: 'Done.' }])
  const { engine, chat, api } = await open({ model, abilities: [wait] })
  const ann = chat('c 1')
  const sending = ann.sendMessage({ text: 'Wait.' })
  await begun.promise
  await ann.stop()
  await sending
  expect(ann.messages).toHaveLength(2)
  // A second window of the same user.
  const other = chat('c 1')
  const resumed = [ann.resumeStream(), other.resumeStream()]
  go.resolve()
  await Promise.all(resumed)
  expect(ann.said).toBe('I wait.|Done.')
  expect(ann.messages).toHaveLength(2)
  expect(textOf(other.messages.at(-1))).toBe('I wait.|Done.')
  expect((await engine.list()).total).toBe(1)
  expect((await fetch(`${api}/c%201/stream`, { headers: { 'x-user': 'ann' } })).status).toBe(204)
  expect((await fetch(`${api}/never/stream`, { headers: { 'x-user': 'ann' } })).status).toBe(204)
})

it('a chat whose network fails between two words continues with the same message', async () => {
  const go = deferred()
  const wait = defineAbility({
    id: 'test:wait',
    description: 'Waits.',
    input: z.object({}),
    output: z.null(),
    handle: () => go.promise.then(() => null),
  })
  const model = createScriptedModel([{ text: 'I wait.', tools: [{ name: 'test_wait', input: {} }] }, { text: 'Done.' }])
  const { chat } = await open({ model, abilities: [wait] })
  const ann = chat('c1', 'ann', breakingOffAfter('tool-input-available'))
  await ann.sendMessage({ text: 'Wait.' })
  expect(ann.status).toBe('error')
  const id = ann.messages.at(-1)?.id
  const resumed = ann.resumeStream()
  go.resolve()
  await resumed
  expect([ann.status, ann.said, ann.messages.length]).toEqual(['ready', 'I wait.|Done.', 2])
  expect(ann.messages.at(-1)?.id).toBe(id)
})

it('a chat whose server ends before the answer is answered by the next server', async () => {
  const ledger = ledgerFile()
  const model = createScriptedModel([{ text: 'Here I am.' }])
  const first = await open({ ledger, model, work: false })
  const ann = first.chat('c1')
  const sending = ann.sendMessage({ text: 'Hello?' })
  for await (const event of first.engine.events()) if (event.type === 'message.appended') break
  await first.engine.close()
  await sending
  expect(ann.status).toBe('error')
  const second = await open({ ledger, model, work: false })
  const again = second.chat('c1')
  const resumed = again.resumeStream()
  await second.engine.work()
  await resumed
  expect(again.said).toBe('Here I am.')
})

it('a chat creates its tasks with the configured fields', async () => {
  const model = createScriptedModel([{ text: 'Hello.' }])
  const { engine, chat } = await open({ model }, { task: { systemPrompt: 'You are brief.', priority: 3 } })
  await chat('c1').sendMessage({ text: 'Hi' })
  const [task] = (await engine.list()).tasks
  expect(task).toMatchObject({ goal: 'Hi', priority: 3 })
  expect((await engine.messages(task?.id ?? ''))[0]).toMatchObject({ role: 'system', content: 'You are brief.' })
})

it.each([
  { steps: ['edit last'], gets: 'one, edited 1' },
  { steps: ['edit last', 'edit last'], gets: 'one, edited 2' },
  { steps: ['again', 'edit last'], gets: 'one, edited 1' },
  { steps: ['edit last', 'again', 'edit last'], gets: 'one, edited 2' },
  { steps: ['edit first'], gets: 'edited 1' },
  { steps: ['again', 'edit first'], gets: 'edited 1' },
])('a chat answers a message that is edited, and forgets what it replaced: $steps', async ({ steps, gets }) => {
  const model = createScriptedModel(() => ({ text: 'An answer.' }))
  const { engine, chat } = await open({ model })
  const ann = chat('c1')
  await ann.sendMessage({ text: 'one' })
  await ann.sendMessage({ text: 'two' })
  let edits = 0
  for (const step of steps) {
    if (step === 'again') await ann.regenerate()
    else {
      const messageId = ann.messages[step === 'edit first' ? 0 : 2]?.id as string
      await ann.sendMessage({ text: `edited ${++edits}`, messageId })
    }
    expect([ann.status, ann.said]).toEqual(['ready', 'An answer.'])
  }
  await ann.sendMessage({ text: 'three' })
  expect(ann.status).toBe('ready')
  const { tasks } = await engine.list()
  expect(tasks).toHaveLength(3 + steps.length)
  const third = tasks.find(({ goal }) => goal === 'three')
  const known = (await engine.dependencies(third?.id ?? '')).map(({ goal }) => goal)
  expect(known.join(', ')).toBe(gets)
})

it('a chat answers a repeated request with one task', async () => {
  const { engine, api } = await open({ model: createScriptedModel([{ text: 'Hello.' }]) })
  const body = JSON.stringify({
    id: 'c1',
    trigger: 'submit-message',
    messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  })
  const headers = { 'x-user': 'ann', 'content-type': 'application/json' }
  const ask = async () => (await fetch(api, { method: 'POST', headers, body })).text()
  const answers = [...(await Promise.all([ask(), ask()])), await ask()]
  for (const answer of answers) expect(answer).toContain('[DONE]')
  expect((await engine.list()).total).toBe(1)
})

it('a chat belongs to one user, even if the ids are equal', async () => {
  const { engine, chat } = await open({ model: createScriptedModel([{ text: 'Hello.' }]) })
  const [ann, bob] = [chat('c1', 'ann'), chat('c1', 'bob')]
  await ann.sendMessage({ text: 'I am Ann.' })
  await bob.sendMessage({ text: 'I am Bob.' })
  const { tasks } = await engine.list()
  const bobs = tasks.find(({ goal }) => goal === 'I am Bob.')
  expect((await engine.messages(bobs?.id ?? '')).map(({ content }) => content).join('\n')).not.toContain('Ann')
  expect(tasks).toHaveLength(2)
})

describe('The routes of a chat', () => {
  const user = (parts: unknown[]) => ({ id: 'c1', messages: [{ id: 'm', role: 'user', parts }] })
  const json = { 'x-user': 'ann', 'content-type': 'application/json' }

  it.each([
    ['no user', 401, { 'content-type': 'application/json' }, user([{ type: 'text', text: 'x' }])],
    ['a form', 415, { 'x-user': 'ann', 'content-type': 'text/plain' }, user([{ type: 'text', text: 'x' }])],
    ['a compressed body', 415, { ...json, 'content-encoding': 'gzip' }, user([{ type: 'text', text: 'x' }])],
    ['no message', 400, json, { id: 'c1', messages: [] }],
    ['no chat', 400, json, { messages: user([]).messages }],
    ['no text', 400, json, user([])],
    [
      'a file',
      400,
      json,
      user([
        { type: 'text', text: 'look' },
        { type: 'file', url: 'data:,x', mediaType: 'text/plain' },
      ]),
    ],
    ['a message of the model', 400, json, { id: 'c1', messages: [{ id: 'm', role: 'assistant', parts: [] }] }],
    ['invalid JSON', 400, json, undefined],
    ['too large a body', 413, json, user([{ type: 'text', text: 'x'.repeat(2_000_000) }])],
  ])('a chat refuses a request with %s with %i, and creates nothing', async (_what, status, headers, body) => {
    const { engine, api, errors } = await open({ model: createScriptedModel([{ text: 'no' }]) })
    const response = await fetch(api, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: JSON.stringify(body) ?? '{',
    })
    expect([response.status, ((await response.json()) as { status: number }).status]).toEqual([status, status])
    expect((await engine.list()).total).toBe(0)
    expect(errors).toEqual([])
  })

  it('a chat refuses every other method and path', async () => {
    const { api } = await open({})
    expect((await fetch(api, { method: 'DELETE', headers: json })).status).toBe(405)
    expect((await fetch(api, { headers: json })).status).toBe(405)
    expect((await fetch(`${api}/%zz/stream`, { headers: json })).status).toBe(400)
  })

  it('a chat reports an invalid result of authenticate and admits no client', async () => {
    const { api, errors } = await open({}, { authenticate: () => ({ name: 'ann' }) as never })
    const response = await fetch(api, { method: 'POST', headers: json, body: '{}' })
    expect([response.status, errors.length]).toEqual([500, 1])
  })

  it('createChat refuses an unknown option, and the lack of authenticate', async () => {
    const engine = await openEngine()
    for (const task of [{ goal: 'x' }, { tags: ['x'] }, { blocked_by: [] }]) {
      await refusalOf((async () => createChat(engine, { authenticate: false, task }))(), 'INVALID_INPUT')
    }
    await refusalOf((async () => createChat(engine, {} as ChatOptions))(), 'INVALID_INPUT')
    await refusalOf(
      (async () => createChat(engine, { authenticate: false, modle: 'x' } as ChatOptions))(),
      'UNKNOWN_OPTION',
    )
  })
})
