// The stored form of thrown values. The property test at the end converts arbitrary values and checks
// that the conversion never throws, and that its result is plain JSON that round-trips within its bounds.
import { isDeepStrictEqual } from 'node:util'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { briefError, ErrandError, Failure, type StoredCause, type StoredError } from '../../src/core/errors.ts'
import {
  describeError,
  errorBounds,
  readableError,
  retryAfterOf,
  storedWith,
  toStoredError,
} from '../../src/core/stored-error.ts'
import { arbitraryThrown, circle, hostileErrors, revokedProxy, withThrowingGetter } from '../thrown-values.ts'
import { runs } from '../tier.ts'

describe('toStoredError', () => {
  it.each<[string, unknown, object]>([
    ['undefined', undefined, { code: 'TASK_FAILED', message: 'undefined' }],
    ['null', null, { code: 'TASK_FAILED', message: 'null' }],
    ['a string', 'out of paper', { code: 'TASK_FAILED', message: 'out of paper' }],
    ['a number', 7, { code: 'TASK_FAILED', message: '7' }],
    ['a symbol', Symbol('s'), { code: 'TASK_FAILED', message: 'Symbol(s)' }],
    ['an object', { reason: 1 }, { code: 'TASK_FAILED', message: '[object Object]' }],
    ['an object with a message', { message: 'quota' }, { code: 'TASK_FAILED', message: 'quota' }],
    ['an object without a text', Object.create(null), { code: 'TASK_FAILED', message: 'an object that has no text' }],
    ['a revoked proxy', revokedProxy(), { code: 'TASK_FAILED', message: 'an object that has no text' }],
    ['an error', new TypeError('bad'), { code: 'TASK_FAILED', message: 'bad' }],
    ['an error without a message', new TypeError(), { code: 'TASK_FAILED', message: 'TypeError' }],
    ['a system error', Object.assign(new Error('x'), { code: 'ECONNRESET' }), { code: 'ECONNRESET', message: 'x' }],
    ['a code that is none of ours', Object.assign(new Error('x'), { code: 42 }), { code: 'TASK_FAILED', message: 'x' }],
    [
      'an error of another realm',
      runInNewContext('Object.assign(new TypeError("far"), { code: "EFAR" })'),
      { code: 'EFAR', message: 'far' },
    ],
    ['a DOMException', new DOMException('stopped', 'AbortError'), { code: 'TASK_FAILED', message: 'stopped' }],
    [
      'an error of the engine',
      new ErrandError('CYCLE', 'round', { path: ['a'] }),
      { code: 'CYCLE', message: 'round', details: { path: ['a'] } },
    ],
    ['a failure', new Failure('no'), { code: 'TASK_FAILED', message: 'no' }],
    [
      'a final failure with a code and details',
      new Failure('no', { code: 'MINE', retry: false, details: { at: 1 } }),
      { code: 'MINE', message: 'no', details: { at: 1 }, final: true },
    ],
    [
      'details that have no JSON form',
      new Failure('no', {
        details: { count: 1n, when: new Date(0), bytes: new Uint8Array(9), run: () => 1, tags: new Set(['a']) },
      }),
      {
        code: 'TASK_FAILED',
        message: 'no',
        details: { count: '1', when: '1970-01-01T00:00:00.000Z', bytes: '[9 bytes]', tags: ['a'] },
      },
    ],
    [
      'details that hold themselves, under an error inside',
      new Failure('no', { details: { inner: new Error('inside'), ...circle() } }),
      {
        code: 'TASK_FAILED',
        message: 'no',
        details: { inner: { name: 'Error', message: 'inside' }, url: 'x', self: { url: 'x', self: '[Circular]' } },
      },
    ],
    [
      'details with a getter that throws',
      new Failure('no', { details: withThrowingGetter({ a: 1 }, 'b') }),
      { code: 'TASK_FAILED', message: 'no', details: { a: 1 } },
    ],
    [
      'the errors of an AggregateError',
      new AggregateError([Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), 'two'], 'several'),
      {
        code: 'TASK_FAILED',
        message: 'several',
        details: { errors: [{ name: 'Error', code: 'ECONNREFUSED', message: 'refused' }, { message: 'two' }] },
      },
    ],
  ])('toStoredError stores a thrown value: %s', (_title, thrown, stored) => {
    expect(briefError(toStoredError(thrown))).toEqual(stored)
  })

  it('toStoredError uses the fallback code for errors without a code', () => {
    expect(toStoredError('late', 'TIMEOUT').code).toBe('TIMEOUT')
  })

  it('toStoredError keeps name, stack and the chain of causes', () => {
    const below = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const stored = toStoredError(new TypeError('fetch failed', { cause: new RangeError('between', { cause: below }) }))
    expect(stored).toEqual({
      code: 'TASK_FAILED',
      message: 'fetch failed',
      name: 'TypeError',
      stack: expect.stringMatching(/^TypeError: fetch failed\n +at /),
      cause: {
        message: 'between',
        name: 'RangeError',
        stack: expect.stringContaining('stored-error.test.ts'),
        cause: {
          message: 'connect ECONNREFUSED',
          name: 'Error',
          code: 'ECONNREFUSED',
          fields: { code: 'ECONNREFUSED' },
          stack: expect.any(String),
        },
      },
    })
  })

  it('toStoredError keeps a cause that is not an error, and the errors of an aggregate cause', () => {
    expect(toStoredError(new Error('a', { cause: 'just words' })).cause).toEqual({
      message: 'just words',
      thrown: { value: 'just words' },
    })
    expect(toStoredError(new Error('a', { cause: new AggregateError([new Error('one')]) })).cause).toMatchObject({
      name: 'AggregateError',
      details: { errors: [{ name: 'Error', message: 'one' }] },
    })
  })

  it('toStoredError ends a cyclic chain of causes', () => {
    const [one, two] = [new Error('one'), new Error('two')]
    one.cause = two
    two.cause = one
    expect(toStoredError(one).cause).toEqual({ message: 'two', name: 'Error', stack: expect.any(String) })
  })

  it('toStoredError keeps the beginning of details that are too large', () => {
    const { details } = toStoredError(new Failure('no', { details: { body: 'x'.repeat(20_000) } }))
    expect(details).toEqual({ truncated: true, preview: expect.stringMatching(/^\{"body":"x{900,}…$/) })
  })

  it('toStoredError keeps the frames of a stack whose message is too long', () => {
    expect(toStoredError(new Error('x'.repeat(100_000))).stack).toContain('stored-error.test.ts')
  })
})

describe('a failure of the engine itself', () => {
  it('storedWith keeps whole details, and drops a cause that must not be stored', () => {
    const cause = new Error('a key is quoted here')
    const details = { rows: Array.from({ length: 20_000 }, (_, row) => row) }
    const failure = storedWith(new Failure('no', { details, cause }), { wholeDetails: true, withoutCause: true })
    expect(toStoredError(failure).details).toEqual(details)
    const wrapped = toStoredError(new ErrandError('EXECUTION_ERROR', 'no', {}, failure))
    expect(wrapped.cause).toMatchObject({ name: 'Failure', message: 'no' })
    expect(JSON.stringify([wrapped, toStoredError(failure)])).not.toContain('a key is quoted')
  })
})

describe('how a failure is to be retried', () => {
  it.each<[unknown, number | undefined]>([
    [5, 5],
    [-1, undefined],
    [Number.NaN, undefined],
    ['5', undefined],
  ])('retryAfterOf reads %s milliseconds as %s', (retryAfterMs, read) => {
    expect(retryAfterOf(new Failure('x', { retryAfterMs: retryAfterMs as number }))).toBe(read)
  })

  it('retryAfterOf returns undefined for errors other than Failure', () => {
    expect(retryAfterOf({ retryAfterMs: 5 })).toBe(undefined)
  })
})

describe('an error made readable', () => {
  it('readableError returns a readable error itself', () => {
    for (const error of [new Error('x'), new Failure('x'), new ErrandError('CYCLE', 'x'), 'text', undefined]) {
      expect(readableError(error)).toBe(error)
    }
  })

  it('readableError keeps the class and the readable properties', () => {
    const failure = withThrowingGetter(new Failure('no', { code: 'MINE', retry: false, retryAfterMs: 5 }), 'details')
    expect(readableError(failure)).toMatchObject({ name: 'Failure', code: 'MINE', retry: false, retryAfterMs: 5 })
    expect(readableError(withThrowingGetter(new ErrandError('CYCLE', 'round'), 'details'))).toMatchObject({
      name: 'ErrandError',
      code: 'CYCLE',
      message: 'round',
    })
    const system = withThrowingGetter(Object.assign(new TypeError('x'), { code: 'ECONNRESET' }), 'cause')
    expect(readableError(system)).toMatchObject({ name: 'TypeError', code: 'ECONNRESET', message: 'x' })
  })

  it.each(Object.entries(hostileErrors))('readableError returns an error that is safe to read: %s', (_what, make) => {
    const error = readableError(make())
    const read = () => (error instanceof Error ? `${error.name} ${error.message} ${error.stack}` : String(error))
    expect(read).not.toThrow()
    expect(() => describeError(make())).not.toThrow()
  })
})

/** How what was stored breaks the promise. Reading it may throw anything, even a value that fast-check cannot examine. */
function complaintsOf(convert: (thrown: unknown) => StoredError, thrown: unknown): string[] {
  let converted: StoredError
  let text: string
  let isReadBack: boolean
  try {
    converted = convert(thrown)
  } catch {
    return ['the conversion throws']
  }
  try {
    text = JSON.stringify(converted)
    isReadBack = isDeepStrictEqual(JSON.parse(text), converted)
  } catch {
    return ['its result has no JSON form']
  }
  const stored = JSON.parse(text) as StoredError
  const complaints: string[] = []
  if (!isReadBack) complaints.push('it is not read back as it was')
  if (text.length > 65_536) complaints.push(`it has ${text.length} characters of JSON`)
  if (/\\u0000|\\u[dD][89a-fA-F]/.test(text)) complaints.push('it holds a text that not every ledger keeps')
  if (typeof stored.code !== 'string' || typeof stored.message !== 'string')
    complaints.push('it has no code or message')
  if (stored.message.length > errorBounds.message) complaints.push('its message is too long')
  if (JSON.stringify(stored.details ?? null).length > errorBounds.details) complaints.push('its details are too large')
  let causes = 0
  for (let each: StoredCause | undefined = stored; each !== undefined; each = each.cause, causes++) {
    if ((each.stack?.length ?? 0) > errorBounds.stack) complaints.push('a stack is too long')
  }
  if (causes - 1 > errorBounds.causes) complaints.push('the chain of causes is too long')
  return complaints
}

/** The faults that the search must be able to find. */
const planted: Array<[string, (thrown: unknown) => StoredError]> = [
  [
    'getters are read without care',
    (thrown) => ({ ...toStoredError(thrown), message: `${(thrown as Error | undefined)?.message}`.slice(0, 100) }),
  ],
  [
    'details of an error of the engine are stored as they are',
    (thrown) =>
      ErrandError.isInstance(thrown) ? { ...toStoredError(thrown), details: thrown.details } : toStoredError(thrown),
  ],
  [
    'the message is not bounded',
    (thrown) => (typeof thrown === 'string' ? { code: 'TASK_FAILED', message: thrown } : toStoredError(thrown)),
  ],
]

describe('Arbitrary thrown values', () => {
  const settings = { numRuns: runs(100, 500), endOnFailure: true }
  const promiseOf = (convert: (thrown: unknown) => StoredError) =>
    fc.property(arbitraryThrown(), (make) => complaintsOf(convert, make()).length === 0)

  it('toStoredError stores arbitrary thrown values within the bounds, as JSON that round-trips', () => {
    fc.assert(
      fc.property(arbitraryThrown(), (make) => {
        expect(complaintsOf(toStoredError, make())).toEqual([])
      }),
      settings,
    )
  })

  it('describeError and readableError never throw for arbitrary thrown values', () => {
    fc.assert(
      fc.property(arbitraryThrown(), (make) => {
        expect(typeof describeError(make())).toBe('string')
        const error = readableError(make())
        expect(typeof (error instanceof Error ? `${error.message}` : String(error))).toBe('string')
      }),
      settings,
    )
  })

  it.each(planted)('the property of toStoredError finds a planted fault: %s', (_fault, convert) => {
    // As long as it takes: some faults show in one of hundreds of errors.
    expect(fc.check(promiseOf(convert), { ...settings, numRuns: 20_000 }).failed).toBe(true)
  })
})
