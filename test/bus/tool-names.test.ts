// Abilities as tools: what a definition holds, which name leads to which ability, and that no two ever share one.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toolTable } from '../../src/bus/tool-names.ts'
import { model, register, setup } from './world.ts'

const ability = (id: string) => ({ id, description: `Does ${id}.`, modelInputSchema: { type: 'object' } })
const tableOf = (ids: readonly string[], reserved: readonly string[] = []) => toolTable(ids.map(ability), reserved)
const namesOf = (ids: readonly string[], reserved: readonly string[] = []) => {
  const table = tableOf(ids, reserved)
  return Object.fromEntries(ids.map((id) => [id, table.nameOf(id)]))
}

describe('a tool definition', () => {
  it('S1-084 S0-081 a tool definition has the name, the description, and the parameters as JSON Schema', () => {
    const { bus } = setup()
    const { definitions } = bus.toolsFor(model)
    expect(definitions[0]).toEqual({
      type: 'function',
      function: {
        name: 'notes_add',
        description: 'Keep a note.',
        parameters: {
          type: 'object',
          properties: {
            text: { type: 'string' },
            stars: { type: 'integer', minimum: 0, maximum: 5, default: 1 },
          },
          required: ['text'],
        },
      },
    })
  })

  it('S0-082 a tool definition is plain data', () => {
    const { bus } = setup()
    const { definitions } = bus.toolsFor(model)
    expect(JSON.parse(JSON.stringify(definitions))).toEqual(definitions)
  })

  it('S1-084 a tool definition declares its parameters as an object where the schema does not', () => {
    const [tool] = toolTable([{ id: 'a:b', description: 'Open.', modelInputSchema: {} }]).definitions
    expect(tool?.function.parameters).toEqual({ type: 'object' })
  })
})

describe('the tools for a caller', () => {
  const idsFor = (bus: ReturnType<typeof setup>['bus'], caller: Parameters<typeof bus.toolsFor>[0]) => {
    const table = bus.toolsFor(caller)
    return table.definitions.map(({ function: { name } }) => table.abilityOf(name))
  }

  it('S0-081 tools derive from the abilities that are registered now', () => {
    const { bus } = setup()
    expect(idsFor(bus, model)).toEqual(['notes:add'])
    const leave = register(bus, 'web:get')
    expect(idsFor(bus, model)).toEqual(['notes:add', 'web:get'])
    leave()
    expect(idsFor(bus, model)).toEqual(['notes:add'])
  })

  it('S0-081 tools exclude streams, abilities that are not for models, and what the caller’s lists do not allow', () => {
    const { bus } = setup()
    for (const id of ['ldg:task:save', 'web:get', 'web:post']) register(bus, id)
    expect(idsFor(bus, model)).toEqual(['notes:add', 'web:get', 'web:post'])
    expect(idsFor(bus, { ...model, abilities: [['web:*', 'ldg:*']] })).toEqual(['web:get', 'web:post'])
    expect(idsFor(bus, { ...model, abilities: [['web:*'], ['web:get', 'notes:add']] })).toEqual(['web:get'])
    expect(idsFor(bus, { ...model, abilities: [[]] })).toEqual([])
  })

  it('S0-081 tools of a caller without a task include the ledger and the bus, but nothing that is not for models', () => {
    const { bus } = setup()
    register(bus, 'ldg:task:save')
    const ids = idsFor(bus, { surface: 'library' })
    expect(ids).toContain('ldg:task:save')
    expect(ids).toContain('bus:list')
    expect(ids).not.toContain('notes:secret')
  })

  it('S0-081 tools exclude abilities whose input is a text', () => {
    const { bus } = setup()
    const basics = { description: 'Says it.', output: z.null(), handle: () => null }
    bus.register({ ...basics, id: 'say:text', input: z.string() })
    bus.register({ ...basics, id: 'say:any', input: z.unknown() })
    bus.register({
      ...basics,
      id: 'say:one',
      input: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
    })
    expect(idsFor(bus, model)).toEqual(['notes:add', 'say:any', 'say:one'])
  })

  it('tools do not use reserved names', () => {
    const { bus } = setup()
    const table = bus.toolsFor(model, ['notes_add'])
    expect(table.abilityOf('notes_add')).toBeUndefined()
    expect(table.abilityOf(table.nameOf('notes:add') as string)).toBe('notes:add')
  })
})

