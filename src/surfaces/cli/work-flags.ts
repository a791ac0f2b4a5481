// The work of a new task as flags: a command with `--run`, or an executor with its input.
import { misuse } from '../terminal/arguments.ts'
import type { CommandIo } from '../terminal/io.ts'

/** The executor and input for `--run`. @throws ErrandError INVALID_INPUT for flags that exclude each other. */
export function workOf(
  io: CommandIo,
  run: unknown,
  { executor, input }: { executor?: string | undefined; input?: unknown },
): { executor?: string; input?: unknown } {
  if (run !== undefined && executor !== undefined)
    throw misuse('--run uses the executor shell; give either --run or --executor.')
  if (run !== undefined && input !== undefined)
    throw misuse('--input needs --executor; a command given with --run has no input.')
  if (run !== undefined) return { executor: 'shell', input: { run, cwd: io.cwd } }
  if (executor === undefined && input !== undefined)
    throw misuse('--input needs --executor: without an executor it is not used.')
  return {}
}
