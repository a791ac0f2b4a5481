// Values that JSON cannot carry: refused with their path on every way into the engine, before anything is written; in a result, which must
// not be lost, stored as its JSON image and reported.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { openEngine, refusalOf } from './world.ts'

class Photo {
  width = 800
}
const circle: Record<string, unknown> = {}
circle['self'] = circle

const uncarried: Array<[what: string, value: unknown, path: string, kind: string]> = [
  ['a function', { onDone: () => null }, '.onDone', 'a function'],
  ['a symbol', [Symbol('x')], '.0', 'a symbol'],
  ['NaN', { a: [1, { b: Number.NaN }] }, '.a.1.b', 'NaN'],
  ['an infinite number', -Infinity, '', '-Infinity'],
  ['a BigInt', { size: 10n }, '.size', 'a BigInt'],
  ['undefined in a list', [1, undefined], '.1', 'undefined'],
  ['a Map', { files: new Map([['a', 1]]) }, '.files', 'an instance of Map'],
  ['a Set', [new Set([1])], '.0', 'an instance of Set'],
  ['bytes', { bytes: new Uint8Array(2) }, '.bytes', 'an instance of Uint8Array'],
  ['an error', { cause: new TypeError('x') }, '.cause', 'an instance of TypeError'],
  ['an object of a class', { photo: new Photo() }, '.photo', 'an instance of Photo'],
  ['an invalid Date', { at: new Date('never') }, '.at', 'an invalid Date'],
  ['what toJSON returns', { toJSON: () => ({ n: Number.NaN }) }, '.n', 'NaN'],
]

