// The abilities of Agent OS as a set: their names, requirements, and tools for models.
import { describe, expect, it } from 'vitest'
import { heldModel, modelOf } from '../../operations/world.ts'
import { openManager } from './world.ts'

const taskAbilities = [
  'task:active',
  'task:cancel',
  'task:create',
  'task:get',
  'task:kill',
  'task:list',
  'task:route',
  'task:send',
  'task:spawn',
]

describe('The abilities of Agent OS', () => {
  it('S0-114 S1-083 each ability of Agent OS is registered with names, a description and both schemas', async () => {
    const { bus } = await openManager()
    for (const id of [...taskAbilities, 'task:stream']) {
      const { meta } = (await bus.call('bus:inspect', { abilityId: id })) as { meta: Record<string, unknown> }
      expect(meta).toMatchObject({
        id,
        moduleName: id.slice(0, id.indexOf(':')),
        abilityName: id.slice(id.indexOf(':') + 1),
        isStream: id === 'task:stream',
        description: expect.stringMatching(/^[A-Z].*\.$/) as string,
        inputSchema: { type: 'object' },
        outputSchema: expect.any(Object) as object,
      })
    }
  })

  it('S0-045 S0-052 S0-058 S1-024 S1-027 S1-033 S1-038 S1-042 the abilities of Agent OS require what their documents specify', async () => {
    const { bus } = await openManager()
    const required = (id: string) => bus.get(id)?.inputSchema['required'] ?? []
    expect({
      create: required('task:create'),
      cancel: required('task:cancel'),
      active: required('task:active'),
      spawn: required('task:spawn'),
      send: required('task:send'),
      list: required('task:list'),
      get: required('task:get'),
      kill: required('task:kill'),
      route: required('task:route'),
      stream: required('task:stream'),
    }).toEqual({
      create: ['goal'],
      cancel: ['taskId', 'reason'],
      active: [],
      spawn: ['goal'],
      send: ['taskId', 'message'],
      list: [],
      get: ['taskId'],
      kill: ['taskId'],
      route: ['message'],
      stream: ['taskId'],
    })
  })

  it('S0-081 S0-082 S1-056 S1-084 the abilities of Agent OS are tools for models with plain names and JSON Schema', async () => {
    const { bus, engine } = await openManager({ model: heldModel().model })
    const { id } = await engine.create({ goal: 'Own' })
    const { definitions } = bus.toolsFor(modelOf(id))
    const names = definitions.map(({ function: { name } }) => name)
    expect(names.filter((name) => name.startsWith('task_'))).toEqual(
      taskAbilities.map((each) => each.replace(':', '_')),
    )
    expect(names.filter((name) => name.startsWith('bus_'))).toEqual([])
    const create = definitions.find(({ function: { name } }) => name === 'task_create')
    expect(create?.function.parameters).toMatchObject({
      type: 'object',
      properties: { goal: { type: 'string' }, parentTaskId: { type: 'string' } },
    })
    const spawn = definitions.find(({ function: { name } }) => name === 'task_spawn')
    expect(spawn?.function.parameters).toMatchObject({ required: ['goal'] })
  })

  it('S0-116 the abilities of Agent OS work with only a ledger, without model and memory', async () => {
    const { call } = await openManager()
    const { taskId } = await call('task:create', { goal: 'By hand' })
    expect(await call('task:spawn', { goal: 'By hand too' })).toMatchObject({ status: 'pending' })
    await call('task:kill', { taskId })
    expect((await call('task:active'))['tasks']).toHaveLength(1)
  })
})
