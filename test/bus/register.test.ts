// Registration: what an ability may be made of, handlers of JSON text, and unregistering.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAbility, isAbility } from '../../src/bus/ability.ts'
import { createBus, registerBeforeUse } from '../../src/bus/bus.ts'
import { collect, refusalOf, register, setup } from './world.ts'

const basics = { description: 'Does it.', input: z.object({}), output: z.null() }
const whole = { ...basics, id: 'a:b', handle: () => null }

describe('the registry', () => {
  it('S1-079 the registry refuses a second ability of the same id', async () => {
    const { bus, add } = setup()
    const error = await refusalOf(() => bus.register(add), 'ALREADY_REGISTERED')
    expect(error.details).toEqual({ abilityId: 'notes:add' })
    await refusalOf(() => register(bus, 'notes:add'), 'ALREADY_REGISTERED')
    await refusalOf(() => register(bus, 'bus:list'), 'ALREADY_REGISTERED')
  })

  it('S1-079 unregister removes an ability, and ignores an unknown id', async () => {
    const { bus, add } = setup()
    expect(bus.has('notes:add')).toBe(true)
    expect(bus.get('notes:add')).toBe(add)
    bus.unregister('notes:add')
    expect(bus.has('notes:add')).toBe(false)
    expect(bus.get('notes:add')).toBeUndefined()
    bus.unregister('notes:add')
    bus.unregister('never:was')
    await refusalOf(bus.invoke('notes:add')('{"text":"a"}'), 'NOT_FOUND')
    bus.register(add)
    expect(bus.has('notes:add')).toBe(true)
  })

  it('S1-079 the function that `register` returned removes its own ability only, not a later one of the same id', () => {
    const bus = createBus()
    const leave = register(bus, 'a:b')
    leave()
    expect(bus.has('a:b')).toBe(false)
    register(bus, 'a:b')
    leave()
    expect(bus.has('a:b')).toBe(true)
  })

  it('the registry makes what is registered before its use when it is used, and only if it is', () => {
    const bus = createBus()
    const made: string[] = []
    const later = (id: string) =>
      registerBeforeUse(bus, () => {
        made.push(id)
        return register(bus, id)
      })
    const leave = later('a:b')
    later('a:c')()
    expect(made).toEqual([])
    const registered: string[] = []
    bus.onRegister(({ id }) => registered.push(id))
    expect(made).toEqual(['a:b'])
    expect(bus.has('a:b')).toBe(true)
    leave()
    expect(bus.has('a:b')).toBe(false)
    expect(registered).toEqual([])
  })

  it('the registry lists abilities by id', () => {
    const bus = createBus()
    for (const id of ['z:z', 'a:z', 'a:b']) register(bus, id)
    expect(bus.abilities().map(({ id }) => id)).toEqual([
      'a:b',
      'a:z',
      'bus:abilities',
      'bus:inspect',
      'bus:list',
      'bus:schema',
      'z:z',
    ])
  })

  it('an invocation continues when its ability is unregistered meanwhile', async () => {
    const bus = createBus()
    const gate = Promise.withResolvers<string>()
    register(bus, 'a:b', () => gate.promise)
    const result = bus.call('a:b', {})
    bus.unregister('a:b')
    gate.resolve('done')
    expect(await result).toBe('done')
  })
})

