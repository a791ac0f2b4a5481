// Hostile input to every method of the engine: stored unchanged, or refused with a typed error before anything is written.
import { expect, it, onTestFinished } from 'vitest'
import { maxJsonLength } from '../src/core/json.ts'
import { createEngine, type ErrandError, type ExecutorFunction } from '../src/index.ts'

const half = 'a\ud83d'
const nul = 'a\u0000b'
const kept = `'; drop table task; -- 👩‍👩‍👧 \u202e\u2028 "quoted" \\u0000 \u0001`

const executors = {
  echo: (task) => task.input,
  call: (task, run) => run.call(String(task.input), null, () => 1),
  key: (task, run) => run.call('one', null, () => 1, { key: String(task.input) }),
  message: async (task, run) => {
    await run.message('user', String(task.input))
    return null
  },
  emit: (task, run) => {
    run.emit(String(task.input))
    return null
  },
  ask: (task, run) => run.ask(String(task.input), undefined, { timeoutMs: 1, default: 1 }),
  half: () => half,
  nulCall: (_task, run) => run.call(nul, null, () => 1),
  nulKey: (_task, run) => run.call('one', null, () => 1, { key: nul }),
  odd: async (task, run) => [
    task.input,
    await run.call('odd', task.input, (params) => params),
    await run.call('fails', () => Promise.reject(task.input)).catch((thrown: unknown) => thrown),
  ],
  halfMessage: (_task, run) => run.message('user', half),
  nulOutput: (_task, run) => run.emit(nul),
  nulQuestion: (_task, run) => run.ask(nul),
  halfResult: (_task, run) => run.call('one', null, () => half),
  hugeResult: () => 'x'.repeat(maxJsonLength),
  throwing: () => {
    throw new Error(nul + half)
  },
} satisfies Record<string, ExecutorFunction>

async function setup() {
  const engine = await createEngine({
    ledger: ':memory:',
    executors,
  })
  onTestFinished(() => engine.close())
  return engine
}

const codeOf = (refused: Promise<unknown>) =>
  refused.then(
    () => 'accepted',
    (error: ErrandError) => error.code,
  )

it('X-037 create refuses text that no database keeps, field by field, and writes nothing', async () => {
  const engine = await setup()
  const keyed = (key: string) => JSON.parse(`{${JSON.stringify(key)}:{"polluted":true}}`) as Record<string, never>
  const attempts: Array<Promise<unknown>> = [nul, half, 'x'.repeat(maxJsonLength + 1)].flatMap((text) => [
    engine.create({ name: 'x', goal: text }),
    engine.create({ name: 'x', description: text }),
    engine.create({ name: 'x', input: { deep: [text] } }),
    engine.create({ name: 'x', metadata: { [text]: 1 } }),
    engine.create({ name: 'x', metadata: { text } }),
  ])
  for (const text of [nul, half]) {
    attempts.push(engine.create({ name: text }), engine.create({ name: 'x', key: text }))
    attempts.push(engine.create({ name: 'x', tasks: { [text]: { name: 'y' }, other: { name: text } } }))
  }
  attempts.push(engine.create({ name: 'x', tasks: { inner: { name: 'y', tasks: keyed('__proto__') } } }))
  attempts.push(engine.create({ name: 'x', input: JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) }))
  expect(await Promise.all(attempts.map(codeOf))).toEqual(attempts.map(() => 'INVALID_INPUT'))
  expect((await engine.list()).total).toBe(0)
  expect(({} as Record<string, unknown>)['polluted']).toBe(undefined)
})

it('X-037 methods refuse text that no database keeps, and do not change the task', async () => {
  const engine = await setup()
  const task = await engine.create({ name: 'x' })
  for (const text of [nul, half]) {
    expect(await codeOf(engine.update(task.id, { name: text }))).toBe('INVALID_INPUT')
    expect(await codeOf(engine.update(task.id, { metadata: { [text]: 1 } }))).toBe('INVALID_INPUT')
    expect(await codeOf(engine.get(text))).toBe('INVALID_INPUT')
    expect(await codeOf(engine.claim(task, { owner: text }))).toBe('INVALID_INPUT')
    expect(await codeOf(engine.list({ executor: text }))).toBe('INVALID_INPUT')
    expect(await codeOf(engine.list({ metadata: { [text]: 1 } }))).toBe('INVALID_INPUT')
  }
  expect(await engine.get(task.id)).toEqual(task)
})

