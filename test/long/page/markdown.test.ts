import { expect, it } from 'vitest'
import { markdownOf, maxMarkdownLength } from '../../../page/src/model/markdown.ts'

it.each([
  ['brackets', '['],
  ['closed brackets', '[]'],
  ['targets', ']('],
  ['links within links', '[a]('],
  ['stars', '*'],
  ['stars and spaces', '** '],
  ['words with stars', '*a **b '],
  ['quotes', '>'],
  ['quoted lines', '> > > > > > > >\n'],
  ['lists', '- '],
  ['nested items', '- a\n  - b\n    - c\n'],
  ['backticks', '`` ` '],
  ['URLs with parentheses', 'https://a.test/)'],
  ['closing parentheses', ')'],
  ['bars', '|'],
  ['short lines of a table', '|\n'],
  ['dashes', '-'],
  ['dashes and spaces', '- - '],
  ['spaces', ' '],
  ['hashes', '#'],
  ['titles', ']( "'],
  ['tildes', '~~~\n'],
])('the longest text of %s takes less than a second', (_name, unit) => {
  const text = `https://a.test/${unit.repeat(Math.ceil(maxMarkdownLength / unit.length))}`.slice(0, maxMarkdownLength)
  // The fastest of three, since other processes may take the processor meanwhile.
  const times = [1, 2, 3].map(() => {
    const began = performance.now()
    markdownOf(text.slice('https://a.test/'.length))
    markdownOf(text)
    return performance.now() - began
  })
  expect(Math.min(...times)).toBeLessThan(1_000)
})
