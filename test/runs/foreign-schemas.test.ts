// Schemas that are not what they seem: those of other versions of zod and of other libraries, and misspelled JSON Schemas. They are refused by
// name where they are given; before, a question accepted any answer with them.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { z as zod3 } from 'zod/v3'
import { defineAbility } from '../../src/bus/ability.ts'
import { defineExecutor } from '../../src/entities/executor.ts'
import { createWorld } from './world.ts'

const valibot = { '~standard': { vendor: 'valibot', version: 1, validate: (value: unknown) => ({ value }) } }

/** How the schema of a question ends its task; undefined if it is asked. */
async function refusalOf(schema: unknown): Promise<string | undefined> {
  const world = await createWorld((_task, run) => run.ask('Which?', schema as never))
  const { id } = await world.engine.create({ executor: 'work' })
  const asked = world.eventOf(id, 'task.input_required').then(() => undefined)
  return Promise.race([
    asked,
    world.engine
      .settled(id)
      .then((outcome) =>
        outcome.status === 'failed' ? `${outcome.error.code}: ${outcome.error.message}` : outcome.status,
      ),
  ])
}

describe.each<[string, unknown]>([
  ['zod 3', zod3.object({ a: zod3.string() })],
  ['zod/mini', mini.object({ a: mini.string() })],
  ['valibot', valibot],
])('a schema of %s', (library, schema) => {
  const named = new RegExp(`schema of zod 4.*a schema of ${library}`)

  it('is refused by defineExecutor and defineAbility', () => {
    const run = () => 1 as never
    expect(() => defineExecutor({ input: schema as never, run })).toThrow(named)
    expect(() => defineExecutor({ result: schema as never, run })).toThrow(named)
    const ability = { id: 'test:ability', description: 'Does nothing.', handle: () => ({}) as never }
    expect(() => defineAbility({ ...ability, input: schema as never, output: z.object({}) })).toThrow(named)
    expect(() => defineAbility({ ...ability, input: z.object({}), output: schema as never })).toThrow(named)
  })

  it('is refused by run.ask before anything is asked', async () => {
    expect(await refusalOf(schema)).toMatch(named)
  })
})

it.each<[string, unknown, RegExp]>([
  ['a keyword', { type: 'object', proprties: { a: {} } }, /"proprties".*Did you mean "properties"/],
  ['a keyword inside', { anyOf: [{ type: 'string', minLenght: 3 }] }, /"minLenght" at anyOf.0.*"minLength"/],
  ['a type inside', { properties: { a: { type: 'strng' } } }, /"strng" at properties.a.*"string"/],
  ['one of several types', { type: ['string', 'nul'] }, /"nul".*"null"/],
])('run.ask refuses a JSON Schema that misspells %s', async (_what, schema, message) => {
  expect(await refusalOf(schema)).toMatch(message)
})

it.each<[string, unknown]>([
  ['properties named like misspelled keywords', { type: 'object', properties: { proprties: { type: 'string' } } }],
  ['data with any keys', { type: 'object', default: { a: 1 }, examples: [{ b: 2 }], enum: [{ c: 3 }] }],
  ['keywords of its own', { type: 'string', 'x-widget': 'area' }],
  ['no keyword', {}],
  ['what zod writes', z.toJSONSchema(z.object({ a: z.email(), b: z.array(z.int().min(1)).max(3).optional() }))],
  ['zod with metadata', z.object({ a: z.string() }).meta({ widget: 'area' })],
])('run.ask takes a schema with %s', async (_what, schema) => {
  expect(await refusalOf(schema)).toBeUndefined()
})
