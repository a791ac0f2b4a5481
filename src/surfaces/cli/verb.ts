// What a verb of the command line is: its words for `help`, its options, and what it does. One verb per file in verbs/.
import type { ParseArgsOptionsConfig } from 'node:util'
import type { ArgumentsOf, Positionals } from './arguments.ts'
import type { CommandIo } from './io.ts'

export interface VerbDefinition<O extends ParseArgsOptionsConfig> {
  /** Without `errand`: `ps [--all] [--status S]`. */
  usage: string
  /** What it does and means, for `errand help VERB`. */
  help: string
  options: O
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

/** A verb whose module is loaded when it is called. */
export interface VerbEntry {
  summary: string
  load(): Promise<{ verb: Verb }>
}

export type VerbTable = Readonly<Record<string, VerbEntry>>

/** Ties the arguments that `run` gets to the options. */
export function defineVerb<const O extends ParseArgsOptionsConfig>(definition: VerbDefinition<O>): Verb {
  return definition
}
