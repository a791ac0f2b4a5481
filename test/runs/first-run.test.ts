// The first run of a task sees what every later run will see. An executor takes steps and asks after each of them, so that each step is
// made once and replayed in all later runs; what it has seen of a step must be the same in all of them.
import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import { ErrandError, Failure } from '../../src/core/errors.ts'
import { defineExecutor, type ExecutorTask, type Run } from '../../src/entities/executor.ts'
import { createWorld } from './world.ts'

class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status = 404
  readonly headers = { retry: 'no' }
  readonly socket = new Map([['token', 'secret']])
}

type Steps = Record<string, (task: ExecutorTask<unknown>, run: Run) => unknown>

/** What an executor can see of a value: for an error its classes, its name, all own properties and its causes. */
function seenOf(value: unknown): unknown {
  if (!(value instanceof Error)) return inspect(value, { depth: 20 })
  const own = Object.getOwnPropertyNames(value).sort()
  return {
    class: value.constructor.name,
    isOurs: ErrandError.isInstance(value),
    ...Object.fromEntries(own.map((key) => [key, seenOf((value as unknown as Record<string, unknown>)[key])])),
  }
}

/** What each run saw of each step, and the functions that ran. */
async function seenInRuns(steps: Steps, input?: { schema: z.ZodType; given: unknown }) {
  const runs: Array<Record<string, unknown>> = []
  const shout = defineAbility({
    id: 'test:shout',
    description: 'Refuses.',
    input: z.object({ text: z.string() }),
    output: z.null(),
    handle: () => {
      throw new HttpError('not found')
    },
  })
  const work = defineExecutor({
    input: input?.schema ?? z.unknown(),
    async run(task, run) {
      const seen: Record<string, unknown> = { input: seenOf(task.input) }
      runs.push(seen)
      for (const [name, step] of Object.entries(steps)) {
        try {
          seen[name] = seenOf(await step(task as ExecutorTask<unknown>, run))
        } catch (thrown) {
          run.signal.throwIfAborted()
          seen[name] = { thrown: seenOf(thrown) }
        }
        await run.ask('Go on?', null, { key: name })
      }
      return null
    },
  })
  const world = await createWorld(work, { abilities: [shout] })
  world.engine.subscribe('question.asked', ({ taskId }) => void world.engine.answer(taskId, 'yes'))
  const task = await world.engine.create({ executor: 'work', input: input?.given })
  expect((await world.engine.settled(task)).status).toBe('completed')
  return runs
}

/** The steps of which two runs saw different things. */
function differences(runs: Array<Record<string, unknown>>): string[] {
  const names = new Set(runs.flatMap((seen) => Object.keys(seen)))
  return [...names].filter((name) => {
    const all = runs.filter((seen) => name in seen).map((seen) => JSON.stringify(seen[name]))
    return all.length > 1 && new Set(all).size > 1
  })
}

const throwing: Record<string, () => unknown> = {
  ownClass: () => Promise.reject(new HttpError('HTTP 404', { cause: new TypeError('below', { cause: 'words' }) })),
  ownCode: () => Promise.reject(Object.assign(new Error('declined'), { code: 'card_declined' })),
  systemCode: () => Promise.reject(Object.assign(new Error('reset'), { code: 'ECONNRESET', errno: -104 })),
  native: () => Promise.reject(new RangeError('far', { cause: new HttpError('inner') })),
  any: () => Promise.any([Promise.reject(new Error('a')), Promise.reject(new HttpError('b'))]),
  listed: () => Promise.reject(Object.assign(new Error('invalid'), { errors: [{ path: 'a', message: 'short' }] })),
  plain: () => Promise.reject({ code: 'NOPE', message: 'plain', inner: { a: [1] } }),
  text: () => Promise.reject('text'),
  nothing: () => Promise.reject(undefined),
  abort: () => Promise.reject(new DOMException('stop', 'AbortError')),
  failure: () => Promise.reject(new Failure('later', { code: 'LATER', retryAfterMs: 70, details: { at: 1 } })),
  final: () => Promise.reject(new Failure('never', { retry: false })),
  engine: () => Promise.reject(new ErrandError('NOT_FOUND', 'no such thing', { id: 'x' })),
  large: () => Promise.reject(Object.assign(new HttpError('x'.repeat(20_000)), { body: 'y'.repeat(100_000) })),
  unreadable: () =>
    Promise.reject(
      Object.defineProperty(new HttpError('a'), 'status', {
        enumerable: true,
        get: () => {
          throw new Error('no')
        },
      }),
    ),
}