describe('defineAbility', () => {
  it('S0-114 an ability has id, moduleName, abilityName, description, isStream and both schemas', () => {
    const ability = defineAbility({
      id: 'ldg:task:save',
      description: 'Save a task.',
      input: z.object({ goal: z.string(), parentTaskId: z.string().optional() }),
      output: z.object({ taskId: z.string() }),
      handle: () => ({ taskId: 'task-a' }),
    })
    expect(ability).toMatchObject({
      id: 'ldg:task:save',
      moduleName: 'ldg',
      abilityName: 'task:save',
      description: 'Save a task.',
      isStream: false,
    })
    expect(ability.inputSchema).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { goal: { type: 'string' }, parentTaskId: { type: 'string' } },
      required: ['goal'],
    })
    expect(ability.outputSchema).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { taskId: { type: 'string' } },
      required: ['taskId'],
    })
  })

  it('S0-082 zod schemas are converted to plain JSON Schema of input and output', () => {
    const length = z.string().transform((text) => text.length)
    const ability = defineAbility({
      ...basics,
      id: 'a:b',
      input: z.object({ size: z.int().default(3), text: length, at: z.coerce.date().optional() }),
      output: z.object({ text: length }),
      handle: () => ({ text: 'abc' }),
    })
    for (const schema of [ability.inputSchema, ability.outputSchema]) {
      expect('~standard' in schema).toBe(false)
      expect(JSON.parse(JSON.stringify(schema))).toEqual(schema)
    }
    expect(ability.inputSchema).toMatchObject({
      properties: { size: { type: 'integer', default: 3 }, text: { type: 'string' }, at: {} },
      required: ['text'],
    })
    expect(ability.outputSchema).toMatchObject({ properties: { text: {} } })
  })

  it('S0-082 only strict objects are closed, nested ones too', () => {
    const shape = {
      open: z.object({ a: z.string() }),
      loose: z.looseObject({ a: z.string() }),
      closed: z.strictObject({ a: z.string() }),
      numbers: z.object({}).catchall(z.number()),
    }
    const { inputSchema, outputSchema } = defineAbility({
      ...basics,
      id: 'a:b',
      input: z.strictObject(shape),
      output: z.object(shape),
      handle: (input) => input,
    })
    const closing = (schema: unknown) => (schema as { additionalProperties?: unknown }).additionalProperties
    const inside = (schema: typeof inputSchema) =>
      Object.values(schema['properties'] as Record<string, unknown>).map(closing)
    expect([closing(inputSchema), closing(outputSchema)]).toEqual([false, undefined])
    for (const schema of [inputSchema, outputSchema]) {
      expect(inside(schema)).toEqual([undefined, undefined, false, { type: 'number' }])
    }
  })

  it('S0-082 shared and recursive schemas are plain data too', () => {
    const tree = z.object({
      name: z.string(),
      get children() {
        return z.array(tree)
      },
    })
    const { inputSchema } = defineAbility({ ...whole, input: tree })
    expect(JSON.parse(JSON.stringify(inputSchema))).toEqual(inputSchema)
    expect(JSON.stringify(inputSchema)).toContain('"$ref"')
  })

  it('defineAbility accepts a plain JSON Schema, and validates by it', async () => {
    const bus = createBus()
    const input = { type: 'object', properties: { goal: { type: 'string' } }, required: ['goal'] }
    const given: unknown[] = []
    const ability = defineAbility({ ...whole, input, output: z.int(), handle: (value) => given.push(value) })
    bus.register(ability)
    expect(ability.inputSchema).toEqual(input)
    await bus.invoke('a:b')('{"goal":"rest","more":1}')
    await refusalOf(bus.invoke('a:b')('{"goal":1}'), 'INVALID_INPUT')
    await refusalOf(bus.invoke('a:b')('{}'), 'INVALID_INPUT')
    expect(given).toEqual([{ goal: 'rest', more: 1 }])
  })

  it('an ability is frozen with its schemas, which are copies', () => {
    const input = { type: 'object', properties: { goal: { type: 'string' } } }
    const ability = defineAbility({ ...whole, input })
    expect(() => Object.assign(ability, { models: false })).toThrow(TypeError)
    expect(() => Object.assign(ability.inputSchema['properties'] as object, { more: {} })).toThrow(TypeError)
    input.properties.goal.type = 'number'
    expect(ability.inputSchema).toEqual({ type: 'object', properties: { goal: { type: 'string' } } })
  })

  it('an ability keeps the options for journaled calls and models', () => {
    const retry = { maxAttempts: 3 }
    const ability = defineAbility({
      ...whole,
      models: false,
      confirm: 'Sure?',
      onInterrupt: 'rerun',
      retry,
      timeoutMs: 50,
    })
    expect(ability).toMatchObject({ models: false, confirm: 'Sure?', onInterrupt: 'rerun', retry, timeoutMs: 50 })
    expect(defineAbility(whole)).toMatchObject({ models: true, confirm: false })
  })

  it('isAbility is true only for results of defineAbility', () => {
    expect(isAbility(defineAbility(whole))).toBe(true)
    for (const other of [whole, null, undefined, 'a:b', {}]) expect(isAbility(other)).toBe(false)
  })

  it.each(['a', 'a:', ':b', 'a::b', 'a:b:c:d:e', 'a b:c', 'ä:b', 'a:b\n', `a:${'b'.repeat(99)}`, ''])(
    'defineAbility refuses the id %j',
    async (id) => {
      await refusalOf(() => defineAbility({ ...whole, id }), 'INVALID_INPUT')
    },
  )

  it.each(['a:b', 'a:b:c:d', 'A-1:b_2', `a:${'b'.repeat(98)}`])('defineAbility accepts the id %j', (id) => {
    expect(defineAbility({ ...whole, id }).id).toBe(id)
  })

  it.each([
    ['no handler', { ...basics, id: 'a:b' }, 'exactly one of `handle` and `stream`'],
    ['two handlers', { ...whole, async *stream() {} }, 'exactly one of `handle` and `stream`'],
    ['a drain without a stream', { ...whole, drain: () => null }, 'drain: only an ability with `stream`'],
    ['no description', { ...whole, description: ' ' }, 'description: '],
    [
      'no schema',
      { ...whole, input: undefined },
      "input: expected a schema of zod 4 (`import { z } from 'zod'`, version 4) or a JSON Schema object",
    ],
    ['a class in place of a schema', { ...whole, output: new Map() }, 'output: expected a schema of zod 4'],
    ['a schema of an unknown type', { ...whole, input: { type: 'frob' } }, 'The input of a:b is not a usable schema'],
    ['a reference to nowhere', { ...whole, output: { $ref: '#/nowhere' } }, 'The output of a:b is not a usable schema'],
    ['retries that are none', { ...whole, retry: { maxAttempts: 0 } }, 'retry.maxAttempts: '],
    ['a time that is none', { ...whole, timeoutMs: -1 }, 'timeoutMs: '],
    ['an unknown policy', { ...whole, onInterrupt: 'hope' }, 'onInterrupt: '],
    ['an empty question', { ...whole, confirm: '' }, 'confirm: '],
  ])('defineAbility refuses %s', async (_title, definition, message) => {
    const error = await refusalOf(() => defineAbility(definition as never), 'INVALID_INPUT')
    expect(error.message).toContain(message)
    await refusalOf(() => createBus().register(definition as never), 'INVALID_INPUT')
  })

  it('defineAbility refuses an unknown option, and names the nearest', async () => {
    const error = await refusalOf(() => defineAbility({ ...whole, confirmed: true } as never), 'UNKNOWN_OPTION')
    expect(error.details).toMatchObject({ option: 'confirmed', nearest: 'confirm' })
  })
})

