// Values that user code may throw and that are hard to read: for the tests of what the engine stores of them.
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { ErrandError, Failure } from '../src/core/errors.ts'

export const readByTheEngine = [
  'code',
  'message',
  'name',
  'stack',
  'cause',
  'details',
  'retry',
  'retryAfterMs',
  'errors',
] as const

export function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** The same object, with a getter that throws. */
export function withThrowingGetter<T extends object>(value: T, key: string): T {
  return Object.defineProperty(value, key, {
    get() {
      throw new Error(`the getter of ${key} throws`)
    },
  })
}

export function circle(): Record<string, unknown> {
  const response: Record<string, unknown> = { url: 'x' }
  response['self'] = response
  return response
}

class HostileRefusal extends ErrandError {
  override toJSON(): never {
    throw new Error('no JSON')
  }
}

/** By what they are. */
export const hostileErrors: Record<string, () => unknown> = {
  'a revoked proxy': revokedProxy,
  ...Object.fromEntries(
    readByTheEngine.map((key) => [
      `an error whose ${key} throws`,
      () => withThrowingGetter(new Failure('x', { retryAfterMs: 0 }), key),
    ]),
  ),
  'an error of the engine with details that hold themselves': () =>
    new ErrandError('EXECUTION_ERROR', 'remote failed', { response: circle() }),
  'a failure with details that hold themselves': () => new Failure('remote failed', { details: circle() }),
  'an error that is its own cause': () => {
    const error = new Error('round')
    error.cause = error
    return error
  },
  'an error of the engine whose toJSON throws': () => new HostileRefusal('EXECUTION_ERROR', 'refused'),
  'a proxy whose traps all throw': () => hostileProxy(),
  'a failure with a code that is not text': () => new Failure('x', { code: Symbol('code') as never }),
  'an error caused by a revoked proxy': () => new Error('above', { cause: revokedProxy() }),
  'a failure with a bigint in its details': () => new Failure('x', { details: { count: 1n } }),
}

function hostileProxy(): object {
  const throws = () => {
    throw revokedProxy()
  }
  const traps = ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor'] as const
  return new Proxy(new Error('behind a proxy'), Object.fromEntries(traps.map((trap) => [trap, throws])))
}

/**
 * Anything: odd values, errors of every kind with odd properties, getters and traps that throw, cycles, chains of causes. Each is
 * made by a function, because fast-check itself inspects the values that it generates.
 */
export function arbitraryThrown(): fc.Arbitrary<() => unknown> {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u0000', '\ud83d', '', 'ECONNRESET', '\u0001'.repeat(20_000), '😀'.repeat(9_000)),
  )
  const anything = fc.anything({
    key: fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toJSON', 'then')),
    maxDepth: 3,
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
  })
  const odd: unknown[] = [Symbol('s'), () => 1, undefined, Number.NaN, -0, { toJSON: () => 1n }]
  const value = fc.oneof(
    fc.oneof(text, anything).map((given) => () => given),
    fc.constantFrom(...odd.map((given) => () => given)),
    fc.constantFrom(...Object.values(hostileErrors), () => Object.assign([], { length: 1e9 })),
    fc.nat({ max: 200 }).map((depth) => () => nested(depth)),
    fc.nat({ max: 6_000 }).map((size) => () => ({ rows: Array.from({ length: size }, (_, row) => row) })),
  )
  const error = fc.constantFrom<() => object>(
    () => new Error('plain'),
    () => new Failure('failure', { retry: false, details: { at: 1 } }),
    () => new ErrandError('CYCLE', 'refusal', { path: ['a'] }),
    () => new AggregateError([new Error('one'), revokedProxy(), 'two'], 'several'),
    () => new DOMException('aborted', 'AbortError'),
    () => runInNewContext('new TypeError("of another realm")') as object,
    () => ({}),
    () => [],
    () => () => {},
  )
  const field = fc.record({
    key: fc.constantFrom(...readByTheEngine, 'toString', 'toJSON'),
    value,
    how: fc.constantFrom('value', 'getter', 'throws'),
  })
  const withFields = fc.tuple(error, fc.array(field, { maxLength: 6 })).map(([make, fields]) => () => {
    const thrown = make()
    for (const each of fields) define(thrown, each.key, each.value(), each.how)
    return thrown
  })
  const chain = fc.array(withFields, { minLength: 2, maxLength: 12 }).map((makes) => () => {
    const errors = makes.map((make) => make())
    for (const [index, each] of errors.entries()) {
      define(each, 'cause', errors[(index + 1) % errors.length], 'value')
    }
    return errors[0]
  })
  return fc.oneof(value, withFields, chain)
}

function define(target: object, key: string, value: unknown, how: string): void {
  const get = () => {
    if (how === 'throws') throw value
    return value
  }
  Reflect.defineProperty(target, key, how === 'value' ? { value, configurable: true } : { get, configurable: true })
}

function nested(depth: number): unknown {
  let value: unknown = 'inside'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value }
  return value
}