/** Plain values, and what becomes of the others that JSON carries. */
const carried: Array<[what: string, value: unknown, stored: unknown]> = [
  ['plain values', { a: [1, 'x', true, null, { b: -0.5 }] }, { a: [1, 'x', true, null, { b: -0.5 }] }],
  ['a property that is undefined, as absent', { a: undefined, b: 1 }, { b: 1 }],
  ['a Date, as text', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
  ['an object of a class with toJSON', new URL('http://a.example/'), 'http://a.example/'],
  ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ['the same object twice', [{ a: 1 }, { a: 1 }], [{ a: 1 }, { a: 1 }]],
]

async function refusing(engine: Engine, way: () => Promise<unknown>, details: object, kind: string) {
  const { total } = await engine.list()
  const refusal = await refusalOf(way(), 'INVALID_INPUT')
  expect(refusal.details).toMatchObject(details)
  expect(refusal.message).toContain(`is ${kind}, which JSON cannot carry.`)
  expect(refusal.message).toContain('Use plain objects and lists')
  expect((await engine.list()).total).toBe(total)
}

const open = async () =>
  (await openEngine({ executors: { work: (task: ExecutorTask) => task.input } })) as unknown as Engine

describe('an input', () => {
  it('an input with a circle is refused with its path', async () => {
    const engine = await open()
    const refusal = await refusalOf(engine.create({ executor: 'work', input: circle }), 'INVALID_INPUT')
    expect(refusal.message).toBe('create is not valid: input.self: it contains itself, which JSON cannot express.')
    expect((await engine.list()).total).toBe(0)
  })

  it.each(uncarried)('an input with %s is refused with its path', async (_what, value, path, kind) => {
    const engine = await open()
    const way = () => engine.create({ executor: 'work', input: value })
    await refusing(engine, way, { what: 'the input of "work"', path: `input${path}` }, kind)
  })

  it.each(carried)('an input may hold %s', async (_what, value, stored) => {
    const engine = await open()
    expect((await engine.create({ executor: 'work', input: value })).input).toEqual(stored)
  })

  it('an input that JSON does not carry is refused in lists, trees, plans, updates and answers too, and as metadata', async () => {
    const engine = await open()
    const input = { n: Number.NaN }
    const here = { path: 'input.n' }
    await refusing(engine, () => engine.create([{ name: 'a' }, { executor: 'work', input }]), here, 'NaN')
    const tree = { name: 'a', tasks: { b: { tasks: { c: { executor: 'work', input } } } } }
    await refusing(engine, () => engine.create(tree), { what: 'the input of "c"', ...here }, 'NaN')
    await refusing(engine, () => engine.bus.call('task:create', { name: 'a', input }), here, 'NaN')
    const task = await engine.create({ name: 'a', input: 1, metadata: { kept: 1 } })
    await refusing(engine, () => engine.update(task, { input }), here, 'NaN')
    await refusing(engine, () => engine.update(task, { metadata: input }), { path: 'metadata.n' }, 'NaN')
    await refusing(engine, () => engine.create({ name: 'a', metadata: input }), { path: 'metadata.n' }, 'NaN')
    await refusing(engine, () => engine.answer(task, input), { path: 'answer.n' }, 'NaN')
    expect(await engine.get(task)).toMatchObject({ input: 1, metadata: { kept: 1 }, version: task.version })
  })

  it('an input that JSON does not carry is refused before the `redact` hook sees it', async () => {
    const engine = await openEngine({ redact: (value) => value })
    await refusalOf(engine.create({ name: 'a', input: { n: 1n } }), 'INVALID_INPUT')
    await refusalOf(engine.create({ name: 'a', metadata: { f: () => 1 } }), 'INVALID_INPUT')
  })

  it('an input of a plan is refused with its place in the plan', async () => {
    const engine = await open()
    const plan = (input: unknown) => ({
      name: 'p',
      tasks: { first: { executor: 'work' }, second: { executor: 'work', input } },
    })
    const refusal = await refusalOf(engine.plan(plan({ files: new Map() })), 'INVALID_PLAN')
    expect(refusal.message).toContain('JSON cannot carry an instance of Map')
    expect(refusal.details).toEqual({ path: 'tasks.second.input.files' })
    expect((await engine.list()).total).toBe(0)
  })
})

describe('of a run', () => {
  it.each<[string, (run: Run) => Promise<unknown>, string]>([
    ['the input of a child', (run) => run.spawn({ executor: 'work', input: { n: Number.NaN } }), 'input.n'],
    ['the params of a call', (run) => run.call('look', { n: Number.NaN }, () => 1), 'params.n'],
    ['the input of an ability', (run) => run.invoke('task:get', { n: Number.NaN }), 'params.n'],
    ['the default of a question', (run) => run.ask('Well?', null, { default: { n: Number.NaN } }), 'default.n'],
  ])('a run that passes %s is refused with the path, and nothing is recorded', async (_what, ask, path) => {
    const engine = await openEngine({
      executors: {
        work: () => null,
        parent: async (_task: ExecutorTask, run: Run) => {
          const refusal = await refusalOf(ask(run), 'INVALID_INPUT')
          return refusal.details['path']
        },
      },
    })
    const parent = await engine.create({ executor: 'parent' })
    expect(await engine.result(parent)).toBe(path)
    expect(await engine.calls(parent)).toEqual([])
    expect(await engine.children(parent)).toEqual([])
  })
})

describe('a result', () => {
  async function reporting(result: () => unknown) {
    const reported: Array<{ error: unknown; context: Record<string, unknown> }> = []
    const engine = await openEngine({
      executors: {
        work: result,
        calls: async (_task: ExecutorTask, run: Run) => run.call('look', result),
      },
      onError: (error, context) => reported.push({ error, context }),
    })
    return { engine, reported }
  }

  it('a result is stored as its JSON image, and what that does not carry is reported with its path', async () => {
    const { engine, reported } = await reporting(() => ({ files: [{ index: new Map([['a', 1]]), size: 7 }] }))
    const task = await engine.create({ executor: 'work' })
    expect(await engine.result(task)).toEqual({ files: [{ index: {}, size: 7 }] })
    expect(reported).toEqual([
      {
        error: expect.objectContaining({
          code: 'INVALID_RESULT',
          message: expect.stringContaining(
            'because the ledger cannot carry it: result.files.0.index was an instance of Map.',
          ),
          details: { what: 'the result', paths: ['result.files.0.index'] },
        }),
        context: { taskId: task.id, run: 1, doing: 'store the result' },
      },
    ])
  })

  it('every part of a result that JSON does not carry is named, up to ten', async () => {
    const { engine, reported } = await reporting(() => ({
      at: new Date('never'),
      sizes: Array.from({ length: 20 }, () => Number.NaN),
    }))
    await engine.result(await engine.create({ executor: 'work' }))
    const paths = ['result.at', ...Array.from({ length: 9 }, (_, index) => `result.sizes.${index}`)]
    expect(reported).toMatchObject([{ error: { details: { paths } } }])
    const message = String(reported[0]?.error)
    expect(message).toMatch('result.at was an invalid Date, result.sizes.0 was NaN, ')
    expect(message).toMatch('result.sizes.8 was NaN, and there are more.')
  })

  it('a lost part is found in a list with a property `keys`', async () => {
    const { engine, reported } = await reporting(() => Object.assign([Number.NaN], { keys: 3 }))
    await engine.result(await engine.create({ executor: 'work' }))
    expect(reported).toMatchObject([{ error: { details: { paths: ['result.0'] } } }])
  })

  it('a result of a call is reported with the name of the call', async () => {
    const { engine, reported } = await reporting(() => [Number.NaN])
    const task = await engine.create({ executor: 'calls' })
    expect(await engine.result(task)).toEqual([null])
    const details = { what: 'the result of call "look"', paths: ['result.0'] }
    expect(reported).toMatchObject([{ error: { code: 'INVALID_RESULT', details }, context: { taskId: task.id } }])
  })

  it('a result that is given to `complete` is reported too', async () => {
    const { engine, reported } = await reporting(() => null)
    const task = await engine.start(await engine.create({ name: 'by hand' }))
    expect((await engine.complete(task, { when: new Date('never') })).result).toEqual({ when: null })
    expect(reported).toMatchObject([{ error: { details: { paths: ['result.when'] } }, context: { taskId: task.id } }])
  })

  it('a result that JSON carries, or that is an object of a class, is not reported', async () => {
    const { engine, reported } = await reporting(() => ({ photo: new Photo(), at: new Date(0), none: undefined }))
    expect(await engine.result(await engine.create({ executor: 'work' }))).toEqual({
      photo: { width: 800 },
      at: '1970-01-01T00:00:00.000Z',
    })
    expect(reported).toEqual([])
  })
})
