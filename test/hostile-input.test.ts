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
  for (const key of ['__proto__', 'constructor', 'prototype']) {
    attempts.push(engine.create({ name: 'x', input: { deep: keyed(key) } }))
    attempts.push(engine.create({ name: 'x', metadata: keyed(key) }))
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
    expect(await codeOf(engine.cancel(task.id, text))).toBe('INVALID_INPUT')
    expect(await codeOf(engine.update(task.id, { name: text }))).toBe('INVALID_INPUT')
    expect(await codeOf(engine.update(task.id, { metadata: { [text]: 1 } }))).toBe('INVALID_INPUT')
    expect(await codeOf(engine.get(text))).toBe('INVALID_INPUT')
  }
  expect(await engine.get(task.id)).toEqual(task)
})

it('X-037 an executor that returns text that no database keeps fails its task alone, with the reason', async () => {
  const engine = await setup()
  const invalid = [
    'half',
    'nulCall',
    'nulKey',
    'halfMessage',
    'nulOutput',
    'nulQuestion',
    'halfResult',
    'hugeResult',
  ] as const
  for (const executor of invalid) {
    const { id } = await engine.create({ executor })
    expect([executor, await engine.settled(id)]).toMatchObject([executor, { error: { code: 'INVALID_INPUT' } }])
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
