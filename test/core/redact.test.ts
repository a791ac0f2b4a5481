// What the user's hook is shown, what becomes of what it returns, and that nothing passes where it fails.
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { Failure } from '../../src/core/errors.ts'
import { type RedactFunction, redactionBy } from '../../src/core/redact.ts'
import { refusalOf } from '../engine/world.ts'

const hidden: RedactFunction = (value, path) => (path.at(-1) === 'password' ? '[redacted]' : value)

describe('redact', () => {
  it('is shown every value with its place, the outer ones first', () => {
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

  it('gives a value in which nothing was changed back itself, and never changes what it was given', () => {
    const { value } = redactionBy(hidden)
    const plain = { a: [{ b: 1 }] }
    expect(value(plain, 'call', 'result')).toBe(plain)
    const given = { user: { name: 'ann', password: 'x' }, list: [1] }
    expect(value(given, 'call', 'result')).toEqual({ user: { name: 'ann', password: '[redacted]' }, list: [1] })
    expect(given.user.password).toBe('x')
  })

  it('looks into texts that are JSON', () => {
    const { text } = redactionBy(hidden)
    expect(text('{"password":"x","a":1}', 'message', 'content')).toBe('{"password":"[redacted]","a":1}')
    expect(text('{ "a": 1 }', 'message', 'content')).toBe('{ "a": 1 }')
    expect(text('[no JSON', 'message', 'content')).toBe('[no JSON')
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
    ['returns what is no JSON', () => () => 'x'],
    ['returns ever more', (value) => ({ value })],
    ['returns no text for a text', () => 1],
  ])('V-10 lets nothing pass when it %s, and does not tell the value', async (_how, redact) => {
    const refusal = await refusalOf(() => redactionBy(redact).text('canary', 'task', 'name'), 'REDACT_FAILED')
    expect(inspect(refusal, { depth: 20 })).not.toContain('canary')
    expect(refusal.message).toContain('task.name')
  })

  it('keeps the kind, the code and the place of an error, and redacts its texts, details and causes', () => {
    const { thrown } = redactionBy((value) =>
      typeof value === 'string' ? value.replaceAll('canary', '[redacted]') : value,
    )
    const error = new Failure('no canary', {
      code: 'OWN',
      retry: false,
      details: { of: ['canary'] },
      cause: new Error('canary'),
    })
    const told = thrown(error) as Failure
    expect(told).toBeInstanceOf(Failure)
    expect(told).toMatchObject({ message: 'no [redacted]', code: 'OWN', retry: false, details: { of: ['[redacted]'] } })
    expect(told.stack).toContain('redact.test.ts')
    expect(inspect(told, { depth: 20 })).not.toContain('canary')
    expect(inspect(thrown('canary'))).not.toContain('canary')
  })

  it('tells that an error could not be redacted in place of the error', () => {
    const { thrown } = redactionBy(() => undefined)
    expect(thrown(new Error('canary'))).toMatchObject({ code: 'REDACT_FAILED' })
  })
})
