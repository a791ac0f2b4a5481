// Whether the texts of two facts about one subject contradict each other: by their numbers, or because one of them is negated. The
// caller decides whether they are about one subject: by `subjectOf`, or by their similarity.
import { once } from '../core/once.ts'
import { comparable, spaced, splitRun, unspaced, wordOrRun } from './fact-tokens.ts'

const negations = new Set(['not', 'no', 'never', 'without', 'cannot'])

/** Stop words, which carry no subject. */
const functionText = new Set(
  (
    'the a an is are was were be been being to of for in on at by with and or it its this that ' +
    'has have had do does did will would should must can may'
  ).split(' '),
)

/**
 * The subject of a text: its distinct words, sorted and joined by spaces, without numbers, negations and stop words. Empty for a text
 * without other words, which is never compared.
 *
 * @example
 * subjectOf('The timeout is 30s') === subjectOf('Timeout is not 60s') // 'timeout'
 */
export function subjectOf(text: string): string {
  return [...readingOf(text).words].sort().join(' ')
}

/**
 * How two texts about one subject contradict each other: both have numbers that differ (with their units: 30s is not 30ms), or only one
 * of them is negated. Null when neither applies.
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
 * Whether the first of two texts about one subject is less specific: it lacks the numbers of the other, or its words and numbers are a
 * proper subset of the other's.
 */
export function saysLess(a: Reading, b: Reading): boolean {
  if (lacksNumbers(a, b)) return true
  const isSmaller = a.words.size + a.numbers.size < b.words.size + b.numbers.size
  return isSmaller && isWithin(a.words, b.words) && isWithin(a.numbers, b.numbers)
}

function isWithin(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].every((member) => b.has(member))
}

/** The words, numbers and negation of a text. */
export interface Reading {
  words: Set<string>
  /** Normalized, each with its unit. */
  numbers: Set<string>
  /** It has an odd number of negations. */
  isNegated: boolean
}

const sign = '(?<=^|[\\s\\(\\[=:<>])[\\-−]'
const digits = '(?:\\p{Nd}{1,3}(?:,\\p{Nd}{3})+(?!\\p{Nd})(?:\\.\\p{Nd}+)?|\\p{Nd}+(?:\\.\\p{Nd}+)*)'
const spacedLetter = `[${spaced}--\\p{N}]`
const unspacedLetter = `[${unspaced}--\\p{N}]`
const unit = `%|${spacedLetter}{1,3}(?![${spaced}\\p{M}])|${unspacedLetter}{1,3}(?![${unspaced}\\p{M}])`
/** More letters than a unit has are a separate word, as in 30seconds; followed by digits, all is one name, as in 3d2x. */
const number = `(?<value>(?:${sign})?${digits})(?:(?<unit>${unit})|(?!${spacedLetter}*\\p{N}))`
/** A contraction with an apostrophe is a negation or a stop word. */
const contraction = `(?:(?<denial>(?<=n)'t)|'(?:s|re|ve|ll|d|m))(?!${spaced})`
const tokenPattern = once(() => new RegExp(`${number}|(?<run>${wordOrRun})(?:${contraction})?`, 'gv'))

export function readingOf(text: string): Reading {
  const words = new Set<string>()
  const numbers = new Set<string>()
  let denials = 0
  for (const { groups } of comparable(text).replace(/[‘’ʼ]/g, "'").matchAll(tokenPattern())) {
    const { value, unit: unitOfValue = '', run, denial } = groups as Record<string, string | undefined>
    if (value !== undefined) numbers.add(normalizedNumber(value) + unitOfValue)
    else if (denial !== undefined || negations.has(run as string)) denials++
    else if (!functionText.has(run as string)) for (const word of splitRun(run as string)) words.add(word)
  }
  return { words, numbers, isNegated: denials % 2 === 1 }
}

/** 1,000 as 1000 and 3.50 as 3.5, with any number of digits. A version like 1.2.0 is not a decimal and stays unchanged. */
function normalizedNumber(value: string): string {
  const plain = value.replaceAll(',', '').replace('−', '-')
  const [whole, fraction = '', ...further] = plain.split('.')
  if (further.length > 0) return plain
  const significant = fraction.replace(/^(.*[^0])?0*$/, '$1')
  return (whole as string).replace(/^(-?)0+(?=.)/, '$1') + (significant && `.${significant}`)
}
