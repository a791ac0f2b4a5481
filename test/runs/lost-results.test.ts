// A call that has been made is recorded as made, whatever it returned: mended, or without its result. Only a retry that names it makes it
// again.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import { defineExecutor } from '../../src/entities/executor.ts'
import { createWorld } from './world.ts'

const circle: Record<string, unknown> = {}
circle['self'] = circle

it.each<[string, unknown, unknown]>([
  ['a key constructor', { driver: 'Hamilton', constructor: 'Ferrari' }, { driver: 'Hamilton', constructor: 'Ferrari' }],
  ['NUL', 'a\u0000b', 'a\ufffdb'],
  ['NUL in a key', { 'a\u0000': 1 }, { 'a\ufffd': 1 }],
  ['half of an emoji', ['cut \ud83d'], ['cut \ufffd']],
  ['a BigInt', { n: 5n }, { n: '5' }],
  ['a number that is not finite', { n: Number.NaN }, { n: null }],
])(
  'a call that returns %s completes with its mended image, and a retry does not make it again',
  async (_title, value, image) => {
    let made = 0
    const world = await createWorld(async (_task, run) => {
      const result = await run.call('charge', () => {
        made++
        return value
      })
      if (run.attempt === 1) throw new Error('again')
      return result
    })
    const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 3 } })
    expect(await world.engine.result(task)).toEqual(image)
    expect(made).toBe(1)
  },
)

