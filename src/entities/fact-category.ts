// The category of a fact by its words. Whole words match, with English endings: "author" does not match `auth`, and "prefix" does not
// match `fix`.
import { once } from '../core/once.ts'
import { categoryNamed } from './confidence.ts'
import { comparable, spaced, unspaced } from './fact-tokens.ts'
import type { MemorableType } from './memory.ts'

export interface CategoryRule {
  category: string
  /** Plain words. English words also match with their endings, all others exactly. */
  words: readonly string[]
}

/** The first rule that matches decides. */
export const defaultRules: readonly CategoryRule[] = [
  { category: 'bug_fix', words: ['bug', 'buggy', 'bugfix', 'hotfix', 'fix', 'error', 'issue'] },
  { category: 'architecture', words: ['architect', 'architecture', 'design', 'structure'] },
  {
    category: 'security',
    words: [
      'security',
      'vulnerability',
      'vulnerable',
      'auth',
      'authn',
      'authz',
      'authenticate',
      'authorize',
      'authorise',
    ],
  },
  { category: 'performance', words: ['performance', 'latency', 'throughput', 'bottleneck'] },
  { category: 'pattern', words: ['pattern', 'convention'] },
]

/**
 * The category of a fact: `decision` and `discovery` by the type of the observation, else that of the first rule with a word in
 * the text, else `insight`.
 *
 * @example
 * inferCategory('insight', 'Authentication failed for guests') // 'security'
 */
export function inferCategory(
  type: MemorableType,
  text: string,
  rules: readonly CategoryRule[] = defaultRules,
): string {
  if (type !== 'insight') return type
  const compared = comparable(text)
  const rule = compiled(rules).find(({ patterns }) => patterns.some((pattern) => pattern.test(compared)))
  return rule ? rule.category : 'insight'
}

interface CompiledRule {
  category: string
  patterns: RegExp[]
}

/** Cached by the list of rules, of which an engine has one. */
const compiledRules = new WeakMap<readonly CategoryRule[], CompiledRule[]>()

function compiled(rules: readonly CategoryRule[]): CompiledRule[] {
  const known = compiledRules.get(rules)
  if (known) return known
  const fresh = rules.map(({ category, words }) => ({
    category: categoryNamed(category),
    patterns: words.filter((word) => word.trim() !== '').map(patternOf),
  }))
  compiledRules.set(rules, fresh)
  return fresh
}

/** An underscore is not a letter, so that `auth` matches in `auth_token`. */
const notWithinWord = { before: `(?<![${spaced}\\p{M}])`, after: `(?![${spaced}\\p{M}])` }
const startsUnspaced = once(() => new RegExp(`^${unspaced}`, 'v'))
const endsUnspaced = once(() => new RegExp(`${unspaced}\\p{M}*$`, 'v'))

/** In scripts without spaces between words, adjacent letters do not prevent a match. */
function patternOf(given: string): RegExp {
  const word = comparable(given).trim()
  const before = startsUnspaced().test(word) ? '' : notWithinWord.before
  const after = endsUnspaced().test(word) ? '' : notWithinWord.after
  const forms = isEnglish.test(word) ? formsOf(word) : escaped(word)
  return new RegExp(`${before}(?:${forms})${after}`, 'v')
}

/** Possibly several words; the last one is inflected. */
const isEnglish = /^[a-z]+(?:[ -][a-z]+)*$/

/** The forms of an English word, as a part of a regular expression. */
function formsOf(word: string): string {
  if (word.endsWith('e')) return formsOfSilentE(word.slice(0, -1))
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}(?:y(?:ing)?|ies|ied|iers?)`
  const plural = /(?:[sxz]|[cs]h)$/.test(word) ? 'es' : 's'
  const suffixes = '(?:ed|ing|ers?)'
  const last = word.slice(-1)
  // One closed syllable doubles its consonant (bug, bugged), longer words may (submit, submitted; error, errored).
  if (/^[^aeiou]*[aeiou][^aeiouwxy]$/.test(word)) return `${word}(?:${plural}|${last}${suffixes})?`
  if (/[^aeiou][aeiou][^aeiouwxy]$/.test(word)) return `${word}(?:${plural}|${last}?${suffixes})?`
  return `${word}(?:${plural}|${suffixes})?`
}

/** Without its last letter: fix(e) keeps it before a consonant only, authenticat(e) and authoriz(e) become nouns, structur(e) an adjective. */
function formsOfSilentE(stem: string): string {
  const suffixes = ['e(?:[sd]|rs?|ing)?', 'ing']
  if (stem.endsWith('at')) suffixes.push('ions?', 'ors?')
  if (/i[sz]$/.test(stem)) suffixes.push('ations?')
  if (stem.endsWith('ur')) suffixes.push('al(?:ly)?')
  return `${stem}(?:${suffixes.join('|')})`
}

function escaped(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
