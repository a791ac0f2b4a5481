// No text of a task can send commands to the terminal that shows it.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { visibleJson } from '../../../src/core/visible-json.ts'
import { formatTable } from '../../../src/surfaces/terminal/table.ts'
import {
  cleanLine,
  cleanText,
  displayWidth,
  firstLine,
  fitWidth,
  lastLine,
  padWidth,
  wrapIndented,
  wrapText,
} from '../../../src/surfaces/terminal/terminal-text.ts'

describe('terminal text', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['titles', '\u001b]0;owned\u0007text', 'text'],
    ['links', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['one-byte control sequences', '\u009b31mred', 'red'],
    ['bells, backspaces and carriage returns', 'a\u0007b\u0008c\rd', 'abcd'],
    ['direction overrides', 'ab\u202ecd\u2066ef', 'abcdef'],
    ['a lone escape', 'a\u001b', 'a'],
  ])('cleanText removes %s', (_what, text, clean) => {
    expect(cleanText(text)).toBe(clean)
  })

  it('cleanText keeps line breaks, tabs and letters of any script', () => {
    expect(cleanText('a\tb\r\nc\nĐà Nẵng 日本 👍')).toBe('a\tb\nc\nĐà Nẵng 日本 👍')
  })

  it('cleanText leaves no control character of any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(/(?![\n\t])\p{Cc}/u.test(cleanText(text))).toBe(false)
        expect(/\p{Cc}/u.test(cleanLine(text))).toBe(false)
      }),
    )
  })

  it('visibleJson escapes control characters, and parses to the same value', () => {
    const text = 'a\u009b31mb\u202ec\u2028d\u001b[0m\ufeff 日本\n'
    const json = visibleJson(JSON.stringify({ text }))
    expect(json).toBe('{"text":"a\\u009b31mb\\u202ec\\u2028d\\u001b[0m\\ufeff 日本\\n"}')
    // A Khmer vowel, a tag of no plane in use, and unassigned ones that fonts show as nothing.
    expect(visibleJson('\u17b4\u{e0080}\u2065\ufff1\u2800\u3164')).toBe(
      '\\u17b4\\udb40\\udc80\\u2065\\ufff1\\u2800\\u3164',
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => {
        const printed = visibleJson(JSON.stringify(any))
        expect(JSON.parse(printed)).toBe(any)
        expect(cleanText(printed)).toBe(printed)
      }),
    )
  })

  it('firstLine and lastLine skip blank lines', () => {
    expect(firstLine('\n  \none\ntwo\n')).toBe('one')
    expect(lastLine('one\n two \n\n')).toBe('two')
    expect(lastLine('')).toBe('')
  })

  it('displayWidth is the width that a terminal shows', () => {
    expect(displayWidth('abc')).toBe(3)
    expect(displayWidth('日本')).toBe(4)
    expect(displayWidth('e\u0301')).toBe(1)
  })

  it.each([
    ['a flag', '🇩🇪', 2],
    ['a family, which is five code points', '👨‍👩‍👦', 2],
    ['a skin tone', '👍🏽', 2],
    ['a heart in colour, and as text', '❤️❤', 3],
    ['a keycap', '1️⃣', 2],
    ['an emoji outside of the older blocks', '🪿🛜', 4],
    ['the sign of a running task', '▶', 1],
    ['halfwidth katakana with its mark', 'ｶﾞ', 2],
    ['Hangul, composed and in parts', '한\u1112\u1161\u11ab', 4],
    ['fullwidth letters', 'ＡＢ', 4],
    ['Thai with vowels above and below', 'ที่สู้', 2],
    ['a joiner that joins nothing', 'a\u200d', 1],
  ])('displayWidth counts the columns of %s', (_what, text, columns) => {
    expect(displayWidth(text)).toBe(columns)
  })

  it('wrapIndented continues the description of an option below its beginning', () => {
    expect(wrapIndented('Usage: one two\n  --port N   the port of the server\n  --host\nrun\n', 28)).toEqual([
      'Usage: one two',
      '  --port N   the port of the',
      '             server',
      '  --host',
      'run',
      '',
    ])
    expect(wrapIndented('    errand run plan.yaml  # run a plan', 24)).toEqual([
      '    errand run plan.yaml',
      '    # run a plan',
    ])
  })

  it('wrapText breaks lines at spaces, a longer word between characters, and loses no word', () => {
    expect(wrapText('one two three', 7)).toEqual(['one two', 'three'])
    expect(wrapText('see https://example.org now', 10)).toEqual(['see', 'https://ex', 'ample.org', 'now'])
    expect(wrapText('日本語 の 🇩🇪🇫🇷', 5)).toEqual(['日本', '語 の', '🇩🇪🇫🇷'])
    expect(wrapText('a\n\nb', 5)).toEqual(['a', '', 'b'])
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'word', 'longerword', '日本語', '👨‍👩‍👦')),
        fc.integer({ min: 2, max: 12 }),
        (words, columns) => {
          const lines = wrapText(words.join(' '), columns)
          for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns)
          expect(lines.join('')).toBe(lines.join('').replaceAll('  ', ' '))
          expect(lines.join('').replaceAll(' ', '')).toBe(words.join(''))
        },
      ),
    )
  })

  it('fitWidth cuts between characters as a reader sees them, never within one', () => {
    expect(fitWidth('👨‍👩‍👦👨‍👩‍👦', 3)).toBe('👨‍👩‍👦…')
    expect(fitWidth('👨‍👩‍👦👨‍👩‍👦', 2)).toBe('…')
    expect(fitWidth('🇩🇪🇫🇷🇮🇹', 5)).toBe('🇩🇪🇫🇷…')
    expect(fitWidth('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…')
  })

  it('fitWidth cuts to a width with an ellipsis, and never exceeds it', () => {
    expect(fitWidth('abcdef', 4)).toBe('abc…')
    expect(fitWidth('日本語', 4)).toBe('日…')
    expect(fitWidth('abc', 3)).toBe('abc')
    expect(fitWidth('abc', 0)).toBe('')
    expect(padWidth('日', 4)).toBe('日  ')
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.nat(20),
        (text, columns) => displayWidth(fitWidth(text, columns)) <= columns,
      ),
    )
  })

  it('formatTable aligns columns, and cuts the last one to the terminal', () => {
    expect(
      formatTable(
        [
          { seq: 1, name: 'a\u001b[2Jb\nc' },
          { seq: 10, name: 'long name' },
        ],
        { '#': ({ seq }) => seq, name: ({ name }) => name },
        9,
      ),
    ).toEqual(['#   name', '1   ab c', '10  long…'])
  })
})
