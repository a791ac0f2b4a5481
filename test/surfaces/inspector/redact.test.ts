// The text of an inspection message: no secret in any part of it, and a bounded size.
import { expect, it } from 'vitest'
import { createActor, createMachine, fromPromise } from 'xstate'
import type { InspectionEvent } from '../../../src/actors/inspection-event.ts'
import { createRedactor, maxMessageBytes } from '../../../src/surfaces/inspector/redact.ts'
import { serveInspector } from '../../../src/surfaces/inspector/serve-inspector.ts'
import { toWire, type WireMessage } from '../../../src/surfaces/inspector/wire.ts'
import { ledgerFile, openEngine, turns } from '../../engine/world.ts'
import { receive } from './receiver.ts'

const secret = 'hunter2-hunter2'

const eventWith = (event: object): WireMessage =>
  ({ type: '@xstate.event', sessionId: 'x:1', rootId: 'x:0', _version: '', createdAt: '1', id: null, event }) as never

const redactedEvent = (event: object, redact?: Parameters<typeof createRedactor>[0]): Record<string, unknown> =>
  JSON.parse(createRedactor(redact)(eventWith({ type: 'e', ...event })).text).event

it('a secret is redacted in every message about an actor that has it in its definition, context, input, output and error', async () => {
  const events: InspectionEvent[] = []
  const child = (settle: () => unknown) => fromPromise(async () => settle())
  const machine = createMachine({
    id: 'leaky',
    context: { apiKey: secret, plain: 'seen', nested: [{ clientSecret: { deep: secret } }] },
    initial: 'works',
    states: {
      works: {
        invoke: {
          src: child(() => ({ access_token: secret, plain: 'output' })),
          input: { password: secret, header: { Authorization: `Bearer ${secret}` } },
          onDone: 'fails',
        },
      },
      fails: {
        invoke: {
          src: child(() => {
            throw Object.assign(new Error(`login failed: token=${secret}`), { cookie: secret, code: 'plain code' })
          }),
          onError: 'ends',
        },
      },
      ends: { type: 'final', output: { sessionCookie: secret } },
    },
  })
  const actor = createActor(machine, { inspect: (event) => events.push(event as never) }).start()
  while (actor.getSnapshot().status === 'active') await turns(1)
  const redacted = createRedactor()
  const raw = events.map((event) => toWire(event, 1)).filter((message) => message !== undefined)
  const texts = raw.map((message) => redacted(message).text).join('\n')
  expect(JSON.stringify(raw.map(({ definition: text, ...rest }: any) => ({ text, ...rest })))).toContain(secret)
  expect(texts).not.toContain(secret)
  for (const seen of ['seen', 'output', 'plain code', 'login failed', 'leaky']) expect(texts).toContain(seen)
})

it('a secret in the name of a task is redacted in everything that a receiver gets', async () => {
  const engine = await openEngine({ ledger: ledgerFile(), work: false })
  const server = await serveInspector(engine, { tasks: 'all' })
  const receiver = receive(server.url)
  await engine.create({ name: `deploy with token=${secret} to production` })
  await receiver.until(({ snapshot }) => snapshot?.value === 'submitted')
  await server.close()
  expect(JSON.stringify(receiver.messages)).not.toContain(secret)
  expect(JSON.stringify(receiver.messages)).toContain('token=[redacted] to production')
})

it.each([
  [`password: ${secret}`, 'password: [redacted]'],
  [`{"apiKey":"${secret}","n":1}`, '{"apiKey":"[redacted]","n":1}'],
  [`{\\"api_key\\":\\"${secret}\\"}`, '{\\"api_key\\":[redacted]}'],
  [`curl -H 'Authorization: Bearer ${secret}' x`, "curl -H 'Authorization: [redacted]' x"],
  [`sent bearer ${secret}`, 'sent bearer [redacted]'],
  [`postgres://ann:${secret}@host/db`, 'postgres://ann:[redacted]@host/db'],
  [`GET /?token=${secret}&page=2`, 'GET /?token=[redacted]&page=2'],
  [`DB_PASSWORD="${secret} and more`, 'DB_PASSWORD=[redacted]'],
])('a secret in the text %s is redacted', (text, clean) => {
  expect(redactedEvent({ text })).toEqual({ type: 'e', text: clean })
})

it.each([
  [{ tokens: ['one', secret] }, { tokens: '[redacted]' }],
  [
    { secrets: { of: secret }, n: 1 },
    { secrets: '[redacted]', n: 1 },
  ],
  [{ password: `a"b ${secret}` }, { password: '[redacted]' }],
  [[{ text: JSON.stringify({ cookies: [secret] }) }], [{ text: '{"cookies":"[redacted]"}' }]],
])('a secret in a text that is JSON is redacted by its name, however it is written: %j', (value, clean) => {
  for (const indent of [0, 2])
    expect(JSON.parse(redactedEvent({ text: JSON.stringify(value, null, indent) })['text'] as string)).toEqual(clean)
})

