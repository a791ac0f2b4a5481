// Parses the arguments of a verb with node's parser. Errors name the nearest option and the usage of the verb.
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { didYouMean } from '../../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../../core/errors.ts'
import { nearestValue } from '../../core/explain-issue.ts'

/** Options that take a text. */
export function texts<const N extends string>(...names: N[]) {
  return each(names, { type: 'string' })
}

/** Options that take a text and may be given several times. */
export function lists<const N extends string>(...names: N[]) {
  return each(names, { type: 'string', multiple: true })
}

/** Options without a value. */
export function switches<const N extends string>(...names: N[]) {
  return each(names, { type: 'boolean' })
}

function each<N extends string, const O>(names: readonly N[], option: O): Readonly<Record<N, O>> {
  return Object.fromEntries(names.map((name) => [name, option])) as Record<N, O>
}

/** Options of every verb. */
export const commonOptions = { ...texts('ledger'), ...switches('json'), help: { type: 'boolean', short: 'h' } } as const

export type ArgumentsOf<O extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O & typeof commonOptions; strict: true; allowPositionals: true }>
>

/** The values of a verb's options; undefined for options that are not given. */
export type FlagsOf<O extends ParseArgsOptionsConfig> = ArgumentsOf<O>['values']

/** Arguments that every verb gets. */
export interface CommonArguments {
  values: { ledger?: string | undefined; json?: boolean | undefined }
  positionals: string[]
}

export interface Positionals {
  min?: number
  max?: number
}

/**
 * Parses the arguments after the verb.
 * @throws ErrandError UNKNOWN_OPTION { option, nearest } or INVALID_INPUT.
 */
export function parseArguments<O extends ParseArgsOptionsConfig>(
  usage: string,
  args: string[],
  options: O,
  { min = 0, max = Number.POSITIVE_INFINITY }: Positionals,
): ArgumentsOf<O> {
  const known = { ...commonOptions, ...options }
  const parsed = parseOptions(`errand ${usage}`, args, known) as ArgumentsOf<O>
  const { positionals } = parsed
  if ((parsed.values as { help?: boolean }).help) return parsed
  if (positionals.length < min) throw misuse(`An argument is missing. Usage: errand ${usage}`)
  if (positionals.length > max) throw misuse(`Unexpected argument "${positionals[max]}". Usage: errand ${usage}`)
  return parsed
}

/** @throws ErrandError INVALID_INPUT { option, value } for anything but a whole number of at least `min`. */
export function wholeNumber(option: string, text: string, min: number): number {
  const value = /^-?\d+$/.test(text.trim()) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= min) return value
  const range = min === Number.MIN_SAFE_INTEGER ? 'a whole number' : `a whole number of at least ${min}`
  throw misuse(`--${option} takes ${range}, got "${text}".`, { option, value: text })
}

/** @throws ErrandError INVALID_INPUT { option, value, nearest } for another word. */
export function oneOf<const W extends string>(option: string, text: string, words: readonly W[]): W {
  if ((words as readonly string[]).includes(text)) return text as W
  const nearest = nearestValue(text, words)
  const message = `--${option} takes one of ${words.join(', ')}, got "${text}".${didYouMean(nearest)}`
  throw misuse(message, { option, value: text, nearest })
}

/** An INVALID_INPUT for a wrong command. */
export function misuse(message: string, details: Record<string, unknown> = {}): ErrandError {
  return new ErrandError('INVALID_INPUT', message, details)
}

/**
 * Parses options and positionals with node's parser.
 * @throws ErrandError UNKNOWN_OPTION { option, nearest } or INVALID_INPUT.
 */
export function parseOptions<const O extends ParseArgsOptionsConfig>(usage: string, args: string[], options: O) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: true })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const option = /^Unknown option '(-[^']*)'/.exec(error.message)?.[1]
    if (option === undefined) throw new ErrandError('INVALID_INPUT', `${error.message}. Usage: ${usage}`, {}, error)
    const names = Object.keys(options).map((name) => `--${name}`)
    const nearestWord = nearestName(option.replace(/^-+/, ''), Object.keys(options))
    const nearest = nearestWord === undefined ? undefined : `--${nearestWord}`
    throw new ErrandError(
      'UNKNOWN_OPTION',
      `There is no option ${option}.${didYouMean(nearest)} Usage: ${usage}. Options: ${names.join(', ')}. Put arguments that begin with a dash after "--".`,
      { option, nearest, known: names },
      error,
    )
  }
}
