// The callers of abilities from the command line, as recorded with each change.
import type { CommandIo } from './io.ts'

export const cliCaller = { caller: { surface: 'cli' } } as const

/** The caller of a statement: a person at a keyboard and a terminal, else a script. */
export function statementCaller({ keyboard, stdout }: Pick<CommandIo, 'keyboard' | 'stdout'>) {
  const isPerson = keyboard !== undefined && stdout.isTTY === true
  return { caller: { surface: isPerson ? 'terminal' : 'cli' } }
}
