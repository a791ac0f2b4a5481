// What a verb of the command line is: its words for `help`, its options, and what it does. They live in verbs/, those that do much the
// same together in one file.
import type { ParseArgsOptionsConfig } from 'node:util'
import type { ArgumentsOf, Positionals } from '../../terminal/arguments.ts'
import type { CommandIo } from '../../terminal/io.ts'

export interface VerbDefinition<O extends ParseArgsOptionsConfig> {
  /** Without `errand`: `ps [--all] [--status S]`. */
  usage: string
  /** What it does and means, for `errand help VERB`. */
  help: string
  /** Beside those that every verb takes. */
  options?: O
  positionals: Positionals
  /** Verbs below this one: `board claim`. What does not begin with one of them is its own. */
  verbs?: VerbTable
  /** An agent that must not be stopped calls it: whatever goes wrong, it exits with 0, and says so only with ERRAND_DEBUG=1. */
  silent?: boolean
  /** Resolves to the exit code, if that is not 0. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most verbs have nothing to return
  run(io: CommandIo, args: ArgumentsOf<O>): Promise<number | void>
}

/** A verb whose options the caller does not know. */
export interface Verb extends Omit<VerbDefinition<ParseArgsOptionsConfig>, 'run'> {
  // biome-ignore lint/suspicious/noExplicitAny: the arguments fit because `options` of the same verb parsed them
  // biome-ignore lint/suspicious/noConfusingVoidType: as above
  run(io: CommandIo, args: any): Promise<number | void>
}

/** A verb whose module is loaded when it is called, and exports it under its name. */
export interface VerbEntry<N extends string> {
  summary: string
  load(): Promise<Readonly<Record<N, Verb>>>
}

export type VerbTable = Readonly<Record<string, VerbEntry<string>>>

/** Ties the arguments that `run` gets to the options. */
export function defineVerb<const O extends ParseArgsOptionsConfig = Record<never, never>>(
  definition: VerbDefinition<O>,
): Verb {
  return definition
}

/** Ties the name of each verb to an export of its module. */
export function verbTable<N extends string>(entries: { readonly [Name in N]: VerbEntry<NoInfer<Name>> }): VerbTable {
  return entries
}
