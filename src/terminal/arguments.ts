// The arguments of a verb: node's own parser, with complaints that name the nearest option and what the verb takes.
import { type ParseArgsConfig, type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { didYouMean } from '../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../core/errors.ts'

/** Options that take a text. */
export function texts<const N extends string>(...names: N[]) {
  return each(names, { type: 'string' })
}

/** Options that take a text each time they are given. */
export function lists<const N extends string>(...names: N[]) {
  return each(names, { type: 'string', multiple: true })
}

/** Options that are given or not. */
export function switches<const N extends string>(...names: N[]) {
  return each(names, { type: 'boolean' })
}

function each<N extends string, const O>(names: readonly N[], option: O): Readonly<Record<N, O>> {
  return Object.fromEntries(names.map((name) => [name, option])) as Record<N, O>
}

/** What every verb takes. */
export const commonOptions = { ...texts('ledger'), ...switches('json'), help: { type: 'boolean', short: 'h' } } as const

export type ArgumentsOf<O extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O & typeof commonOptions; strict: true; allowPositionals: true }>
>

/** What the options of a verb give; those that are left away are undefined. */
export type FlagsOf<O extends ParseArgsOptionsConfig> = ArgumentsOf<O>['values']

/** What every verb is given, whatever else it takes. */
export interface CommonArguments {
  values: { ledger?: string | undefined; json?: boolean | undefined }
  positionals: string[]
}

export interface Positionals {
  min?: number
  max?: number
}

/**
 * Parses what follows the verb.
 * @throws ErrandError UNKNOWN_OPTION { option, nearest } or INVALID_INPUT.
 */
export function parseArguments<O extends ParseArgsOptionsConfig>(
  usage: string,
  args: string[],
  options: O,
  { min = 0, max = Number.POSITIVE_INFINITY }: Positionals,
): ArgumentsOf<O> {
  const known = { ...commonOptions, ...options }
  const parsed = parseOrRefuse({ args, options: known, strict: true, allowPositionals: true }, usage) as ArgumentsOf<O>
  const { positionals } = parsed
  if ((parsed.values as { help?: boolean }).help) return parsed
  if (positionals.length < min) throw misuse(`Something is missing. Usage: errand ${usage}`)
  if (positionals.length > max) throw misuse(`"${positionals[max]}" is too much. Usage: errand ${usage}`)
  return parsed
}

/** A whole number that is at least `min`. */
export function wholeNumber(option: string, text: string, min: number): number {
  const value = /^-?\d+$/.test(text.trim()) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= min) return value
  const range = min === Number.MIN_SAFE_INTEGER ? 'a whole number' : `a whole number of at least ${min}`
  throw misuse(`--${option} takes ${range}, got "${text}".`, { option, value: text })
}

/** One of a few words. */
export function oneOf<const W extends string>(option: string, text: string, words: readonly W[]): W {
  if ((words as readonly string[]).includes(text)) return text as W
  const nearest = nearestName(text, words)
  const message = `--${option} takes one of ${words.join(', ')}, got "${text}".${didYouMean(nearest)}`
  throw misuse(message, { option, value: text, nearest })
}

/** A refusal because of how the command was written. */
export function misuse(message: string, details: Record<string, unknown> = {}): ErrandError {
  return new ErrandError('INVALID_INPUT', message, details)
}

function parseOrRefuse(config: ParseArgsConfig & { options: ParseArgsOptionsConfig }, usage: string): unknown {
  try {
    return parseArgs(config)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const option = /^Unknown option '(-[^']*)'/.exec(error.message)?.[1]
    if (option === undefined)
      throw new ErrandError('INVALID_INPUT', `${error.message}. Usage: errand ${usage}`, {}, error)
    const names = Object.keys(config.options).map((name) => `--${name}`)
    const nearest = nearestName(option, names)
    throw new ErrandError(
      'UNKNOWN_OPTION',
      `There is no option ${option}.${didYouMean(nearest)} Usage: errand ${usage}. It takes: ${names.join(', ')}. What begins with a dash but is no option goes behind "--".`,
      { option, nearest, known: names },
      error,
    )
  }
}
