// Invoking abilities: JSON text in and out, values in and out, and what is refused before a handler is called.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createBus } from '../../src/bus/bus.ts'
import { maxJsonDepth, maxJsonLength } from '../../src/core/json.ts'
import { model, refusalOf, register, setup } from './world.ts'

describe('invoke', () => {
  it('S1-077 invoke returns a reusable function whose result is a string', async () => {
    const { bus, handled } = setup()
    const add = bus.invoke('notes:add')
    const first = await add('{"text":"one"}')
    const second = await add('{"text":"two","stars":5}')
    expect([first, second]).toEqual(['{"id":"note-1"}', '{"id":"note-2"}'])
    expect(handled).toEqual([
      { text: 'one', stars: 1 },
      { text: 'two', stars: 5 },
    ])
  })

  it('S1-077 invoke finds the ability when the function is called, not when it is made', async () => {
    const bus = createBus()
    const later = bus.invoke('late:comer')
    await refusalOf(later('{}'), 'NOT_FOUND')
    register(bus, 'late:comer', () => 'here')
    expect(await later('{}')).toBe('"here"')
  })

  it('invoke returns `null` for a handler that returns nothing', async () => {
    const bus = createBus()
    bus.register({ id: 'a:b', description: 'Nothing.', input: z.object({}), output: z.void(), handle: () => {} })
    expect(await bus.invoke('a:b')('{}')).toBe('null')
  })

  it('S1-080 an unknown ability is `Ability not found: <id>`, and the nearest is named', async () => {
    const { bus } = setup()
    const far = await refusalOf(bus.invoke('moon:land')('{}'), 'NOT_FOUND')
    expect(far.message).toBe('Ability not found: moon:land')
    expect(far.details).toEqual({ abilityId: 'moon:land' })
    const near = await refusalOf(bus.invoke('notes:ad')('{}'), 'NOT_FOUND')
    expect(near.message).toBe('Ability not found: notes:ad. Did you mean notes:add?')
    expect(near.details).toEqual({ abilityId: 'notes:ad', nearest: 'notes:add' })
  })

  it('S1-080 a task does not learn the names of abilities that it may not call', async () => {
    const { bus } = setup()
    const error = await refusalOf(bus.invoke('notes:secre')('{}', { caller: model }), 'NOT_FOUND')
    expect(error.message).toBe('Ability not found: notes:secre')
  })

  it('a very long ability id is neither compared nor repeated in full', async () => {
    const { bus } = setup()
    const error = await refusalOf(bus.invoke('x'.repeat(1_000_000))('{}'), 'NOT_FOUND')
    expect(error.message.length).toBeLessThan(200)
    expect(bus.log()[0]?.abilityId.length).toBeLessThan(200)
  })

  it.each(['', '{', 'plain text', '{"text":1,}', 'undefined'])(
    'S1-081 the input %j is refused as no JSON with details, and the handler is not called',
    async (json) => {
      const { bus, handled } = setup()
      const error = await refusalOf(bus.invoke('notes:add')(json), 'INVALID_INPUT')
      expect(error.message).toContain('The input of notes:add is not valid: it is not JSON')
      expect(error.details).toEqual({
        abilityId: 'notes:add',
        issues: [{ path: '', message: expect.stringContaining('not JSON') as string }],
      })
      expect(handled).toEqual([])
    },
  )

  it('S1-081 values in place of JSON text are refused with a hint', async () => {
    const { bus } = setup()
    const error = await refusalOf(bus.invoke('notes:add')({ text: 'one' } as never), 'INVALID_INPUT')
    expect(error.message).toContain('expected JSON text, got object; `call` takes values')
  })

  it.each([
    ['S0-030 a required field that is missing', '{}', ['text']],
    ['S0-030 a field of the wrong type', '{"text":7}', ['text']],
    ['S1-081 several faults at once', '{"text":null,"stars":9}', ['text', 'stars']],
    ['S1-081 an array where an object belongs', '[]', ['']],
  ])('invoke refuses with all issues and does not call the handler: %s', async (_title, json, paths) => {
    const { bus, handled } = setup()
    const error = await refusalOf(bus.invoke('notes:add')(json), 'INVALID_INPUT')
    expect(error.details['abilityId']).toBe('notes:add')
    const issues = error.details['issues'] as Array<{ path: string; message: string }>
    expect(issues.map(({ path }) => path)).toEqual(paths)
    expect(issues.every(({ message }) => message.length > 0)).toBe(true)
    expect(handled).toEqual([])
  })

  it('S1-081 an unknown key of a strict schema is an issue, with the nearest known key', async () => {
    const bus = createBus()
    const place = z.strictObject({ city: z.string().optional() })
    bus.register({
      id: 'a:b',
      description: 'Strict.',
      input: z.strictObject({ place }),
      output: z.null(),
      handle: () => null,
    })
    const error = await refusalOf(bus.call('a:b', { place: { citty: 'Bonn' } }), 'INVALID_INPUT')
    expect(error.details).toEqual({
      abilityId: 'a:b',
      nearest: 'city',
      issues: [{ path: 'place.citty', message: expect.stringContaining('Did you mean "city"?') as string }],
    })
  })

  it('S1-081 an error thrown by a schema is reported as an error of the ability', async () => {
    const bus = createBus()
    const input = z.object({}).refine(() => {
      throw new TypeError('bad schema')
    })
    bus.register({ id: 'a:b', description: 'Fails.', input, output: z.null(), handle: () => null })
    const error = await refusalOf(bus.invoke('a:b')('{}'), 'EXECUTION_ERROR')
    expect(error.message).toBe('bad schema')
  })

  it.each([
    ['NUL', '{"text":"a\\u0000b"}', 'text'],
    ['half of a surrogate pair', '{"text":"\\ud800"}', 'text'],
    ['a key with NUL', '{"text":"a","\\u0000":1}', ''],
  ])('S1-081 an input with %s is refused, and the handler is not called', async (_title, json, path) => {
    const { bus, handled } = setup()
    for (const call of [bus.invoke('notes:add')(json), bus.call('notes:add', JSON.parse(json) as unknown)]) {
      const error = await refusalOf(call, 'INVALID_INPUT')
      expect(error.details).toMatchObject({ abilityId: 'notes:add', issues: [{ path }] })
    }
    expect(handled).toEqual([])
  })

  it('S1-081 nesting and length of an input are limited', async () => {
    const bus = createBus()
    bus.register({ id: 'a:b', description: 'Echo.', input: z.unknown(), output: z.unknown(), handle: (input) => input })
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
    expect(await bus.invoke('a:b')(nested(maxJsonDepth))).toBe(nested(maxJsonDepth))
    for (const levels of [maxJsonDepth + 1, 1_000_000]) {
      expect((await refusalOf(bus.invoke('a:b')(nested(levels)), 'INVALID_INPUT')).message).toContain('deeper than')
    }
    const long = await refusalOf(bus.invoke('a:b')(JSON.stringify('x'.repeat(maxJsonLength))), 'INVALID_INPUT')
    expect(long.message).toContain('characters of JSON')
    // A text that the schema may mend hides nothing that comes after it.
    const after = `{"text":"a\\u0000b","more":${nested(maxJsonDepth)}}`
    expect((await refusalOf(bus.invoke('a:b')(after), 'INVALID_INPUT')).message).toContain('deeper than')
    const endless: unknown[] = []
    endless.push(endless)
    await refusalOf(bus.call('a:b', endless), 'INVALID_INPUT')
  })

  it('invoke refuses unknown options, because a misspelled task would count as the program itself', async () => {
    const { bus } = setup()
    const typo = { caller: { surface: 'model', taskID: 'task-a' } } as never
    await refusalOf(bus.invoke('notes:secret')('{}', typo), 'UNKNOWN_OPTION')
    await refusalOf(bus.invoke('notes:secret')('{}', { caller: { taskId: 'task-a' } } as never), 'INVALID_INPUT')
    await refusalOf(bus.call('notes:secret', {}, { signal: 'now' } as never), 'INVALID_INPUT')
    await refusalOf(bus.stream('notes:watch', {}, typo), 'UNKNOWN_OPTION')
    expect(bus.log()).toEqual([])
  })
})

