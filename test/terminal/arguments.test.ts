// What is written behind a verb, and how a slip is answered.
import { describe, expect, test } from 'vitest'
import { oneOf, parseArguments, wholeNumber } from '../../src/terminal/arguments.ts'

const parse = (...args: string[]) =>
  parseArguments('ps ID [--status S]', args, { status: { type: 'string', multiple: true } }, { min: 1, max: 2 })

describe('arguments', () => {
  test('are options and positionals in any order, with the common ones', () => {
    expect(parse('a', '--status', 'x', '--ledger=l.db', 'b', '--status', 'y', '--json')).toMatchObject({
      values: { status: ['x', 'y'], ledger: 'l.db', json: true },
      positionals: ['a', 'b'],
    })
  })

  test('may begin with a dash behind --', () => {
    expect(parse('a', '--', '-5').positionals).toEqual(['a', '-5'])
  })

  test('with an unknown option name the nearest one', () => {
    expect(() => parse('a', '--stauts', 'x')).toThrowError(
      /no option --stauts. Did you mean "--status"\? Usage: errand ps/,
    )
  })

  test.each([
    ['too few', [], /missing\. Usage: errand ps ID/],
    ['too many', ['a', 'b', 'c'], /"c" is too much/],
    ['an option without its value', ['a', '--status'], /Usage: errand ps/],
    ['a value for an option that takes none', ['a', '--json=1'], /Usage: errand ps/],
  ])('%s are refused with the usage', (_what, args, message) => {
    expect(() => parse(...args)).toThrowError(message)
  })

  test('ask for nothing when help is wanted', () => {
    expect(parse('--help').values.help).toBe(true)
  })
})

test('a number that is none is refused with what would do', () => {
  expect(wholeNumber('concurrency', '4', 1)).toBe(4)
  for (const text of ['0', '1.5', 'many', '', '9007199254740993']) {
    expect(() => wholeNumber('concurrency', text, 1)).toThrowError(/--concurrency takes a whole number of at least 1/)
  }
})

test('a word that is none of the choices names the nearest', () => {
  expect(() => oneOf('status', 'complete', ['completed', 'failed'])).toThrowError(/Did you mean "completed"\?/)
})