describe('the name of a tool', () => {
  it('S0-071 the tool `x_y` leads to the ability `x:y`', () => {
    expect(tableOf(['task:create']).abilityOf('task_create')).toBe('task:create')
  })

  it('S0-072 the tool `ldg_task_save` leads to `ldg:task:save`, and an ability with `_` in its own name is reachable too', () => {
    const table = tableOf(['ldg:task:save', 'web:fetch_page', 'my_module:go'])
    expect(table.abilityOf('ldg_task_save')).toBe('ldg:task:save')
    expect(table.abilityOf('web_fetch_page')).toBe('web:fetch_page')
    expect(table.abilityOf('my_module_go')).toBe('my_module:go')
  })

  it('S0-072 ids that would have the same tool name get different ones: their `_` are doubled', () => {
    expect(namesOf(['a:b_c', 'a:b:c', 'a_b:c'])).toEqual({ 'a:b_c': 'a_b__c', 'a:b:c': 'a_b_c', 'a_b:c': 'a__b_c' })
  })

  it('S1-084 where doubling does not help, a hash of the id ends the name', () => {
    const names = namesOf(['a:_b', 'a_:b'])
    expect(names['a:_b']).toMatch(/^a__b_[0-9a-f]{8}$/)
    expect(names['a_:b']).toMatch(/^a__b_[0-9a-f]{8}$/)
    expect(names['a:_b']).not.toBe(names['a_:b'])
    expect(namesOf(['a_:b', 'a:_b'])).toEqual(names)
    expect(namesOf(['a:_b', 'a_:b', 'other:one'])).toMatchObject(names)
  })

  it('S1-084 a doubled name never replaces a plain one', () => {
    const names = namesOf(['a:b_c', 'a_b:c', 'a:b:_c'])
    expect(names['a:b:_c']).toBe('a_b__c')
    expect(names['a:b_c']).toMatch(/^a_b_c_[0-9a-f]{8}$/)
    expect(names['a_b:c']).toBe('a__b_c')
  })

  it('S1-084 a tool name has at most 64 characters: a longer one ends with a hash', () => {
    const [long, other] = [`a:${'b'.repeat(90)}`, `a:${'b'.repeat(91)}`]
    const names = Object.values(namesOf([long, other]))
    for (const name of names) expect(name).toMatch(/^a_b{53}_[0-9a-f]{8}$/)
    expect(new Set(names).size).toBe(2)
    expect(namesOf([`a:${'b'.repeat(62)}`])).toEqual({ [`a:${'b'.repeat(62)}`]: `a_${'b'.repeat(62)}` })
  })

  it('S1-084 a tool name is never a reserved one', () => {
    expect(namesOf(['a:b_c'], ['a_b_c'])).toEqual({ 'a:b_c': 'a_b__c' })
    expect(namesOf(['a:b'], ['a_b'])['a:b']).toMatch(/^a_b_[0-9a-f]{8}$/)
    const taken = namesOf(['a:b'], ['a_b'])['a:b'] as string
    expect(namesOf(['a:b'], ['a_b', taken])['a:b']).toMatch(new RegExp(`^${taken}[0-9a-f]$`))
  })

  it('S1-084 the name of an unknown ability is undefined', () => {
    const table = tableOf(['a:b'])
    for (const name of ['a:b', 'a__b', 'constructor', '__proto__', '']) expect(table.abilityOf(name)).toBeUndefined()
    expect(table.nameOf('a:c')).toBeUndefined()
  })

  it('S1-084 an ability that is listed twice is one tool', () => {
    expect(tableOf(['a:b', 'a:b']).definitions).toHaveLength(1)
  })
})

const part = fc.stringMatching(/^[ab_-]{1,3}$/)
const longPart = fc.stringMatching(/^[ab_]{28,33}$/)
/** Alike in their first 68 characters, and longer than a name may be. */
const alike = part.map((last) => `${'a'.repeat(33)}:${'b'.repeat(33)}:${last}`)
const anyId = fc
  .array(fc.oneof({ weight: 4, arbitrary: part }, longPart), { minLength: 2, maxLength: 4 })
  .map((parts) => parts.join(':'))
const ids = fc.uniqueArray(fc.oneof({ weight: 4, arbitrary: anyId }, alike), { minLength: 1, maxLength: 60 })

/** What is wrong with a way of naming, for a set of ids. */
function faultsOf(naming: (ids: readonly string[]) => Map<string, string>, given: readonly string[]): string[] {
  const names = naming(given)
  const all = [...names.values()]
  return [
    ...(names.size === given.length ? [] : ['an id has no name']),
    ...(new Set(all).size === all.length ? [] : ['two ids share a name']),
    ...(all.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)) ? [] : ['a name is not allowed']),
  ]
}

describe('for any set of abilities', () => {
  it('S1-084 tool names are valid, one-to-one, and independent of the order of the abilities', () => {
    fc.assert(
      fc.property(ids, fc.array(part, { maxLength: 5 }), fc.integer({ min: 0, max: 59 }), (given, extra, turn) => {
        const reserved = [...extra, (given[0] as string).replaceAll(':', '_')]
        const table = tableOf(given, reserved)
        const naming = () => new Map(given.map((id) => [id, table.nameOf(id) as string]))
        expect(faultsOf(naming, given)).toEqual([])
        for (const [id, name] of naming()) {
          expect(table.abilityOf(name)).toBe(id)
          expect(reserved).not.toContain(name)
        }
        expect(table.definitions.map(({ function: { name } }) => table.abilityOf(name))).toEqual(given.toSorted())
        const turned = [...given.slice(turn), ...given.slice(0, turn)].toReversed()
        expect(tableOf(turned, reserved).definitions).toEqual(table.definitions)
      }),
      { numRuns: 500 },
    )
  })

  it.each<[string, (id: string) => string]>([
    ['replaces every colon', (id) => id.replaceAll(':', '_')],
    ['replaces the first colon', (id) => id.replace(':', '_')],
    ['doubles underscores', (id) => id.replaceAll('_', '__').replaceAll(':', '_')],
    ['cuts what is too long', (id) => id.replaceAll('_', '-u').replaceAll(':', '_').slice(0, 64)],
  ])('the property would catch a naming that only %s', (_title, name) => {
    const naming = (given: readonly string[]) => new Map(given.map((id) => [id, name(id)]))
    const caught = fc.check(
      fc.property(ids, (given) => faultsOf(naming, given).length === 0),
      { numRuns: 2000 },
    )
    expect(caught.failed).toBe(true)
  })
})
