// Questions as forms: the fields of a schema, and the value of the entered texts.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { enteredFrom, fieldOf, readEntered } from '../../page/src/model/question-form.ts'

const schemaOf = (type: z.ZodType) => z.toJSONSchema(type, { io: 'input' })

it('fieldOf returns one field for each simple schema', () => {
  expect(fieldOf(null)).toEqual({ kind: 'text', multiline: true })
  expect(fieldOf(schemaOf(z.string()))).toEqual({ kind: 'text', multiline: true })
  expect(fieldOf(schemaOf(z.string().max(40)))).toEqual({ kind: 'text', multiline: false })
  expect(fieldOf(schemaOf(z.number().min(1).max(5)))).toEqual({ kind: 'number', whole: false, min: 1, max: 5 })
  expect(fieldOf(schemaOf(z.int()))).toEqual({ kind: 'number', whole: true, min: null, max: null })
  expect(fieldOf(schemaOf(z.boolean()))).toEqual({ kind: 'boolean' })
  expect(fieldOf(schemaOf(z.enum(['pdf', 'html'])))).toEqual({ kind: 'choice', values: ['pdf', 'html'] })
  expect(fieldOf(schemaOf(z.union([z.literal(1), z.literal('two')])))).toEqual({ kind: 'choice', values: [1, 'two'] })
})

it('fieldOf returns several fields for an object, and JSON for a schema that fits no form', () => {
  const field = fieldOf(schemaOf(z.object({ name: z.string(), size: z.int().optional(), tags: z.array(z.string()) })))
  expect(field).toMatchObject({
    kind: 'fields',
    fields: [
      { name: 'name', required: true, field: { kind: 'text' } },
      { name: 'size', required: false, field: { kind: 'number' } },
      { name: 'tags', required: true, field: { kind: 'json' } },
    ],
  })
  expect(fieldOf(schemaOf(z.union([z.string(), z.number()])))).toEqual({ kind: 'json' })
  expect(fieldOf({ type: ['string', 'null'] })).toEqual({ kind: 'json' })
  expect(fieldOf({ type: 'object' })).toEqual({ kind: 'json' })
})

it('enteredFrom fills the form with the default, and readEntered returns the same value if nothing is changed', () => {
  const answers: Array<[z.ZodType, fc.Arbitrary<unknown>]> = [
    [z.string(), fc.string()],
    [z.number(), fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)],
    [z.boolean(), fc.boolean()],
    [z.enum(['a', 'b', 'c']), fc.constantFrom('a', 'b', 'c')],
    [z.array(z.int()), fc.array(fc.integer())],
    [
      z.object({ name: z.string(), count: z.int(), sure: z.boolean() }),
      fc.record({ name: fc.string(), count: fc.integer(), sure: fc.boolean() }),
    ],
  ]
  for (const [type, values] of answers) {
    const field = fieldOf(schemaOf(type))
    fc.assert(
      fc.property(values, (value) => {
        const read = readEntered(field, enteredFrom(field, value))
        expect(read).toEqual({ ok: true, value })
        expect(type.safeParse(read.ok && read.value).success).toBe(true)
      }),
    )
  }
})

it('readEntered names the invalid field and the reason', () => {
  const field = fieldOf(schemaOf(z.object({ size: z.int().min(1).max(9) })))
  expect(readEntered(field, { size: '12' })).toEqual({ ok: false, message: 'At most 9.', at: 'size' })
  expect(readEntered(field, { size: '1.5' })).toMatchObject({ ok: false, message: 'Enter a whole number.' })
  expect(readEntered(field, { size: '' })).toMatchObject({ ok: false, at: 'size' })
  expect(readEntered(fieldOf(schemaOf(z.enum(['a']))), '')).toMatchObject({ ok: false, message: 'Choose one.' })
  expect(readEntered({ kind: 'json' }, '{"a":')).toMatchObject({ ok: false })
})

it('readEntered omits empty optional fields', () => {
  const field = fieldOf(schemaOf(z.object({ name: z.string(), note: z.string().optional() })))
  expect(readEntered(field, { name: '', note: '' })).toEqual({ ok: true, value: { name: '' } })
})
