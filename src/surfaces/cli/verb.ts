// The definition of a verb: its help, its options, and its function. A verb is in the file of its name in verbs/; the
// verbs below it (`board claim`) are grouped in the folder of its name.
import type { ParseArgsOptionsConfig } from 'node:util'
import type { ArgumentsOf, Positionals } from '../terminal/arguments.ts'
import type { CommandIo } from '../terminal/io.ts'

export interface VerbDefinition<O extends ParseArgsOptionsConfig> {
  /** Without `errand`: `ps [--all] [--status S]`. */
  usage: string
  /** The text of `errand help VERB`. */
  help: string
  /** In addition to the common options. */
  options?: O
  positionals: Positionals
  /** Verbs below this one: `board claim`. */
  verbs?: VerbTable
  /** For the hooks of agents, which must not fail: always exits with 0, and reports errors only with ERRAND_DEBUG=1. */
  silent?: boolean
  /** `all`: loads every verb of the command line. Resolves to the exit code; undefined means 0. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most verbs have nothing to return
  run(io: CommandIo, args: ArgumentsOf<O>, all: () => Promise<VerbTable>): Promise<number | void>
}

/** A verb with any options. */
export interface Verb extends Omit<VerbDefinition<ParseArgsOptionsConfig>, 'run'> {
  // biome-ignore lint/suspicious/noExplicitAny: the arguments fit because `options` of the same verb parsed them
  // biome-ignore lint/suspicious/noConfusingVoidType: as above
  run(io: CommandIo, args: any, all: () => Promise<VerbTable>): Promise<number | void>
}

/** A verb whose module is loaded when the verb is used, and exports it under its name. */
export interface VerbEntry<N extends string> {
  summary: string
  load(): Promise<Readonly<Record<N, Verb>>>
}

export type VerbTable = Readonly<Record<string, VerbEntry<string>>>

/** Types the arguments of `run` by the options. */
export function defineVerb<const O extends ParseArgsOptionsConfig = Record<never, never>>(
  definition: VerbDefinition<O>,
): Verb {
  return definition
}

/** Checks that each module exports its verb by name. */
export function verbTable<N extends string>(entries: { readonly [Name in N]: VerbEntry<NoInfer<Name>> }): VerbTable {
  return entries
}
