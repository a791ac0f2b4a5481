// The verbs that do one thing to each of several tasks: pause, resume, cancel, retry, rm. One that is refused does not
// keep the others from it; the exit code tells that there was one.
import type { Engine } from '../../api.ts'
import type { Task } from '../../entities/task.ts'
import { ErrandError } from '../../errors.ts'
import { exitCodeOf, exitCodes } from './exit-code.ts'
import { type CommandIo, type JsonFlag, noteRefusal, printValue } from './io.ts'
import { withLedger } from './open-ledger.ts'
import { findTask } from './task-ref.ts'
import { changedLine, taskLabel } from './task-words.ts'

interface Arguments {
  values: JsonFlag & { ledger?: string | undefined }
  positionals: string[]
}

/** What is done to a task gives it as it is then, or in a word what became of it. */
export async function forEachTask(
  io: CommandIo,
  { values, positionals }: Arguments,
  act: (engine: Engine, task: Task) => Promise<Task | string>,
): Promise<number> {
  return await withLedger(io, values, (engine) =>
    forEachRef(io, values, positionals, async (ref) => {
      const task = await findTask(engine, ref)
      const outcome = await act(engine, task)
      if (typeof outcome !== 'string') printValue(io, values, outcome, changedLine(outcome))
      else printValue(io, values, { id: task.id, outcome }, `${taskLabel(task)} ${outcome}`)
    }),
  )
}

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
