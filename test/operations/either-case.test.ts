// Keys in camelCase or snake_case: each spelling is accepted, both at once are refused, and unknown keys are unchanged.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { parse } from '../../src/core/parse.ts'
import { eitherCase } from '../../src/operations/key-case.ts'
import { refusalOf } from '../engine/world.ts'

const schema = eitherCase(
  z.strictObject({ taskId: z.string(), agentId: z.string().optional(), limit: z.int().default(5) }),
  { task: 'taskId', workingAgent: 'agentId' },
)

it.each([
  [{ taskId: 'a', agentId: 'b' }],
  [{ task_id: 'a', agent_id: 'b' }],
  [{ taskId: 'a', agent_id: 'b' }],
  [{ task: 'a', workingAgent: 'b' }],
  [{ task: 'a', working_agent: 'b' }],
])('S2-058 eitherCase accepts %j in either spelling', (given) => {
  expect(parse(schema, given as never, 'it')).toEqual({ taskId: 'a', agentId: 'b', limit: 5 })
})

it.each([
  [{ taskId: 'a', task_id: 'a' }, '`taskId` and `task_id`'],
  [{ task: 'a', task_id: 'b' }, '`task` and `task_id`'],
  [{ taskId: 'a', working_agent: 'x', workingAgent: 'y' }, '`working_agent` and `workingAgent`'],
])('S2-058 eitherCase refuses %j, because one of the values would be lost', async (given, named) => {
  expect((await refusalOf(() => parse(schema, given as never, 'it'), 'INVALID_INPUT')).message).toContain(named)
})

it('S2-058 eitherCase refuses unknown keys and suggests the nearest, and refuses input that is not an object', async () => {
  const refusal = await refusalOf(() => parse(schema, { task_id: 'a', agnetId: 'b' } as never, 'it'), 'UNKNOWN_OPTION')
  expect(refusal.details).toMatchObject({ option: 'agnetId', nearest: 'agentId' })
  for (const given of [null, 'task_id', 7, [{ task_id: 'a' }]]) {
    await refusalOf(() => parse(schema, given as never, 'it'), 'INVALID_INPUT')
  }
})

it('S2-058 eitherCase publishes a schema with one spelling only', () => {
  expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({
    type: 'object',
    properties: { taskId: { type: 'string' }, agentId: { type: 'string' }, limit: { type: 'integer' } },
    required: ['taskId'],
    additionalProperties: false,
  })
})

it('X-037 eitherCase does not read keys of the prototype', () => {
  const given = JSON.parse('{"task_id":"a","__proto__":{"agentId":"forged"}}') as never
  expect(() => parse(schema, given, 'it')).toThrow()
  expect(({} as Record<string, unknown>)['agentId']).toBeUndefined()
})
