// Schemas as models get them: no references, no recursion, no alternatives at the root.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { briefSchema, modelSchema } from '../../src/bus/model-schema.ts'
import { createEngine, defineAbility, defineExecutor } from '../../src/index.ts'

const of = (schema: z.ZodType) => modelSchema(z.toJSONSchema(schema, { io: 'input' }) as never)

describe('a schema in brief', () => {
  it('has no bounds, which the refusal of a value names, and keeps types, descriptions, and properties with the names of bounds', () => {
    const schema = z.strictObject({
      pattern: z.string().min(1).max(9).describe('What to look for.'),
      maximum: z.int().min(1).default(5),
      names: z.array(z.string().regex(/a/)).max(3),
      labels: z.record(z.string(), z.number()).optional(),
    })
    expect(briefSchema(of(schema))).toEqual({
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'What to look for.' },
        maximum: { type: 'integer', default: 5 },
        names: { type: 'array', items: { type: 'string' } },
        labels: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: { type: 'number' } },
      },
      required: ['pattern', 'names'],
    })
  })
})

describe('the schema of a tool', () => {
  it('references are replaced by what they name, and recursion by any value', () => {
    const point = z.object({ x: z.number() }).meta({ id: 'point' })
    const tree: z.ZodType = z.object({ name: z.string(), children: z.lazy(() => z.array(tree)) })
    const schema = of(z.object({ from: point, to: point.describe('The end.'), any: z.json(), tree }))
    expect(JSON.stringify(schema)).not.toMatch(/\$ref|\$defs/)
    expect(schema).toMatchObject({
      properties: {
        from: { type: 'object', properties: { x: { type: 'number' } } },
        to: { description: 'The end.', properties: { x: { type: 'number' } } },
        any: {},
        tree: { properties: { name: { type: 'string' }, children: { type: 'array', items: {} } } },
      },
      required: ['from', 'to', 'any', 'tree'],
    })
    expect((schema['properties'] as { any: unknown }).any).toEqual({})
  })

  it('a property with the name of a keyword, and data that looks like a reference, stay', () => {
    const schema = modelSchema({
      type: 'object',
      properties: { $ref: { type: 'string' }, oneOf: { enum: [{ $ref: '#' }], default: { $ref: '#/$defs/x' } } },
    })
    expect(schema).toEqual({
      type: 'object',
      properties: { $ref: { type: 'string' }, oneOf: { enum: [{ $ref: '#' }], default: { $ref: '#/$defs/x' } } },
    })
  })

  it('references are replaced in properties with the names of keywords, and whatever place in the schema they name', () => {
    const point = z.object({ x: z.number() }).meta({ id: 'point' })
    const names = ['default', 'const', 'enum', 'examples', 'definitions', '$defs']
    const schema = of(z.object(Object.fromEntries(names.map((name) => [name, point]))))
    expect(Object.values(schema['properties'] as object)).toEqual(
      names.map(() => expect.objectContaining({ properties: { x: { type: 'number' } } })),
    )
    const text = { type: 'string', minLength: 2 }
    const pointing = modelSchema({ type: 'object', properties: { 'a/b': text, c: { $ref: '#/properties/a~1b' } } })
    expect(pointing['properties']).toEqual({ 'a/b': text, c: text })
  })

  it('definitions that double at every level do not', () => {
    const levels = Array.from({ length: 40 }, (_, level) => {
      const next = { $ref: `#/$defs/level${level + 1}` }
      return [`level${level}`, { type: 'object', properties: { a: next, b: next } }]
    })
    const $defs = { ...Object.fromEntries(levels), level40: { type: 'string' } }
    const schema = modelSchema({ type: 'object', properties: { x: { $ref: '#/$defs/level0' } }, $defs })
    expect(JSON.stringify(schema).length).toBeLessThan(100_000)
  })

  it('names of two types become a list of values without a type', () => {
    const schema = of(z.union([z.object({ v: z.literal('one') }), z.object({ v: z.literal(2) })]))
    expect(schema['properties']).toEqual({ v: { enum: ['one', 2] } })
  })

  it('alternatives at the root become one object, whose names are a list of values', () => {
    const shape = z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('circle'), radius: z.number() }),
      z.strictObject({ kind: z.literal('box'), width: z.number(), radius: z.string() }),
    ])
    expect(of(shape)).toEqual({
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['circle', 'box'] },
        radius: { anyOf: [{ type: 'number' }, { type: 'string' }] },
        width: { type: 'number' },
      },
      required: ['kind', 'radius'],
      additionalProperties: false,
    })
  })

  it('an intersection becomes one object that requires what each part requires', () => {
    const both = z.intersection(z.object({ a: z.string() }), z.object({ b: z.number().optional(), c: z.string() }))
    const schema = of(both)
    expect(schema).toMatchObject({ type: 'object', required: ['a', 'c'] })
    expect(Object.keys(schema['properties'] as object)).toEqual(['a', 'b', 'c'])
    expect(schema).not.toHaveProperty('allOf')
  })
})

describe('schemas that fit no JSON value', () => {
  it.each([
    ['a date', z.object({ at: z.date() }), 'date at at', 'z.coerce.date()'],
    [
      'an optional date in a list',
      z.object({ list: z.array(z.object({ at: z.date().optional() })) }),
      'date at list.item.at',
      'z.iso',
    ],
    ['a bigint', z.object({ n: z.bigint() }), 'bigint at n', 'z.string()'],
    ['a map', z.object({ m: z.map(z.string(), z.string()) }), 'map at m', 'z.record()'],
    ['a set', z.object({ s: z.set(z.string()) }), 'set at s', 'z.array()'],
    ['alternatives of which none fits', z.object({ v: z.union([z.date(), z.bigint()]) }), 'date at v', 'z.iso'],
  ])(
    '%s is refused with its place and what to write instead, for abilities and executors',
    async (_what, input, place, instead) => {
      const message = expect.stringMatching(new RegExp(`${place}.*${instead.replace(/[()]/g, '\\$&')}`))
      const refusal = { code: 'INVALID_INPUT', message }
      const definition = { id: 'x:f', description: 'x', input, output: z.null(), handle: () => null }
      expect(() => defineAbility(definition as never)).toThrow(expect.objectContaining(refusal) as never)
      expect(() => defineExecutor({ input, run: () => null } as never)).toThrow(
        expect.objectContaining(refusal) as never,
      )
      await expect(createEngine({ abilities: [definition] as never })).rejects.toMatchObject(refusal)
    },
  )

  it('what is coerced, has a default, is a codec or one of several alternatives is accepted', () => {
    const codec = z.codec(z.iso.datetime(), z.date(), {
      decode: (text) => new Date(text),
      encode: (date) => date.toISOString(),
    })
    const input = z.object({
      coerced: z.coerce.date(),
      big: z.coerce.bigint(),
      drawn: z.date().default(() => new Date()),
      codec,
      either: z.union([z.date(), z.string()]),
      prepared: z.preprocess((text) => new Date(String(text)), z.date()),
    })
    expect(() => defineExecutor({ input, run: () => null })).not.toThrow()
  })
})
