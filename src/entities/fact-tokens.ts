// What a text is to the comparison of facts: the set of its words. No model is asked, so every ledger finds the same duplicates.
// Facts are looked up by their words, and the last three functions say how few of these suffice to miss none that is alike.

/**
 * What a word is made of, as parts of regular expressions with the `v` flag: a letter or digit of the scripts that put spaces
 * between words, and one of those that put none.
 */
const unspacedScripts = '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmr}\\p{scx=Mymr}]'
export const unspaced = `[[\\p{L}\\p{N}]&&${unspacedScripts}]`
export const spaced = `[[\\p{L}\\p{N}]--${unspacedScripts}]`

/** A word, or a run of characters in which nobody can see where the words end. */
export const wordOrRun = `${spaced}[${spaced}\\p{M}]*|${unspaced}[${unspaced}\\p{M}]*`

const wordOrRunPattern = new RegExp(wordOrRun, 'gv')
const characterPattern = /.\p{M}*/gsu
const startsUnspacedPattern = new RegExp(`^${unspaced}`, 'v')

/**
 * Normalization sorts the marks on a letter, which takes the square of their number, so that a text made for it could hold up the
 * process for minutes. No language has more than a few; of more than thirty (where Unicode's stream-safe format draws the line)
 * the rest is dropped. The two halfwidth signs become marks by being normalized.
 */
const tooManyMarksPattern = /([\p{M}\uFF9E\uFF9F]{30})[\p{M}\uFF9E\uFF9F]+/gu

/** The text as it is compared: what only looks different (width, ligatures, composed accents) and letter case are gone. */
export function comparable(text: string): string {
  return text.replace(tooManyMarksPattern, '$1').normalize('NFKC').toLowerCase()
}

/** A word as it is; a run without spaces as its overlapping pairs of characters, so that near-equal sentences share most. */
export function splitRun(run: string): string[] {
  if (!startsUnspacedPattern.test(run)) return [run]
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

/** The words of a text in order, each as often as it stands there. */
export function* everyWord(text: string): Generator<string, void, void> {
  for (const [run] of comparable(text).matchAll(wordOrRunPattern)) {
    for (const word of splitRun(run)) if (!isSingleCharacter(word)) yield word
  }
}

function isSingleCharacter(word: string): boolean {
  return word.length === String.fromCodePoint(word.codePointAt(0) as number).length
}

/** Jaccard: how many of all their words two texts share, 0 to 1. Who has no words is like nobody, not even like its own kind. */
export function likeness(
  a: ReadonlySet<string> | readonly string[],
  b: ReadonlySet<string> | readonly string[],
): number {
  const [wordsA, wordsB] = [setOf(a), setOf(b)]
  if (wordsA.size === 0 || wordsB.size === 0) return 0
  const [fewer, more] = wordsA.size <= wordsB.size ? [wordsA, wordsB] : [wordsB, wordsA]
  let shared = 0
  for (const word of fewer) if (more.has(word)) shared++
  // One rounding alone, which makes 17 of 20 the very number that 0.85 is written as, and not more than it.
  return shared / (fewer.size + more.size - shared)
}

function setOf(words: ReadonlySet<string> | readonly string[]): ReadonlySet<string> {
  return words instanceof Set ? words : new Set(words)
}

/** Bounds are this much wider than computed, because a product of doubles may be on the wrong side of a whole number. */
const slack = 1e-9

/**
 * The least number of words that a text of `size` words shares with any that is alike beyond the threshold (0 to 1). There are
 * at least `size` words in both together, so it is more than this part of them.
 */
export function leastShared(size: number, threshold: number): number {
  return Math.max(1, Math.min(size, Math.floor(threshold * size * (1 - slack)) + 1))
}

/**
 * How many words of a text of `size` words have to be looked up, whichever they are, to meet every text that is alike beyond
 * the threshold: one more than such a text can do without.
 */
export function probeCount(size: number, threshold: number): number {
  return size - leastShared(size, threshold) + 1
}

/** How many words a text can have, `least` to `most`, that is alike beyond the threshold to one of `size` words. */
export function sizesAlike(size: number, threshold: number): { least: number; most: number } {
  const least = leastShared(size, threshold)
  if (threshold === 0) return { least, most: Number.MAX_SAFE_INTEGER }
  const most = Math.ceil((size / threshold) * (1 + slack)) - 1
  return { least, most: Math.min(most, Number.MAX_SAFE_INTEGER) }
}
