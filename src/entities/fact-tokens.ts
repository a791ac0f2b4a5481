// A text as facts are compared: the set of its words. No model is involved, so every ledger finds the same duplicates. Facts are looked
// up by their words; the last three functions compute how few words suffice to find every similar fact.
import { once } from '../core/once.ts'

/**
 * Character classes of words, for regular expressions with the `v` flag: letters and digits of scripts without spaces between words,
 * and those of scripts with spaces.
 */
const unspacedScripts = '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmr}\\p{scx=Mymr}]'
export const unspaced = `[[\\p{L}\\p{N}]&&${unspacedScripts}]`
export const spaced = `[[\\p{L}\\p{N}]--${unspacedScripts}]`

/** A word, or a run of characters of a script without spaces. */
export const wordOrRun = `${spaced}[${spaced}\\p{M}]*|${unspaced}[${unspaced}\\p{M}]*`

// V8 takes milliseconds to make a pattern of these classes.
const wordOrRunPattern = once(() => new RegExp(wordOrRun, 'gv'))
const characterPattern = /.\p{M}*/gsu
const startsUnspacedPattern = once(() => new RegExp(`^${unspaced}`, 'v'))

/**
 * Normalization sorts the marks on a letter in quadratic time, so a malicious text could block the process for minutes. No language needs
 * more than a few marks; those after the thirtieth (the limit of Unicode's stream-safe format) are dropped. The two halfwidth signs
 * become marks by normalization.
 */
const tooManyMarksPattern = /([\p{M}\uFF9E\uFF9F]{30})[\p{M}\uFF9E\uFF9F]+/gu

/** The text normalized for comparison: without differences of width, ligatures, composed accents and letter case. */
export function comparable(text: string): string {
  return text.replace(tooManyMarksPattern, '$1').normalize('NFKC').toLowerCase()
}

/** A word unchanged; a run without spaces as its overlapping pairs of characters, so that similar sentences share most of them. */
export function splitRun(run: string): string[] {
  if (!startsUnspacedPattern().test(run)) return [run]
  const characters = run.match(characterPattern) as string[]
  if (characters.length === 1) return characters
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`)
}

/**
 * The distinct words of a text in order of appearance: letters and digits of any script in lower case, split at everything else.
 * Words of a single character are left out.
 *
 * @example
 * wordsOf('Fix auth_token, fix 30s') // ['fix', 'auth', 'token', '30s']
 * wordsOf('修复登录') // ['修复', '复登', '登录']
 */
export function wordsOf(text: string): string[] {
  return [...new Set(everyWord(text))]
}

/** The words of a text in order, with repetitions. */
export function* everyWord(text: string): Generator<string, void, void> {
  for (const [run] of comparable(text).matchAll(wordOrRunPattern())) {
    for (const word of splitRun(run)) if (!isSingleCharacter(word)) yield word
  }
}

function isSingleCharacter(word: string): boolean {
  return word.length === String.fromCodePoint(word.codePointAt(0) as number).length
}

/** The Jaccard similarity of two sets of words, 0 to 1; 0 when one of them is empty, or both. */
export function likeness(
  a: ReadonlySet<string> | readonly string[],
  b: ReadonlySet<string> | readonly string[],
): number {
  const [wordsA, wordsB] = [setOf(a), setOf(b)]
  if (wordsA.size === 0 || wordsB.size === 0) return 0
  const [fewer, more] = wordsA.size <= wordsB.size ? [wordsA, wordsB] : [wordsB, wordsA]
  let shared = 0
  for (const word of fewer) if (more.has(word)) shared++
  // A single rounding, so that 17 of 20 equals the literal 0.85 exactly.
  return shared / (fewer.size + more.size - shared)
}

function setOf(words: ReadonlySet<string> | readonly string[]): ReadonlySet<string> {
  return words instanceof Set ? words : new Set(words)
}

/** Widens computed bounds, because a product of doubles may be on the wrong side of a whole number. */
const slack = 1e-9

/**
 * The minimum number of words that a text of `size` words shares with any text whose similarity is above the threshold (0 to 1). The
 * union has at least `size` words, so more than `threshold * size` are shared.
 */
export function minShared(size: number, threshold: number): number {
  return Math.max(1, Math.min(size, Math.floor(threshold * size * (1 - slack)) + 1))
}

/**
 * How many words of a text of `size` words, any of them, must be looked up to find every text whose similarity is above the threshold:
 * one more than such a text can lack.
 */
export function probeCount(size: number, threshold: number): number {
  return size - minShared(size, threshold) + 1
}

/** The number of words that a text can have whose similarity to one of `size` words is above the threshold. */
export function similarSizes(size: number, threshold: number): { min: number; max: number } {
  const min = minShared(size, threshold)
  if (threshold === 0) return { min, max: Number.MAX_SAFE_INTEGER }
  const max = Math.ceil((size / threshold) * (1 + slack)) - 1
  return { min, max: Math.min(max, Number.MAX_SAFE_INTEGER) }
}