it('X-037 keys that prototypes have too are ordinary keys, kept in inputs, metadata, params, results and errors', async () => {
  const engine = await setup()
  for (const key of ['__proto__', 'constructor', 'prototype']) {
    const odd = () => JSON.parse(`{"b":1,"a":[{${JSON.stringify(key)}:{"polluted":true}}]}`) as Record<string, never>
    const text = JSON.stringify(odd())
    const { id } = await engine.create({ executor: 'odd', input: odd(), metadata: odd() })
    expect(JSON.stringify(await engine.result(id))).toBe(JSON.stringify([odd(), odd(), odd()]))
    const task = await engine.get(id)
    expect([JSON.stringify(task?.input), JSON.stringify(task?.metadata)]).toEqual([text, text])
    const [call] = await engine.calls(id)
    expect([JSON.stringify(call?.params), JSON.stringify(call?.result)]).toEqual([text, text])
  }
  expect(({} as Record<string, unknown>)['polluted']).toBe(undefined)
})

it('X-037 texts for people are mended wherever they come in', async () => {
  const engine = await setup()
  const mended = ['a�', 'a�b']
  for (const [index, text] of [half, nul].entries()) {
    const { id } = await engine.create({ name: 'x' })
    await engine.bus.call('task:note', { taskId: id, text })
    expect((await engine.messages(id)).map(({ content }) => content)).toEqual([mended[index]])
    await engine.cancel(id, text)
    expect((await engine.get(id))?.statusReason).toBe(mended[index])
    const other = await engine.create({ name: 'y' })
    await engine.bus.call('task:cancel', { taskId: other.id, reason: text })
    expect((await engine.get(other.id))?.statusReason).toBe(mended[index])
  }
  for (const executor of ['halfMessage', 'nulOutput', 'nulQuestion', 'halfResult', 'half'] as const) {
    const { id } = await engine.create({ executor })
    if (executor === 'nulQuestion') continue
    expect([executor, (await engine.settled(id)).status]).toEqual([executor, 'completed'])
  }
  expect((await engine.list({ executor: 'nulQuestion', status: 'failed' })).total).toBe(0)
})

it('X-037 an executor that names a call by text that no database keeps, or returns too much, fails its task alone, with the reason', async () => {
  const engine = await setup()
  const invalid = { nulCall: 'INVALID_INPUT', nulKey: 'INVALID_INPUT', hugeResult: 'INVALID_RESULT' } as const
  for (const [executor, code] of Object.entries(invalid)) {
    const { id } = await engine.create({ executor: executor as keyof typeof invalid })
    expect([executor, await engine.settled(id)]).toMatchObject([executor, { error: { code } }])
  }
  const { id } = await engine.create({ executor: 'throwing' })
  expect(await engine.settled(id)).toEqual({
    status: 'failed',
    // Characters that cannot be stored are replaced, so that the reason is still reported.
    error: { code: 'TASK_FAILED', message: (nul + half).replaceAll('\u0000', '\uFFFD').toWellFormed() },
  })
})

it('X-037 X-043 all other text round-trips, also as the name of a call and as a key', async () => {
  const engine = await setup()
  const task = await engine.create({
    name: kept,
    goal: kept,
    description: kept,
    executor: 'echo',
    input: { [kept]: kept },
    metadata: { [kept]: kept },
    key: kept,
  })
  expect(await engine.result(task.id)).toEqual({ [kept]: kept })
  expect(await engine.get(task.id)).toMatchObject({
    name: kept,
    goal: kept,
    description: kept,
    key: kept,
    metadata: { [kept]: kept },
  })
  expect((await engine.list({ metadata: { [kept]: kept }, keyPrefix: kept })).tasks.map((each) => each.id)).toEqual([
    task.id,
  ])
  for (const executor of ['call', 'key', 'message', 'emit', 'ask'] as const) {
    const { id } = await engine.create({ executor, input: kept })
    expect([executor, (await engine.settled(id)).status]).toEqual([executor, 'completed'])
    if (executor === 'call') expect((await engine.calls(id)).map((call) => call.name)).toEqual([kept])
    if (executor === 'message') expect((await engine.messages(id)).map((message) => message.content)).toEqual([kept])
  }
})
