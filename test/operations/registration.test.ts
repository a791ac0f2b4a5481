// The abilities as the bus registers them: ids, descriptions, schemas, and the tools of models.
import { expect, it } from 'vitest'
import { createBus } from '../../src/bus/bus.ts'
import { openEngine, refusalOf } from '../engine/world.ts'
import { heldModel, modelOf, surface } from './world.ts'

const taskAbilities = [
  'task:answer',
  'task:cancel',
  'task:complete',
  'task:context',
  'task:create',
  'task:get',
  'task:list',
  'task:messages',
  'task:pause',
  'task:resume',
  'task:retry',
  'task:route',
  'task:send',
  'task:signal',
  'task:wait',
]

it('S0-114 the abilities of an engine are registered with their names, a description and both schemas', async () => {
  const { bus } = await openEngine()
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

it('S0-081 S0-082 S1-056 S1-084 the abilities of an engine are tools for models under plain names, with JSON Schema', async () => {
  const engine = await openEngine({ model: heldModel().model, autoStart: false })
  const { id } = await engine.create({ goal: 'Own' })
  const { definitions } = engine.bus.toolsFor(modelOf(id))
  const names = definitions.map(({ function: { name } }) => name)
  expect(names.filter((name) => name.startsWith('task_'))).toEqual(taskAbilities.map((each) => each.replace(':', '_')))
  expect(names.filter((name) => name.startsWith('bus_'))).toEqual([])
  const create = definitions.find(({ function: { name } }) => name === 'task_create')
  expect(create?.function.parameters).toMatchObject({
    type: 'object',
    properties: { goal: { type: 'string' }, parentId: { type: 'string' } },
  })
})

it('S0-030 the abilities of an engine refuse invalid input before they do anything, and name the invalid field', async () => {
  const call = surface(await openEngine())
  const refusal = await refusalOf(call('task:route', { message: 7 }), 'INVALID_INPUT')
  expect(refusal.details).toMatchObject({ abilityId: 'task:route', issues: [{ path: 'message' }] })
})

it('the abilities of an engine leave a shared bus unchanged on close, and are registered on it only once', async () => {
  const bus = createBus()
  const before = bus.abilities().map(({ id }) => id)
  const engine = await openEngine({ bus })
  await refusalOf(openEngine({ bus }), 'ALREADY_REGISTERED')
  await engine.close()
  expect(bus.abilities().map(({ id }) => id)).toEqual(before)
})