describe('what a run sees', () => {
  it('errors of calls are the same in the run that makes them and in every later one', async () => {
    const steps: Steps = Object.fromEntries(
      Object.entries(throwing).map(([name, fn]) => [name, (_task, run) => run.call(name, fn)]),
    )
    steps['timeOut'] = (_task, run) => run.call('slow', () => new Promise(() => {}), { timeoutMs: 1 })
    steps['ability'] = (_task, run) => run.invoke('test:shout', { text: 'a' })
    steps['badInput'] = (_task, run) => run.invoke('test:shout', { text: 7 })
    steps['unknown'] = (_task, run) => run.invoke('test:nothing', {})
    const runs = await seenInRuns(steps)
    expect(differences(runs)).toEqual([])
    expect(runs[0]).toMatchObject({
      ownClass: {
        thrown: {
          name: `'HttpError'`,
          status: '404',
          headers: `{ retry: 'no' }`,
          cause: { class: 'TypeError', cause: `'words'` },
        },
      },
    })
    const all = runs.at(-1) as Record<string, { thrown: unknown }>
    expect(all['ownCode']).toMatchObject({ thrown: { code: `'card_declined'` } })
    expect(all['text']).toEqual({ thrown: `'text'` })
    expect(all['plain']).toEqual({ thrown: `{ code: 'NOPE', message: 'plain', inner: { a: [ 1 ] } }` })
    expect(all['failure']).toMatchObject({ thrown: { class: 'Failure', code: `'LATER'`, retryAfterMs: '70' } })
    expect(all['abort']).toMatchObject({ thrown: { name: `'AbortError'` } })
    expect(JSON.stringify(runs)).not.toContain('secret')
  })

  it('values that a schema draws or makes are the same in every run, and task.input stays as it was given', async () => {
    const schema = z.object({
      id: z.string().default(() => randomUUID()),
      nested: z.object({ at: z.number().default(() => performance.now()) }).prefault({}),
      transformed: z.string().transform((text) => `${text} ${randomUUID()}`),
      prepared: z.preprocess((given) => given ?? randomUUID(), z.string()),
      caught: z.string().catch(() => randomUUID()),
      when: z.coerce.date(),
      big: z.coerce.bigint(),
      plain: z.string(),
      width: z.number().default(800),
    })
    const given = { transformed: 'a', caught: 7, when: '2027-01-01', big: '7', plain: 'b' }
    const runs = await seenInRuns(
      {
        one: (task, run) => run.call('one', { id: (task.input as { id: string }).id }, (params) => params),
        when: (task) => (task.input as { when: Date }).when.getTime(),
        two: (_task, run) => run.call('two', () => 2),
      },
      { schema, given },
    )
    expect(runs).toHaveLength(4)
    expect(differences(runs)).toEqual([])
  })

  it('values that a schema draws beside properties that it leaves undefined are the same in every run', async () => {
    const schema = z
      .object({ id: z.string().default(() => randomUUID()), note: z.string().optional() })
      .transform(({ id, note }) => ({ id, inner: [{ key: randomUUID(), note }] }))
    const runs = await seenInRuns({ one: (_task, run) => run.call('one', () => 1) }, { schema, given: {} })
    expect(runs).toHaveLength(2)
    expect(differences(runs)).toEqual([])
  })

  it('an input from which a schema makes more than the ledger stores is refused before the executor runs', async () => {
    let ran = 0
    const input = z.object({ text: z.string() }).transform(({ text }) => text.repeat(5_000_000))
    const { engine } = await createWorld(defineExecutor({ input, run: () => Promise.resolve(ran++) }))
    const outcome = await engine.settled(await engine.create({ executor: 'work', input: { text: 'a' } }))
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_INPUT', message: expect.stringContaining('what the schema made of the input') },
    })
    expect(ran).toBe(0)
  })

  it('a function gets its params as recorded, in each of its attempts, and the caller cannot change them any more', async () => {
    let attempts = 0
    const got: unknown[] = []
    const runs = await seenInRuns({
      changed: async (_task, run) => {
        const params: { list: number[]; extra?: boolean } = { list: [1] }
        const made = run.call(
          'change',
          params,
          (own) => {
            got.push(structuredClone(own))
            own.list.push(2)
            if (attempts++ === 0) throw new Error('once more')
            return own.list.length
          },
          { retry: { maxAttempts: 2 } },
        )
        params.list.push(7)
        params.extra = true
        return made
      },
      after: (_task, run) => run.call('after', () => 1),
    })
    expect(got).toEqual([{ list: [1] }, { list: [1] }])
    expect(differences(runs)).toEqual([])
  })

  it.each<[string, Steps]>([
    [
      'the error that a function threw, before it was recorded',
      {
        fault: async (_task, run) => {
          let live: unknown
          await run
            .call('x', () => {
              live = new HttpError('raw')
              throw live
            })
            .catch((recorded: unknown) => {
              live ??= recorded
            })
          return live
        },
      },
    ],
    [
      'params that a function changed',
      {
        fault: async (_task, run) => {
          const params = { list: [1] }
          await run.call('x', { list: [1] }, () => params.list.push(2))
          return params
        },
      },
    ],
    ['a value that is drawn in each run', { fault: () => randomUUID() }],
  ])('a planted difference is found: %s', async (_title, steps) => {
    expect(differences(await seenInRuns(steps))).toEqual(['fault'])
  })
})

it('an answer that its schema completes with drawn values is the same in every run', async () => {
  const seen: unknown[] = []
  const world = await createWorld(async (_task, run) => {
    seen.push(await run.ask('Who?', z.object({ name: z.string(), id: z.string().default(() => randomUUID()) })))
    await run.ask('Go on?')
    return seen.at(-1)
  })
  const task = await world.engine.create({ executor: 'work' })
  await world.eventOf(task.id, 'question.asked')
  await world.engine.answer(task, { name: 'Ada' })
  await world.eventOf(task.id, 'question.asked', ({ data }) => data.question === 'Go on?')
  await world.engine.answer(task, 'yes')
  await world.engine.result(task)
  expect(seen).toHaveLength(2)
  expect(seen[1]).toEqual(seen[0])
})
