// Whether two facts about one subject contradict each other, as far as their words show it: by their numbers, or because one
// of them denies. That they are about one subject is for the caller to find: by `subjectOf`, or by their likeness.
import { comparable, spaced, splitRun, unspaced, wordOrRun } from './fact-tokens.ts'

const negations = new Set(['not', 'no', 'never', 'without', 'cannot'])

/** They hold a sentence together and say nothing of what it is about. */
const functionText = new Set(
  (
    'the a an is are was were be been being to of for in on at by with and or it its this that ' +
    'has have had do does did will would should must can may'
  ).split(' '),
)

/**
 * The subject of a text: its distinct words, sorted and joined by spaces, without its numbers, its negations and what only
 * holds it together. Empty for a text that is about nothing, which is never compared.
 *
 * @example
 * subjectOf('The timeout is 30s') === subjectOf('Timeout is not 60s') // 'timeout'
 */
export function subjectOf(text: string): string {
  return [...readingOf(text).words].sort().join(' ')
}

/**
 * How two texts about one subject contradict each other: both have numbers, and not the same (with their units: 30s is not
 * 30ms), or one of them is negated and the other is not. Null when neither shows.
 */
export function disagree(a: string, b: string): 'numbers' | 'negation' | null {
  const [readingA, readingB] = [readingOf(a), readingOf(b)]
  const bothHaveNumbers = readingA.numbers.size > 0 && readingB.numbers.size > 0
  if (bothHaveNumbers && !hasSameMembers(readingA.numbers, readingB.numbers)) return 'numbers'
  return readingA.isNegated === readingB.isNegated ? null : 'negation'
}

function hasSameMembers(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && isWithin(a, b)
}

/** Whether the first has no numbers, and the second some. */
export function lacksNumbers(a: Reading, b: Reading): boolean {
  return a.numbers.size === 0 && b.numbers.size > 0
}

/**
 * Whether the first of two texts about the same is the vaguer one: it lacks the numbers of the other, or all its words and numbers are
 * in the other, which has more.
 */
export function saysLess(a: Reading, b: Reading): boolean {
  if (lacksNumbers(a, b)) return true
  const isSmaller = a.words.size + a.numbers.size < b.words.size + b.numbers.size
  return isSmaller && isWithin(a.words, b.words) && isWithin(a.numbers, b.numbers)
}

function isWithin(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].every((member) => b.has(member))
}

/** What a text says, as far as its words show it. */
export interface Reading {
  words: Set<string>
  /** Normalized, each with its unit. */
  numbers: Set<string>
  /** Denied an odd number of times: twice is an assertion again. */
  isNegated: boolean
}

const sign = '(?<=^|[\\s\\(\\[=:<>])[\\-−]'
const digits = '(?:\\p{Nd}{1,3}(?:,\\p{Nd}{3})+(?!\\p{Nd})(?:\\.\\p{Nd}+)?|\\p{Nd}+(?:\\.\\p{Nd}+)*)'
const spacedLetter = `[${spaced}--\\p{N}]`
const unspacedLetter = `[${unspaced}--\\p{N}]`
const unit = `%|${spacedLetter}{1,3}(?![${spaced}\\p{M}])|${unspacedLetter}{1,3}(?![${unspaced}\\p{M}])`
/** More letters than a unit has are a word of their own, as in 30seconds; with digits behind them all is one name, as in 3d2x. */
const number = `(?<value>(?:${sign})?${digits})(?:(?<unit>${unit})|(?!${spacedLetter}*\\p{N}))`
/** What is contracted to an apostrophe and a few letters is a negation or holds the sentence together. */
const contraction = `(?:(?<denial>(?<=n)'t)|'(?:s|re|ve|ll|d|m))(?!${spaced})`
const tokenPattern = new RegExp(`${number}|(?<run>${wordOrRun})(?:${contraction})?`, 'gv')

export function readingOf(text: string): Reading {
  const words = new Set<string>()
  const numbers = new Set<string>()
  let denials = 0
  for (const { groups } of comparable(text).replace(/[‘’ʼ]/g, "'").matchAll(tokenPattern)) {
    const { value, unit: unitOfValue = '', run, denial } = groups as Record<string, string | undefined>
    if (value !== undefined) numbers.add(normalizedNumber(value) + unitOfValue)
    else if (denial !== undefined || negations.has(run as string)) denials++
    else if (!functionText.has(run as string)) for (const word of splitRun(run as string)) words.add(word)
  }
  return { words, numbers, isNegated: denials % 2 === 1 }
}

/** 1,000 as 1000 and 3.50 as 3.5, however many digits there are. A version like 1.2.0 is no decimal and stays as it is. */
function normalizedNumber(value: string): string {
  const plain = value.replaceAll(',', '').replace('−', '-')
  const [whole, fraction = '', ...further] = plain.split('.')
  if (further.length > 0) return plain
  const significant = fraction.replace(/^(.*[^0])?0*$/, '$1')
  return (whole as string).replace(/^(-?)0+(?=.)/, '$1') + (significant && `.${significant}`)
}