it.each<[string, () => unknown, RegExp]>([
  ['too large', () => 'x'.repeat(5_000_000), /at most/],
  ['too deep', () => JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`), /deeper than 64/],
  ['circular', () => circle, /self is a circular reference/],
  ['a function', () => () => 1, /a function has no JSON image/],
  [
    'an object whose getter throws',
    () => ({
      get a() {
        throw new Error('unreadable')
      },
    }),
    /unreadable/,
  ],
  [
    'an object whose toJSON throws',
    () => ({
      toJSON() {
        throw new Error('no JSON')
      },
    }),
    /no JSON/,
  ],
])(
  'a call whose result is %s completes without it, rejects in every run and attempt, and is made again only by name',
  async (_title, result, why) => {
    let made = 0
    let isWhole = false
    const codes: unknown[] = []
    const world = await createWorld(async (_task, run) => {
      let got: unknown
      try {
        got = await run.call('charge', { amount: 5 }, () => {
          made++
          return isWhole ? 'paid' : result()
        })
      } catch (error) {
        codes.push((error as { code: unknown }).code)
        await run.ask('Go on?')
        throw error
      }
      return got
    })
    const { engine } = world
    engine.subscribe('question.asked', ({ taskId }) => void engine.answer(taskId, 'yes'))
    const task = await engine.create({ executor: 'work', retry: { maxAttempts: 3 } })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'INVALID_RESULT' } })
    const [call] = await engine.calls(task)
    expect(call).toMatchObject({
      status: 'completed',
      result: null,
      error: null,
      resultLost: expect.stringMatching(why),
    })
    await engine.retry(task)
    expect(await engine.settled(task)).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_RESULT', message: expect.stringContaining(`repeat: ["${call?.id}"]`) },
    })
    expect([made, codes]).toEqual([1, Array.from({ length: 3 }, () => 'INVALID_RESULT')])
    isWhole = true
    await engine.bus.call('task:retry', { taskId: task.id, repeat: [(call as { id: string }).id] })
    expect(await engine.result(task)).toBe('paid')
    expect(made).toBe(2)
    expect((await engine.calls(task)).map(({ status, resultLost }) => [status, resultLost === null])).toEqual([
      ['completed', false],
      ['completed', true],
    ])
  },
)

it('the event and the stream of a call whose result is lost say so', async () => {
  const world = await createWorld((_task, run) => run.call('charge', () => circle).catch(() => 'handled'))
  const task = await world.engine.create({ executor: 'work' })
  await world.engine.result(task)
  const event = await world.eventOf(task.id, 'call.completed')
  expect(event.data).toMatchObject({ tool: 'charge', result: null, resultLost: expect.stringContaining('circular') })
})

it('retry refuses to repeat a call that is unknown, of another task, or has not completed', async () => {
  const world = await createWorld(async (_task, run) => {
    await run.call('fine', () => 1)
    await run.call('fails', () => Promise.reject(new Error('no')))
  })
  const { engine } = world
  const [one, other] = [await engine.create({ executor: 'work' }), await engine.create({ executor: 'work' })]
  await engine.settled(one)
  await engine.settled(other)
  const [fine, fails] = await engine.calls(one)
  const codeOf = (repeat: string[], task = one) =>
    engine.retry(task, { repeat }).then(
      () => 'accepted',
      (error: { code: string }) => error.code,
    )
  expect(await codeOf(['call-unknown'])).toBe('NOT_FOUND')
  expect(await codeOf([(fine as { id: string }).id], other)).toBe('NOT_FOUND')
  expect(await codeOf([(fails as { id: string }).id])).toBe('INVALID_INPUT')
  expect(await codeOf([(fine as { id: string }).id])).toBe('accepted')
})

it('retry refuses to repeat a call in whose place another one was made', async () => {
  let made = 0
  const world = await createWorld(async (_task, run) => {
    await run.call('charge', () => ++made)
    throw new Error('later')
  })
  const { engine } = world
  const task = await engine.create({ executor: 'work' })
  await engine.settled(task)
  const [first] = await engine.calls(task)
  const repeat = [String(first?.id)]
  await engine.retry(task, { repeat })
  await engine.settled(task)
  const second = (await engine.calls(task)).at(-1)
  await expect(engine.retry(task, { repeat })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining(`made again since, as ${second?.id}`),
  })
  await engine.retry(task, { repeat: [String(second?.id)] })
  await engine.settled(task)
  expect(made).toBe(3)
})

it('a hook that cannot redact the result of a call loses that result, and the call is not made again', async () => {
  let made = 0
  const world = await createWorld((_task, run) => run.call('charge', () => `secret ${++made}`), {
    redact: (value) => {
      if (typeof value === 'string' && value.startsWith('secret')) throw new Error('no')
      return value
    },
  })
  const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 3 } })
  expect(await world.engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'INVALID_RESULT' } })
  expect((await world.engine.calls(task)).map(({ status, resultLost }) => [status, resultLost])).toEqual([
    ['completed', expect.stringContaining('redact')],
  ])
  expect(made).toBe(1)
})

it('a task whose own result cannot be stored fails with INVALID_RESULT at once, and is not attempted again', async () => {
  let attempts = 0
  const world = await createWorld(() => {
    attempts++
    return circle
  })
  const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 3 } })
  expect(await world.engine.settled(task)).toMatchObject({ error: { code: 'INVALID_RESULT', final: true } })
  expect(attempts).toBe(1)
})

const asynchronous = z.string().refine(async () => true)

it('a schema with an asynchronous refinement or transform is refused where it is defined', async () => {
  const transformed = z.object({ a: z.array(z.string().transform(async (text) => text)) })
  const refused = expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringContaining('asynchronous') })
  for (const schema of [asynchronous, transformed, z.union([z.null(), asynchronous]), z.string().pipe(asynchronous)]) {
    expect(() => defineExecutor({ input: schema, run: () => 1 })).toThrow(refused)
    expect(() => defineExecutor({ result: schema, run: () => 1 as never })).toThrow(refused)
    for (const part of ['input', 'output'])
      expect(() =>
        defineAbility({
          id: 'a:b',
          description: 'x',
          input: z.null(),
          output: z.null(),
          handle: () => null as never,
          [part]: schema,
        }),
      ).toThrow(refused)
  }
  const world = await createWorld((_task, run) => run.ask('Who?', asynchronous))
  const task = await world.engine.create({ executor: 'work' })
  expect(await world.engine.settled(task)).toMatchObject({ error: { code: 'INVALID_INPUT' } })
})

it('a refinement that only turns out to be asynchronous refuses an input, and does not lose a result', async () => {
  const hidden = z.string().superRefine((_value, _context) => Promise.resolve())
  const world = await createWorld(defineExecutor({ result: hidden, run: () => 'done' }), {
    executors: {
      work: defineExecutor({ result: hidden, run: () => 'done' }),
      other: defineExecutor({ input: hidden, run: () => 'done' }),
    },
  })
  expect(await world.engine.result(await world.engine.create({ executor: 'work' }))).toBe('done')
  expect(world.errors).toEqual([expect.objectContaining({ message: expect.stringContaining('asynchronous') })])
  await expect(world.engine.create({ executor: 'other', input: 'a' } as never)).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('asynchronous'),
  })
})
