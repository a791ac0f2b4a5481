// Applies one action to each of several tasks. A refusal does not stop the others; the exit code reports it.
import { ErrandError } from '../../core/errors.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'
import type { CommonArguments } from '../terminal/arguments.ts'
import { exitCodeOf, exitCodes } from '../terminal/exit-code.ts'
import { type CommandIo, type JsonFlag, noteRefusal, printValue } from '../terminal/io.ts'
import { changedLine, taskLabel } from '../terminal/task-labels.ts'
import { namingTask } from '../terminal/terminal-errors.ts'
import { withLedger } from './open-ledger.ts'
import { findTask } from './task-ref.ts'

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

/**
 * Prints what became of each task. `act` returns the changed task, or a text that describes the outcome.
 * Resolves to the exit code.
 */
export async function forEachTask(
  io: CommandIo,
  { values, positionals }: CommonArguments,
  act: (engine: Engine, task: Task) => Promise<Task | string>,
): Promise<number> {
  return await withLedger(io, values, (engine) =>
    forEachRef(io, values, positionals, async (ref) => {
      const task = await findTask(engine, ref)
      const outcome = await namingTask(task, () => act(engine, task))
      if (typeof outcome !== 'string') printValue(io, values, outcome, changedLine(outcome))
      else printValue(io, values, { id: task.id, outcome }, `${taskLabel(task)} ${outcome}`)
    }),
  )
}
