// The verbs that do one thing to each of several tasks: pause, resume, cancel, retry, rm. One that is refused does not
// keep the others from it; the exit code tells that there was one.
import type { Engine } from '../../api.ts'
import type { Task } from '../../entities/task.ts'
import { ErrandError } from '../../errors.ts'
import { exitCodeOf, exitCodes } from './exit-code.ts'
import { type CommandIo, note, print, printJson } from './io.ts'
import { withLedger } from './open-ledger.ts'
import { findTask } from './task-ref.ts'
import { stateWord, taskLabel } from './task-words.ts'

export async function forEachRef(
  io: CommandIo,
  {
    values,
    positionals,
  }: { values: { ledger?: string | undefined; json?: boolean | undefined }; positionals: string[] },
  act: (engine: Engine, task: Task) => Promise<Task | string>,
): Promise<number> {
  return await withLedger(io, values, async (engine) => {
    let code: number = exitCodes.done
    for (const ref of positionals) {
      try {
        const task = await findTask(engine, ref)
        tell(io, task, await act(engine, task), values.json === true)
      } catch (error) {
        if (!ErrandError.isInstance(error)) throw error
        note(io, values.json ? JSON.stringify({ error: error.toJSON() }) : `errand: ${error.message}`)
        code = Math.max(code, exitCodeOf(error))
      }
    }
    return code
  })
}

function tell(io: CommandIo, before: Task, outcome: Task | string, json: boolean): void {
  if (json) printJson(io, typeof outcome === 'string' ? { id: before.id, outcome } : outcome)
  else print(io, `${taskLabel(before)} ${typeof outcome === 'string' ? outcome : stateWord(outcome)}`)
}
