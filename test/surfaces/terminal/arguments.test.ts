// Parsing of the arguments of a verb, and the messages for wrong ones.
import { describe, expect, it } from 'vitest'
import { oneOf, parseArguments, wholeNumber } from '../../../src/surfaces/terminal/arguments.ts'

const parse = (...args: string[]) =>
  parseArguments('ps ID [--status S]', args, { status: { type: 'string', multiple: true } }, { min: 1, max: 2 })

describe('parseArguments', () => {
  it('parseArguments accepts options and positionals in any order, with the common options', () => {
    expect(parse('a', '--status', 'x', '--ledger=l.db', 'b', '--status', 'y', '--json')).toMatchObject({
      values: { status: ['x', 'y'], ledger: 'l.db', json: true },
      positionals: ['a', 'b'],
    })
  })

  it('parseArguments accepts arguments that begin with a dash after --', () => {
    expect(parse('a', '--', '-5').positionals).toEqual(['a', '-5'])
  })

  it('parseArguments names the nearest option for an unknown one', () => {
    expect(() => parse('a', '--stauts', 'x')).toThrowError(
      /no option --stauts. Did you mean "--status"\? Usage: errand ps/,
    )
    // The dashes do not count: a user who typed --on did not mean --json.
    expect(() => parse('a', '--on', 'x')).toThrowError(/no option --on\. Usage/)
  })

  it.each([
    ['too few', [], /missing\. Usage: errand ps ID/],
    ['too many', ['a', 'b', 'c'], /Unexpected argument "c"/],
    ['an option without its value', ['a', '--status'], /Usage: errand ps/],
    ['a value for an option that takes none', ['a', '--json=1'], /Usage: errand ps/],
  ])('parseArguments refuses %s arguments and prints the usage', (_what, args, message) => {
    expect(() => parse(...args)).toThrowError(message)
  })

  it('parseArguments requires no positionals with --help', () => {
    expect(parse('--help').values.help).toBe(true)
  })
})

it('wholeNumber refuses other texts and says what would work', () => {
  expect(wholeNumber('concurrency', '4', 1)).toBe(4)
  for (const text of ['0', '1.5', 'many', '', '9007199254740993']) {
    expect(() => wholeNumber('concurrency', text, 1)).toThrowError(/--concurrency takes a whole number of at least 1/)
  }
})

it('oneOf names the nearest choice for another word', () => {
  expect(() => oneOf('status', 'complete', ['completed', 'failed'])).toThrowError(/Did you mean "completed"\?/)
  expect(() => oneOf('status', 'done', ['completed', 'failed'])).toThrowError(/Did you mean "completed"\?/)
})
