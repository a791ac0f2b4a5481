// JSON values: what is accepted round-trips unchanged, anything else is refused by name.
import { describe, expect, it } from 'vitest'
import { canonicalJson, checkText, fromJson, maxJsonDepth, maxJsonLength, toJson } from '../../src/core/json.ts'

const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown
const keyed = (key: string) => JSON.parse(`{"a":[{${JSON.stringify(key)}:1}]}`) as unknown

describe('X-037 toJson stores unchanged:', () => {
  it.each([
    ['null', null],
    ['a number', -0.5],
    ['emoji and every plane', '👩‍👩‍👧 \u{10ffff} \u2028 ẗ̶̼'],
    ['text that looks like an escape', '\\u0000 \\ud800 "__proto__":'],
    ['controls other than NUL', '\u0001\u001f\u007f'],
    ['the maximum nesting', nested(maxJsonDepth)],
    ['brackets in text, which nest nothing', '[{'.repeat(200)],
    ['keys that only resemble a prototype', { proto: 1, Constructor: 2, 'a.__proto__': 3 }],
    ['the word as a value', { key: '__proto__' }],
    ['keys that prototypes have too', [keyed('constructor'), keyed('prototype')]],
    ['a key __proto__ of its own', keyed('__proto__')],
    ['a long list', Array.from({ length: 10_000 }, (_, n) => n)],
  ])('toJson stores %s unchanged', (_title, value) => {
    expect(fromJson(toJson(value, 'the value'))).toEqual(value)
  })
})

describe('X-037 toJson refuses and names:', () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  it.each<[string, unknown, RegExp]>([
    ['NUL in text', 'a\u0000b', /NUL/],
    ['NUL in a key', { 'a\u0000': 1 }, /NUL/],
    ['half a pair, first', 'a\ud800', /surrogate/],
    ['half a pair, second', ['\udfff'], /surrogate/],
    ['half a pair in a key', { '\ud83d': 1 }, /surrogate/],
    ['one level too many', nested(maxJsonDepth + 1), /deeper than 64/],
    ['a hundred thousand levels', nested(100_000), /./],
    ['too long a text', 'x'.repeat(maxJsonLength), /at most/],
    ['a circle', circle, /self is a circular reference/],
    ['a bigint', 1n, /it is a BigInt/],
    ['a bigint inside', { a: [{ b: 1n }] }, /a\.0\.b is a BigInt/],
    ['a function', () => 1, /a function has no JSON image/],
    ['a symbol', Symbol('x'), /a symbol has no JSON image/],
  ])('toJson refuses %s', (_title, value, why) => {
    expect(() => toJson(value, 'the input of "x"')).toThrow(why)
    expect(() => toJson(value, 'the input of "x"')).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', details: { what: 'the input of "x"' } }),
    )
  })
})

describe('the JSON image', () => {
  it('toJson writes null for undefined, and drops what JSON drops', () => {
    expect(toJson(undefined, 'x')).toBe('null')
    expect(toJson({ a: undefined, b: Number.NaN, c: new Date(0) }, 'x')).toBe(
      '{"b":null,"c":"1970-01-01T00:00:00.000Z"}',
    )
  })

  it('fromJson does not pollute prototypes', () => {
    const value = fromJson<Record<string, unknown>>('{"__proto__":{"polluted":true}}')
    expect(({} as Record<string, unknown>)['polluted']).toBe(undefined)
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })
})

describe('plain text', () => {
  it('checkText returns a text unchanged or refuses it', () => {
    expect(checkText(`'; drop table task; -- 👍`, 'the name')).toBe(`'; drop table task; -- 👍`)
    for (const text of ['\u0000', '\ud800', 'x'.repeat(maxJsonLength + 1)]) {
      expect(() => checkText(text, 'the name')).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
    }
  })
})

describe('the canonical text', () => {
  it('canonicalJson is the same for equal values only', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: 1 })).toBe(canonicalJson({ a: 1, b: [{ c: 2, d: 1 }] }))
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]))
    expect(canonicalJson(undefined)).toBe('null')
  })

  it.each([
    [{ a: 1, b: { d: 1, c: [{ f: 1, e: 2 }] } }, '{"a":1,"b":{"c":[{"e":2,"f":1}],"d":1}}'],
    [{ a: 1, b: [true, null, 'c'] }, '{"a":1,"b":[true,null,"c"]}'],
    [{ a: { toJSON: () => ({ c: 1, b: 2 }) } }, '{"a":{"b":2,"c":1}}'],
    [{ a: new Date(0) }, '{"a":"1970-01-01T00:00:00.000Z"}'],
    [{ a: undefined, b: Number.NaN }, '{"b":null}'],
    [{ 10: 'x', 9: 'y' }, '{"9":"y","10":"x"}'],
  ])('canonicalJson sorts the keys at every level: %j', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })
})