describe('call', () => {
  it('call takes and returns values, parsed by both schemas', async () => {
    const { bus, add, handled } = setup()
    expect(await bus.call(add, { text: 'one' })).toEqual({ id: 'note-1' })
    expect(await bus.call('notes:add', { text: 'two', more: true })).toEqual({ id: 'note-2' })
    expect(handled).toEqual([
      { text: 'one', stars: 1 },
      { text: 'two', stars: 1 },
    ])
  })

  it('call passes live objects to a schema that accepts them', async () => {
    class Model {
      answer() {
        return 42
      }
    }
    const bus = createBus()
    const live = z.object({ model: z.instanceof(Model) })
    bus.register({ id: 'a:b', description: 'Live.', input: live, output: live, handle: (input) => input })
    const result = (await bus.call('a:b', { model: new Model() })) as { model: Model }
    expect(result.model.answer()).toBe(42)
  })

  it('call passes the caller, a signal, and the run to the handler', async () => {
    const bus = createBus()
    const contexts: unknown[] = []
    bus.register({
      id: 'a:b',
      description: 'Looks at its context.',
      input: z.object({}),
      output: z.null(),
      handle: (_input, context) => {
        contexts.push(context)
        return null
      },
    })
    const { signal } = new AbortController()
    const run = { number: 3 } as never
    await bus.call('a:b', {})
    await bus.call('a:b', {}, { caller: model, signal, run })
    expect(contexts).toEqual([
      { caller: { surface: 'library' }, signal: expect.any(AbortSignal) as AbortSignal },
      { caller: model, signal, run },
    ])
    expect((contexts[0] as object) && 'run' in (contexts[0] as object)).toBe(false)
  })

  it('call does not run the handler when the signal has aborted', async () => {
    const { bus, handled } = setup()
    const signal = AbortSignal.abort(new Error('too late'))
    const error = await refusalOf(bus.call('notes:add', { text: 'one' }, { signal }), 'EXECUTION_ERROR')
    expect(error.message).toBe('Ability notes:add was aborted: too late')
    expect(error.details).toMatchObject({ abilityId: 'notes:add', aborted: true })
    expect(error.cause).toBe(signal.reason)
    expect(handled).toEqual([])
  })
})

