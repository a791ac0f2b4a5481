// What a refused value should have been: the accepted values and the nearest of them, instead of zod's "Invalid input".

import type { z } from 'zod'
import { didYouMean } from './did-you-mean.ts'
import { nearestName } from './errors.ts'
import { startOf } from './storable-text.ts'
import { typeName } from './type-name.ts'

/** Values that a message lists; of more it says how many there are. */
const maxListed = 50
const maxQuoted = 60

/** Words that people use for states, by which no accepted one is found from its spelling. */
const synonyms: Readonly<Record<string, string>> = {
  done: 'completed',
  finished: 'completed',
  error: 'failed',
  stopped: 'canceled',
}

/**
 * The complaint about a value that is none of the accepted ones. `others` describes what is accepted besides them: `a function (a, b)`.
 *
 * @example notOneOf(['fail', 'rerun'], 'rerunn') // expected one of fail, rerun, got "rerunn". Did you mean "rerun"?
 */
export function notOneOf(values: readonly unknown[], given: unknown, others: readonly string[] = []): string {
  const names = values.map(String)
  const listed = names.length > maxListed ? [...names.slice(0, maxListed), `… (${names.length} in all)`] : names
  const one = names.length === 1 && others.length === 0 ? '' : 'one of '
  const got = typeof given === 'string' ? `, got ${JSON.stringify(startOf(given, maxQuoted))}` : ''
  const nearest = typeof given === 'string' ? nearestValue(startOf(given, maxQuoted), names) : undefined
  const rest = others.map((other) => ` or ${other}`).join('')
  return `expected ${one}${listed.join(', ')}${rest}${got}${nearest === undefined ? '' : `.${didYouMean(nearest)}`}`
}

/** The nearest accepted name: by spelling, by its beginning, or by what people call it. */
export function nearestValue(given: string, names: readonly string[]): string | undefined {
  const meant = Object.hasOwn(synonyms, given) ? synonyms[given] : undefined
  if (meant !== undefined && names.includes(meant)) return meant
  const begun = given === '' ? [] : names.filter((name) => name.startsWith(given))
  return nearestName(given, names) ?? (begun.length === 1 ? begun[0] : undefined)
}

/** An error map of zod, for every value from outside. Schemas with messages of their own keep them. */
export const explainIssue: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_value') return notOneOf(issue.values, issue.input)
  if (issue.code === 'invalid_type') return notOfType(issue.expected, issue.input)
  if (issue.code === 'invalid_union') return explainUnion(issue.errors, issue.input)
  return undefined
}

/** The values of all alternatives together, and the types of the others. Undefined leaves the message to zod. */
function explainUnion(alternatives: readonly z.core.$ZodIssue[][], given: unknown): string | undefined {
  const issues = alternatives.flat().filter(({ path }) => path.length === 0)
  const values = issues.flatMap((issue) => (issue.code === 'invalid_value' ? issue.values : []))
  const types = issues.flatMap((issue) => (issue.code === 'invalid_type' ? [withArticle(issue.expected)] : []))
  if (values.length > 0) return notOneOf(values, given, types)
  const own = issues.flatMap((issue) => (issue.code === 'custom' ? [issue.message.replace(/^expected /, '')] : []))
  return types.length + own.length === 0 ? undefined : `expected ${[...types, ...own].join(' or ')}`
}

function notOfType(expected: string, given: unknown): string {
  const got =
    given === null || Number.isNaN(given) || given === Number.POSITIVE_INFINITY
      ? String(given)
      : withArticle(typeName(given))
  return `expected ${withArticle(expected)}, ${given === undefined ? 'but it is missing' : `got ${got}`}`
}

function withArticle(type: string): string {
  if (type === 'array') return 'a list'
  if (type === 'int') return 'a whole number'
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}

/** The issue that says most: of a union, the one inside of the alternative that the value resembles. */
export function innermostIssue(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue
  const inside = issue.errors.find((each) => each.length > 0 && each.every(({ path }) => path.length > 0))?.[0]
  if (inside === undefined) return issue
  return innermostIssue({ ...inside, path: [...issue.path, ...inside.path] })
}
