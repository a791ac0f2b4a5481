// The subject of a fact, and contradictions between two facts about one subject.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { disagree, subjectOf } from '../../src/entities/disagreement.ts'

describe('the subject of a text', () => {
  it('subjectOf returns the distinct words in alphabetical order, without stop words', () => {
    expect(subjectOf('The timeout of the login is for the API: a login timeout')).toBe('api login timeout')
    expect(subjectOf('It has been that x, and y')).toBe('x y')
  })

  it.each([
    ['The timeout is 30s', 'The timeout is not 60 '],
    ['Retries: 3', 'Retries: 1,000'],
    ['Coverage must be 80%', 'Coverage should be 75.5%'],
    ['Uses the cache', 'Never uses the cache'],
    ['Do use tabs', "Don't use tabs"],
    ['It does support IPv6', 'It doesn’t support IPv6'],
    ['The server can answer', 'The server cannot answer'],
    ['The server can answer', "The server can't answer"],
    ['Works with a token', 'Works without token'],
    ['It is slow', "It's slow"],
    ["We've two of them", 'We have two of them'],
    ['The limit is 30seconds', 'The limit is 60 seconds'],
    ['超时时间是30', '超时时间是60'],
    ['超时时间是30秒', '超时时间是60分'],
  ])('subjectOf is equal for "%s" and "%s"', (a, b) => {
    expect(subjectOf(a)).toBe(subjectOf(b))
    expect(subjectOf(a)).not.toBe('')
  })

  it.each([
    ['Uses v1 of it', 'Uses v2 of it'],
    ['Commit 3d2x', 'Commit 4d2x'],
    ['Option x is on', 'Option y is on'],
    ["O'Brien said so", "O'Neill said so"],
    ['修复登录错误', '修复登录'],
  ])('subjectOf differs for "%s" and "%s"', (a, b) => {
    expect(subjectOf(a)).not.toBe(subjectOf(b))
  })

  it.each(['', '30', 'It is not 3.5', '… !', 'the a an'])('subjectOf is empty for "%s"', (text) => {
    expect(subjectOf(text)).toBe('')
  })
})

describe('two texts about one subject', () => {
  it.each([
    ['The timeout is 30s', 'The timeout is 60s'],
    ['The timeout is 30s', 'The timeout is 30ms'],
    ['Coverage is 80%', 'Coverage is 80'],
    ['Ports 80 and 443', 'Ports 80 and 8080'],
    ['Ports 80 and 443', 'Port 80'],
    ['Exit code is 1', 'Exit code is -1'],
    ['Version 1.2.0 is in use', 'Version 1.2 is in use'],
    ['Released on 2024-01-05', 'Released on 2024-02-05'],
    ['Runs v1.2', 'Runs v1.3'],
    ['At most 9007199254740992 rows', 'At most 9007199254740993 rows'],
    ['The timeout is 30', 'The timeout is not 60'],
    ['超时时间是30秒', '超时时间是60秒'],
    ['超时时间是30秒后重试', '超时时间是60秒后重试'],
    ['الحد ٣٠', 'الحد ٦٠'],
  ])('disagree finds different numbers: "%s", "%s"', (a, b) => {
    expect(disagree(a, b)).toBe('numbers')
    expect(disagree(b, a)).toBe('numbers')
  })

  it.each([
    ['Use tabs', 'Do not use tabs'],
    ['Use tabs', "Don't use tabs"],
    ['USE TABS', 'DON’T USE TABS'],
    ['The cache is used', 'The cache is never used'],
    ['Runs with a token', 'Runs without a token'],
    ['There is a limit', 'There is no limit'],
    ['It can be undone', 'It cannot be undone'],
    ['Waits 30s', 'Does not wait 30s'],
    ['Waits 30s', 'Does not wait'],
  ])('disagree finds a negation: "%s", "%s"', (a, b) => {
    expect(disagree(a, b)).toBe('negation')
    expect(disagree(b, a)).toBe('negation')
  })

  it.each([
    ['The limit is 1,000', 'The limit is 1000'],
    ['The limit is 3.50', 'The limit is 3.5'],
    ['The limit is 007', 'The limit is 7'],
    ['The limit is 5.00', 'The limit is 5'],
    ['The limit is 0', 'The limit is 0.0'],
    ['The offset is -5', 'The offset is −5'],
    ['The limit is 1,234,567.10', 'The limit is 1234567.1'],
    ['Between 5-10 rows', 'Between 10 and 5 rows'],
    ['The limit is 30S', 'The limit is 30s'],
    ['The limit is ３０', 'The limit is 30'],
    ['The limit is 30', 'There is a limit'],
    ['It is not impossible, not at all', 'It is possible'],
    ['Never use tabs', 'Do not use tabs'],
    ['Names: 3d2x', 'Names: 4d2x'],
    ['About noon', 'About a note'],
    ['', ''],
  ])('disagree finds no contradiction: "%s", "%s"', (a, b) => {
    expect(disagree(a, b)).toBeNull()
    expect(disagree(b, a)).toBeNull()
  })

  it('disagree finds no contradiction between a text and any order of its words', () => {
    const word = fc.constantFrom('use', 'tabs', '30s', '1,000', 'not', "don't", '80%', '缓存', 'x')
    const texts = fc
      .array(word)
      .chain((words) => fc.shuffledSubarray(words, { minLength: words.length }).map((other) => [words, other] as const))
    fc.assert(
      fc.property(texts, ([words, other]) => {
        expect(disagree(words.join(' '), other.join(' '))).toBeNull()
        expect(subjectOf(words.join(' '))).toBe(subjectOf(other.join(' ')))
      }),
    )
  })
})

it.each([
  ['digits with a letter among them', `${'1'.repeat(500_000)}a1`],
  ['a fraction of zeros', `1.${'0'.repeat(500_000)}1`],
  ['a whole number of zeros', '0'.repeat(500_000)],
  ['digits and dots', `${'1.'.repeat(250_000)}1a1`],
  ['digits and commas', `${'100,'.repeat(125_000)}1a1`],
  ['letters behind a digit', `1${'a'.repeat(500_000)}1`],
  ['apostrophes', "n'".repeat(250_000)],
])('readingOf reads a text of half a million characters quickly: %s', (_what, text) => {
  expect(disagree(text, text)).toBeNull()
})
