// Which abilities a caller may call: the check itself, and that the bus applies it and its guards before it calls a handler.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createBus } from '../../src/bus/bus.ts'
import { type Access, accessClasses, type Caller } from '../../src/bus/caller.ts'
import { mayCall } from '../../src/bus/capabilities.ts'
import { ErrandError } from '../../src/core/errors.ts'
import { checkAbilityList } from '../../src/entities/ability-pattern.ts'
import { model, refusalOf, register, setup } from './world.ts'

const meta = (id: string, models = true, access: Access = 'read') => ({
  id,
  moduleName: id.slice(0, id.indexOf(':')),
  models,
  access,
  own: false,
})
const task = (...abilities: string[][]): Caller => ({ ...model, abilities })

describe('mayCall', () => {
  it('mayCall allows abilities within the caller’s scopes, and `admin` allows all', () => {
    for (const access of accessClasses) {
      for (const scope of accessClasses) {
        const allowed = mayCall(meta('task:create', true, access), { surface: 'http', scopes: [scope] })
        expect(allowed === true).toBe(scope === access || scope === 'admin')
        if (allowed !== true) expect(allowed).toContain(`\`${access}\``)
      }
      expect(mayCall(meta('task:create', true, access), { surface: 'http', scopes: [] })).toContain('have none')
      expect(mayCall(meta('task:create', true, access), { surface: 'http' })).toBe(true)
    }
  })

  it.each(['task:create', 'ldg:task:save', 'bus:list'])('a caller without a task may call %s', (id) => {
    expect(mayCall(meta(id), { surface: 'cli' })).toBe(true)
    expect(mayCall(meta(id, false), { surface: 'cli' })).toBe(true)
  })

  it.each([
    ['ldg:task:save', 'no task may call ldg:*'],
    ['bus:list', 'no task may call bus:*'],
  ])('a caller with a task may never call %s, regardless of its lists', (id, reason) => {
    expect(mayCall(meta(id), model)).toBe(reason)
    expect(mayCall(meta(id), task(['*', id]))).toBe(reason)
  })

  it('a model of a task may never call what is not for models', () => {
    expect(mayCall(meta('model:llm', false), model)).toContain('not for models')
    expect(mayCall(meta('model:llm', false), task(['model:llm']))).toContain('not for models')
  })

  it('a module whose name only begins like a closed one is open', () => {
    for (const id of ['ldgx:a', 'business:plan', 'notes:ldg']) expect(mayCall(meta(id), model)).toBe(true)
  })

  it.each<[string, string[][], boolean]>([
    ['notes:add', [], true],
    ['notes:add', [['notes:add']], true],
    ['notes:add', [['notes:*']], true],
    ['notes:add', [['*']], true],
    ['notes:add', [[]], false],
    ['notes:add', [['notes:ad']], false],
    ['notes:add', [['note:*']], false],
    ['notes:sub:add', [['notes:*']], true],
    ['notes:sub:add', [['notes:sub:*']], true],
    ['notes:add', [['notes:sub:*']], false],
    ['notes:subtle', [['notes:sub:*']], false],
    ['notes:add', [['*'], ['notes:*'], ['web:get', 'notes:add']], true],
    ['notes:add', [['*'], ['web:*']], false],
    ['notes:add', [['notes:add'], []], false],
  ])('the ability %s under the lists %j: %s', (id, lists, allowed) => {
    const verdict = mayCall(meta(id), task(...lists))
    expect(verdict === true).toBe(allowed)
    if (!allowed) expect(verdict).toContain('list of abilities')
  })

  it('lists of abilities also restrict a caller without a task', () => {
    expect(mayCall(meta('notes:add'), { surface: 'http', abilities: [['web:*']] })).not.toBe(true)
    expect(mayCall(meta('ldg:task:get'), { surface: 'http', abilities: [['ldg:*']] })).toBe(true)
  })
})

describe('a list of abilities', () => {
  it('a list of abilities accepts ids and patterns', () => {
    const list = ['*', 'notes:add', 'notes:*', 'ldg:task:*', 'a:b:c:d']
    expect(checkAbilityList(list)).toEqual(list)
    expect(checkAbilityList([])).toEqual([])
  })

  it.each([['notes'], ['notes:'], ['*:add'], ['no*'], ['notes:**'], ['notes:a*'], [''], [7], ['a:b:c:d:e'], [' *']])(
    'a list of abilities does not hold %j',
    async (pattern) => {
      await refusalOf(() => checkAbilityList([pattern]), 'INVALID_INPUT')
    },
  )

  it('a list of abilities has at most 1000 entries', async () => {
    expect(checkAbilityList(Array(1000).fill('a:b'))).toHaveLength(1000)
    await refusalOf(() => checkAbilityList(Array(1001).fill('a:b')), 'INVALID_INPUT')
    await refusalOf(() => checkAbilityList('notes:*'), 'INVALID_INPUT')
  })
})