it('a secret in a key is redacted', () => {
  expect(redactedEvent({ [`token=${secret}`]: 1, [`Bearer ${secret}`]: 2 })).toEqual({
    type: 'e',
    'token=[redacted]': '[redacted]',
    'Bearer [redacted]': 2,
  })
})

it('redaction accepts further names: keys, patterns, or a function', () => {
  const event = { SSN: secret, iban_1: secret, inner: { token: secret, note: 'seen' }, text: `ssn=${secret}` }
  expect(redactedEvent(event, ['ssn', /^iban/])).toEqual({
    type: 'e',
    SSN: '[redacted]',
    iban_1: '[redacted]',
    inner: { token: '[redacted]', note: 'seen' },
    text: 'ssn=[redacted]',
  })
  const paths: string[] = []
  const redact = (value: unknown, path: readonly string[]): unknown => {
    paths.push(path.join('.'))
    return value === secret ? 'mine' : value
  }
  expect(redactedEvent(event, redact)).toMatchObject({ SSN: 'mine', iban_1: 'mine', inner: { token: '[redacted]' } })
  expect(paths).toContain('event.inner.note')
  const failing = () => {
    throw new Error('mine broke')
  }
  expect(JSON.stringify(createRedactor(failing)(eventWith(event)))).not.toContain(secret)
})

it('a state or event of a machine with the name of a secret is not redacted', () => {
  const definition = JSON.stringify({ states: { awaiting_token: { on: { TOKEN_CAME: 'next' }, token: secret } } })
  const message = { ...eventWith({ type: 'e' }), type: '@xstate.actor', name: 'a', definition } as WireMessage
  const clean = JSON.parse((createRedactor()(message).message as { definition: string }).definition) as unknown
  expect(clean).toEqual({ states: { awaiting_token: { on: { TOKEN_CAME: 'next' }, token: '[redacted]' } } })
})

it('an inspector message of more than 64 KiB is cut to its type, actor and state', () => {
  const bulk = Array.from({ length: 40 }, () => 'x'.repeat(3_000))
  const definition = JSON.stringify({ id: 'big', bulk })
  const snapshot = { status: 'active', value: 'one', context: { bulk } }
  const actor = {
    ...eventWith({ type: 'e' }),
    type: '@xstate.actor',
    name: 'a',
    parentId: 'x:0',
    definition,
    snapshot,
  }
  const cut = createRedactor()(actor as never)
  expect(cut.text.length).toBeLessThan(1_000)
  expect(cut.message).toMatchObject({
    type: '@xstate.actor',
    name: 'a',
    sessionId: 'x:1',
    parentId: 'x:0',
    snapshot: { status: 'active', value: 'one', context: { cut: expect.stringMatching(/^\[cut: \d+ bytes\]$/) } },
  })
  expect(redactedEvent({ bulk })).toEqual({ type: 'e', cut: expect.stringContaining('[cut: ') })
})

it('an inspector message has bounded depth, texts, counts and circles, and survives values that cannot be read', () => {
  const circle: Record<string, unknown> = { name: 'round' }
  circle['self'] = circle
  let deep: object = { bottom: true }
  for (let level = 0; level < 50; level++) deep = { deep }
  const hostile = Object.defineProperty({}, 'trap', { enumerable: true, get: () => expect.fail('caught') })
  const event = redactedEvent({
    circle,
    deep,
    hostile,
    long: 'y'.repeat(20_000),
    big: 10n,
    none: undefined,
    call: function callee() {},
    broken: { toJSON: () => expect.fail('caught') },
  })
  expect(event).toMatchObject({
    circle: { name: 'round', self: '[Circular]' },
    hostile: { trap: '[unreadable]' },
    big: '10',
    broken: '[unreadable]',
  })
  expect(JSON.stringify(event['deep'])).toContain('[nested too deep]')
  expect(JSON.stringify(event['deep'])).not.toContain('bottom')
  expect(event['long']).toMatch(/^y{8192}… \[cut: 20000 characters\]$/)
  expect(event).not.toHaveProperty('none')
  expect(event).not.toHaveProperty('call')
  const many = createRedactor()(eventWith({ type: 'e', many: Array.from({ length: 100_000 }, () => 1) }))
  expect(many.text.length).toBeLessThan(maxMessageBytes)
  expect(many.text).toContain('[cut: ')
})
