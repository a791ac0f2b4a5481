// The `redact` hook: the values that it receives, what is made of its results, and that nothing is stored when it fails.
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { Failure } from '../../src/core/errors.ts'
import { type RedactFunction, redactionBy } from '../../src/core/redact.ts'
import { refusalOf } from '../engine/world.ts'

const hidden: RedactFunction = (value, path) => (path.at(-1) === 'password' ? '[redacted]' : value)

const circular: Record<string, unknown> = {}
circular['self'] = circular

const fail = (): never => {
  throw new Error('canary')
}

describe('redact', () => {
  it('redact receives every value with its path, outer ones first', () => {
    const shown: string[] = []
    redactionBy((value, path) => {
      shown.push(`${path.join('.')}=${JSON.stringify(value)}`)
      return value
    }).value({ a: [1, { b: 'x' }], c: null }, 'task', 'input')
    expect(shown).toEqual([
      'task.input={"a":[1,{"b":"x"}],"c":null}',
      'task.input.a=[1,{"b":"x"}]',
      'task.input.a.0=1',
      'task.input.a.1={"b":"x"}',
      'task.input.a.1.b="x"',
    ])
  })

  it('redact returns an unchanged value itself, and never modifies its argument', () => {
    const { value } = redactionBy(hidden)
    const plain = { a: [{ b: 1 }] }
    expect(value(plain, 'call', 'result')).toBe(plain)
    const given = { user: { name: 'ann', password: 'x' }, list: [1] }
    expect(value(given, 'call', 'result')).toEqual({ user: { name: 'ann', password: '[redacted]' }, list: [1] })
    expect(given.user.password).toBe('x')
  })

  it('redact redacts inside texts that are JSON', () => {
    const { text } = redactionBy(hidden)
    expect(text('{"password":"x","a":1}', 'message', 'content')).toBe('{"password":"[redacted]","a":1}')
    expect(text('{ "a": 1 }', 'message', 'content')).toBe('{ "a": 1 }')
    expect(text('[no JSON', 'message', 'content')).toBe('[no JSON')
  })

  it('V-10 redact keeps a text that is deeply nested JSON, and redacts inside it', () => {
    const nested = (inner: string) => `${'['.repeat(500)}${inner}${']'.repeat(500)}`
    const { text } = redactionBy(hidden)
    expect(text(nested(''), 'message', 'content')).toBe(nested(''))
    expect(text(nested('{"password":"x"}'), 'output')).toBe(nested('{"password":"[redacted]"}'))
  })

  it('V-10 redact drops the preview of error details that are too large to be searched for keys', () => {
    const { storedError } = redactionBy(hidden)
    const cut = { truncated: true, preview: '{"password":"canary","x":"' }
    const error = { code: 'OWN', message: 'no', details: { error: { details: cut } } }
    expect(storedError(error, 'call', 'error').details).toEqual({ error: { details: { truncated: true } } })
    expect(storedError({ ...error, details: cut }, 'call', 'error').details).toEqual({ truncated: true })
  })

  it.each<[string, RedactFunction]>([
    [
      'throws',
      () => {
        throw new Error('the value was canary')
      },
    ],
    ['returns nothing', () => undefined],
    ['returns a promise', () => Promise.reject(new Error('canary'))],
    ['returns a value that is not JSON', () => () => 'x'],
    ['returns ever deeper values', (value) => ({ value })],
    ['returns a cyclic object', () => circular],
    ['returns an object that cannot be read', () => Object.defineProperty({}, 'a', { get: fail, enumerable: true })],
    ['returns a value that throws when it is checked for a promise', () => new Proxy({}, { get: fail })],
    ['returns no text for a text', () => 1],
  ])(
    'V-10 a redact hook that %s makes nothing be stored, and the error does not quote the value',
    async (_how, redact) => {
      const refusal = await refusalOf(() => redactionBy(redact).text('canary', 'task', 'name'), 'REDACT_FAILED')
      expect(inspect(refusal, { depth: 20 })).not.toContain('canary')
      expect(refusal.message).toContain('task.name')
    },
  )

  it('redact redacts the texts, details and causes of an error, and keeps its class, code and stack frames', () => {
    const { thrown } = redactionBy((value) =>
      typeof value === 'string' ? value.replaceAll('canary', '[redacted]') : value,
    )
    const error = new Failure('no canary', {
      code: 'OWN',
      retry: false,
      details: { of: ['canary'] },
      cause: new Error('canary'),
    })
    const redacted = thrown(error) as Failure
    expect(redacted).toBeInstanceOf(Failure)
    expect(redacted).toMatchObject({
      message: 'no [redacted]',
      code: 'OWN',
      retry: false,
      details: { of: ['[redacted]'] },
    })
    expect(redacted.stack).toContain('redact.test.ts')
    expect(inspect(redacted, { depth: 20 })).not.toContain('canary')
    expect(inspect(thrown('canary'))).not.toContain('canary')
  })

  it('redact replaces an error that cannot be redacted by REDACT_FAILED', () => {
    const { thrown } = redactionBy(() => undefined)
    expect(thrown(new Error('canary'))).toMatchObject({ code: 'REDACT_FAILED' })
  })
})