describe('a handler of JSON text', () => {
  const inputSchema = {
    type: 'object',
    properties: { goal: { type: 'string' }, systemPrompt: { type: 'string' } },
    required: ['goal'],
  }
  const outputSchema = { type: 'object', properties: { taskId: { type: 'string' } }, required: ['taskId'] }
  const meta = {
    id: 'task:create',
    moduleName: 'task',
    abilityName: 'create',
    description: 'Create a new task',
    isStream: false,
    inputSchema,
    outputSchema,
  }

  it('S0-114 a handler of JSON text is registered with its metadata, and takes and returns JSON text', async () => {
    const bus = createBus()
    const given: string[] = []
    bus.register(meta, async (json) => {
      given.push(json)
      return JSON.stringify({ taskId: 'task-a' })
    })
    expect(bus.get('task:create')).toMatchObject(meta)
    expect(await bus.invoke('task:create')('{ "goal": "rest" }')).toBe('{"taskId":"task-a"}')
    expect(await bus.call('task:create', { goal: 'work' })).toEqual({ taskId: 'task-a' })
    expect(given).toEqual(['{"goal":"rest"}', '{"goal":"work"}'])
    await refusalOf(bus.invoke('task:create')('{"goal":7}'), 'INVALID_INPUT')
    expect(given).toHaveLength(2)
  })

  it('S0-114 the names and `isStream` follow from the rest when they are left out', () => {
    const bus = createBus()
    bus.register({ id: 'ldg:task:save', description: 'Save.', inputSchema, outputSchema }, () => '{}')
    expect(bus.get('ldg:task:save')).toMatchObject({ moduleName: 'ldg', abilityName: 'task:save', isStream: false })
  })

  it('a handler of JSON text may be a stream', async () => {
    const bus = createBus()
    const texts = {
      id: 'a:b',
      description: 'Chunks.',
      isStream: true,
      inputSchema: {},
      outputSchema: { type: 'string' },
    }
    const leave = bus.register(texts, async function* (json, { caller }) {
      yield JSON.stringify(`${caller.surface} said`)
      yield JSON.stringify(json)
    })
    expect(await collect(bus.invokeStream('a:b')('{ "x": 1 }'))).toEqual(['"library said"', '"{\\"x\\":1}"'])
    leave()
    bus.register(texts, () => 'no chunks')
    const error = await refusalOf(bus.invokeStream('a:b')('{}'), 'EXECUTION_ERROR')
    expect(error.message).toContain('returned no chunks')
  })

  it.each([
    ['no JSON', 'done', 'returned text that is not JSON'],
    ['no text', undefined, 'returned text that is not JSON'],
    ['what does not fit', '{"taskId":7}', 'does not match its schema'],
  ])('an output of JSON text that is %s throws EXECUTION_ERROR', async (_title, output, message) => {
    const bus = createBus()
    bus.register(meta, () => output as string)
    const error = await refusalOf(bus.invoke('task:create')('{"goal":"rest"}'), 'EXECUTION_ERROR')
    expect(error.message).toContain(message)
    expect(error.details['abilityId']).toBe('task:create')
  })

  it('register refuses metadata with names that contradict the id, an unknown option, or no handler', async () => {
    const bus = createBus()
    const handler = () => '{}'
    await refusalOf(() => bus.register({ ...meta, moduleName: 'tasks' }, handler), 'INVALID_INPUT')
    await refusalOf(() => bus.register({ ...meta, abilityName: 'task:create' }, handler), 'INVALID_INPUT')
    await refusalOf(() => bus.register({ ...meta, streams: true } as never, handler), 'UNKNOWN_OPTION')
    await refusalOf(() => bus.register(meta, 'handler' as never), 'INVALID_INPUT')
    expect(bus.has('task:create')).toBe(false)
  })
})