describe('an output', () => {
  it('an output that does not match its schema throws EXECUTION_ERROR with the path', async () => {
    const bus = createBus()
    const output = z.object({ id: z.string() })
    bus.register({ id: 'a:b', description: 'Wrong.', input: z.object({}), output, handle: () => ({ id: 7 }) as never })
    const error = await refusalOf(bus.invoke('a:b')('{}'), 'EXECUTION_ERROR')
    expect(error.message).toContain('Ability a:b returned an output that does not match its schema: id: ')
    expect(error.details).toMatchObject({ abilityId: 'a:b', issues: [{ path: 'id' }] })
  })

  it.each([
    ['a function', () => () => {}],
    ['a bigint', () => ({ n: 1n })],
    [
      'a circle',
      () => {
        const circle: Record<string, unknown> = {}
        circle['self'] = circle
        return circle
      },
    ],
  ])('an output that is %s cannot be returned as JSON text, but as a value', async (_title, handle) => {
    const bus = createBus()
    register(bus, 'a:b', handle)
    const error = await refusalOf(bus.invoke('a:b')('{}'), 'EXECUTION_ERROR')
    expect(error.message).toContain('cannot be converted to JSON')
    expect(error.details).toEqual({ abilityId: 'a:b' })
    expect(await bus.call('a:b', {})).toBeDefined()
  })

  it('an output is stripped of keys that its schema does not have', async () => {
    const bus = createBus()
    const handle = () => ({ id: 'a', password: 'b' })
    bus.register({
      id: 'a:b',
      description: 'Talks.',
      input: z.object({}),
      output: z.object({ id: z.string() }),
      handle,
    })
    expect(await bus.invoke('a:b')('{}')).toBe('{"id":"a"}')
  })
})
