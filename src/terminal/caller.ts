// Who calls an ability from the command line, as it is recorded with the change.
import type { CommandIo } from './io.ts'

/** The caller of a verb. */
export const cliCaller = { caller: { surface: 'cli' } } as const

/** The caller of a statement: a person where a keyboard and a terminal are there, else a script. */
export function statementCaller({ keyboard, stdout }: Pick<CommandIo, 'keyboard' | 'stdout'>) {
  const isPerson = keyboard !== undefined && stdout.isTTY === true
  return { caller: { surface: isPerson ? 'terminal' : 'cli' } }
}