describe('the bus', () => {
  it('the bus refuses what a caller may not call before it reads the input', async () => {
    const { bus, handled } = setup()
    const caller = task(['notes:all'])
    const error = await refusalOf(bus.invoke('notes:add')('no JSON', { caller }), 'FORBIDDEN')
    expect(error.message).toContain('Ability notes:add is not open to task task-a: its list of abilities')
    expect(error.details).toEqual({ abilityId: 'notes:add', taskId: 'task-a' })
    await refusalOf(bus.call('notes:add', { text: 'a' }, { caller }), 'FORBIDDEN')
    await refusalOf(bus.stream('notes:watch', {}, { caller }), 'FORBIDDEN')
    await refusalOf(bus.call('bus:list', {}, { caller: model }), 'FORBIDDEN')
    await refusalOf(bus.call('notes:secret', {}, { caller: model }), 'FORBIDDEN')
    expect(handled).toEqual([])
    expect(await bus.call('notes:all', { upTo: 1 }, { caller })).toEqual({ count: 1, last: 1 })
  })

  it('the bus takes the caller from the options, never from the input', async () => {
    const { bus } = setup()
    register(bus, 'ldg:x')
    const input = { caller: { surface: 'library' }, taskId: undefined }
    await refusalOf(bus.call('ldg:x', input, { caller: model }), 'FORBIDDEN')
  })
})

describe('a guard', () => {
  function scoped() {
    const bus = createBus()
    const handled: string[] = []
    bus.register({
      id: 'task:cancel',
      description: 'Cancel tasks.',
      input: z.object({ ids: z.array(z.string()) }),
      output: z.null(),
      scope: ({ ids }) => ids,
      handle: ({ ids }) => {
        handled.push(...ids)
        return null
      },
    })
    register(bus, 'task:count')
    return {
      bus,
      handled,
      cancel: (ids: unknown, caller?: Caller) => bus.call('task:cancel' as string, { ids }, caller ? { caller } : {}),
    }
  }

  it('a guard receives the tasks that an input names, and its error prevents the handler', async () => {
    const { bus, handled, cancel } = scoped()
    const asked: unknown[] = []
    bus.useGuard((caller, taskIds, abilityId) => {
      asked.push([caller.taskId, taskIds, abilityId])
      if (taskIds.includes('task-z'))
        throw new ErrandError('FORBIDDEN', 'task-z is not below task-a.', { taskId: 'task-z' })
    })
    await cancel(['task-b', 'task-b', 'task-c'], model)
    const error = await refusalOf(cancel(['task-z'], model), 'FORBIDDEN')
    expect(error.message).toBe('task-z is not below task-a.')
    expect(error.details).toEqual({ taskId: 'task-z', abilityId: 'task:cancel' })
    expect(asked).toEqual([
      ['task-a', ['task-b', 'task-c'], 'task:cancel'],
      ['task-a', ['task-z'], 'task:cancel'],
    ])
    expect(handled).toEqual(['task-b', 'task-b', 'task-c'])
  })

  it('a guard is called only for callers with a task, abilities with a scope, and valid inputs', async () => {
    const { bus, cancel } = scoped()
    bus.useGuard(() => {
      throw new Error('asked')
    })
    await cancel(['task-z'])
    await bus.call('task:count', {}, { caller: model })
    await refusalOf(cancel('task-z', model), 'INVALID_INPUT')
    expect((await refusalOf(cancel(['task-z'], model), 'FORBIDDEN')).message).toContain('asked')
  })

  it('guards may be asynchronous, and all must agree', async () => {
    const { bus, handled, cancel } = scoped()
    const leave = bus.useGuard(async () => {
      await Promise.resolve()
      throw new TypeError('no')
    })
    bus.useGuard(() => {})
    const error = await refusalOf(cancel(['task-b'], model), 'FORBIDDEN')
    expect(error.cause).toBeInstanceOf(TypeError)
    expect(handled).toEqual([])
    leave()
    await cancel(['task-b'], model)
    expect(handled).toEqual(['task-b'])
  })

  it('without a guard a caller with a task may name only that task', async () => {
    const { handled, cancel } = scoped()
    await cancel(['task-a'], model)
    await cancel([], model)
    const error = await refusalOf(cancel(['task-a', 'task-b'], model), 'FORBIDDEN')
    expect(error.message).toContain('task-b')
    expect(handled).toEqual(['task-a'])
  })

  it('useGuard refuses a value that is not a function', async () => {
    await refusalOf(() => createBus().useGuard(undefined as never), 'INVALID_INPUT')
  })
})
