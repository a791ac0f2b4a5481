// The bus describes itself.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { refusalOf, setup } from './world.ts'

const ask = async (bus: ReturnType<typeof setup>['bus'], id: string, input: unknown): Promise<unknown> =>
  JSON.parse(await bus.invoke(id)(JSON.stringify(input)))

describe('introspection', () => {
  it('S1-083 bus:list returns the modules with the number of their abilities', async () => {
    const { bus } = setup()
    const modules = [
      { name: 'bus', abilityCount: 4 },
      { name: 'notes', abilityCount: 4 },
    ]
    expect(await ask(bus, 'bus:list', {})).toEqual({ modules })
    bus.unregister('notes:add')
    expect(await ask(bus, 'bus:list', {})).toMatchObject({ modules: [{}, { name: 'notes', abilityCount: 3 }] })
  })

  it('S1-083 bus:abilities returns the abilities of a module', async () => {
    const { bus } = setup()
    bus.register({
      id: 'ldg:task:save',
      description: 'Save a task.',
      input: z.object({}),
      output: z.null(),
      handle: () => null,
    })
    expect(await ask(bus, 'bus:abilities', { moduleName: 'ldg' })).toEqual({
      moduleName: 'ldg',
      abilities: [{ id: 'ldg:task:save', name: 'task:save', description: 'Save a task.', isStream: false }],
    })
    expect(await ask(bus, 'bus:abilities', { moduleName: 'notes' })).toMatchObject({
      abilities: [
        { id: 'notes:add', name: 'add', isStream: false },
        { id: 'notes:all', name: 'all', isStream: true },
        { id: 'notes:secret', name: 'secret', isStream: false },
        { id: 'notes:watch', name: 'watch', isStream: true },
      ],
    })
  })

  it('S1-083 bus:schema returns both schemas', async () => {
    const { bus, add } = setup()
    const { inputSchema, outputSchema } = add
    expect(await ask(bus, 'bus:schema', { abilityId: 'notes:add' })).toEqual({ inputSchema, outputSchema })
  })

  it('S1-083 bus:inspect returns the metadata', async () => {
    const { bus, all } = setup()
    const { inputSchema, outputSchema } = all
    expect(await ask(bus, 'bus:inspect', { abilityId: 'notes:all' })).toEqual({
      meta: {
        id: 'notes:all',
        moduleName: 'notes',
        abilityName: 'all',
        description: 'All notes, one by one.',
        isStream: true,
        access: 'admin',
        inputSchema,
        outputSchema,
      },
    })
  })

  it('S1-083 the bus describes its own abilities too', async () => {
    const { bus } = setup()
    expect(await ask(bus, 'bus:inspect', { abilityId: 'bus:inspect' })).toMatchObject({
      meta: { moduleName: 'bus', abilityName: 'inspect', inputSchema: { required: ['abilityId'] } },
    })
  })

  it('S1-083 an unknown module or ability throws NOT_FOUND with the nearest name', async () => {
    const { bus } = setup()
    const unknown = await refusalOf(ask(bus, 'bus:abilities', { moduleName: 'note' }), 'NOT_FOUND')
    expect(unknown.message).toBe('Module not found: note. Did you mean notes? Known: bus, notes.')
    for (const id of ['bus:schema', 'bus:inspect']) {
      const error = await refusalOf(ask(bus, id, { abilityId: 'notes:ad' }), 'NOT_FOUND')
      expect(error.message).toBe('Ability not found: notes:ad. Did you mean notes:add?')
    }
    await refusalOf(ask(bus, 'bus:schema', {}), 'INVALID_INPUT')
  })
})
