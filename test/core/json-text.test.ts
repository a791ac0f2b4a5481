// JSON text from outside whose numbers lose digits.
import { expect, it } from 'vitest'
import { parseJson } from '../../src/core/json-text.ts'

it('parseJson refuses integers that a number cannot hold, and numbers without an end', () => {
  for (const text of [
    '9007199254740993',
    '{"a":[-12345678901234567890]}',
    '1e999',
    '{"__proto__":{"n":9007199254740993}}',
  ]) {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  }
})

it('parseJson keeps every other value, and a key __proto__ as a key of its own', () => {
  for (const text of [
    '9007199254740992',
    '1e21',
    '0.1',
    '"9007199254740993"',
    '{"__proto__":{"n":1234567890123456}}',
  ]) {
    expect(parseJson(text)).toEqual(JSON.parse(text))
  }
  expect(Object.keys(parseJson('{"__proto__":{"n":1234567890123456}}') as object)).toEqual(['__proto__'])
})
