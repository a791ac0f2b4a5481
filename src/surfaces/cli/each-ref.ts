// Applies one action to each of several tasks. A refusal does not stop the others; the exit code reports it.
import { ErrandError } from '../../core/errors.ts'
import { exitCodeOf, exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, type JsonFlag, noteRefusal } from '../../terminal/io.ts'

/** What happens to the children of a deleted task. */
export const childrenFates = ['promote', 'cascade', 'refuse'] as const

/** Resolves to the exit code. */
export async function forEachRef(
  io: CommandIo,
  flags: JsonFlag,
  refs: readonly string[],
  act: (ref: string) => Promise<void>,
): Promise<number> {
  let code: number = exitCodes.done
  for (const ref of refs) {
    try {
      await act(ref)
    } catch (error) {
      if (!ErrandError.isInstance(error)) throw error
      noteRefusal(io, flags, error)
      code = Math.max(code, exitCodeOf(error))
    }
  }
  return code
}