describe('a listener of registrations', () => {
  it('onRegister calls a listener for each later ability, until it is removed', () => {
    const bus = createBus()
    const received: string[] = []
    const stop = bus.onRegister(({ id }) => received.push(id))
    register(bus, 'a:b')
    stop()
    register(bus, 'c:d')
    expect(received).toEqual(['a:b'])
  })

  it('onUnregister calls a listener for each removed ability, and not for one that was replaced before', () => {
    const bus = createBus()
    const received: string[] = []
    const stop = bus.onUnregister(({ id }) => received.push(id))
    const leave = register(bus, 'a:b')
    register(bus, 'c:d')
    bus.unregister('c:d')
    bus.unregister('never:there')
    leave()
    leave()
    expect(received).toEqual(['c:d', 'a:b'])
    register(bus, 'a:b')
    leave()
    expect([received.length, bus.has('a:b')]).toEqual([2, true])
    stop()
    bus.unregister('a:b')
    expect(received).toHaveLength(2)
  })

  it('an error of a listener is reported, and the ability can be unregistered again', () => {
    const reported: unknown[] = []
    const bus = createBus({ onError: (error, context) => reported.push([(error as Error).message, context]) })
    bus.onRegister(() => {
      throw new Error('no')
    })
    const received: string[] = []
    bus.onRegister(({ id }) => received.push(id))
    const leave = register(bus, 'a:b')
    expect(received).toEqual(['a:b'])
    expect(reported).toEqual([['no', { abilityId: 'a:b', doing: 'notify a listener of registrations' }]])
    leave()
    expect(bus.has('a:b')).toBe(false)
  })
})

it('createBus refuses unknown options', async () => {
  await refusalOf(() => createBus({ logsize: 5 } as never), 'UNKNOWN_OPTION')
  await refusalOf(() => createBus({ logSize: -1 }), 'INVALID_INPUT')
  await refusalOf(() => createBus({ clock: {} as never }), 'INVALID_INPUT')
})
