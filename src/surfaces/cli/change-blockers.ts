// What `block` and `unblock` share: all that is named is found before anything is changed.
import type { Engine } from '../../api.ts'
import type { Task } from '../../entities/task.ts'
import { exitCodes } from './exit-code.ts'
import { type CommandIo, printValue } from './io.ts'
import { withLedger } from './open-ledger.ts'
import { findTask } from './task-ref.ts'
import { stateWord, taskLabel } from './task-words.ts'

interface Arguments {
  values: { ledger?: string | undefined; json?: boolean | undefined }
  positionals: string[]
}

export async function changeBlockers(
  io: CommandIo,
  { values, positionals: [ref, ...refs] }: Arguments,
  change: (engine: Engine, task: Task, blockers: string[]) => Promise<Task>,
): Promise<number> {
  return await withLedger(io, values, async (engine) => {
    const task = await findTask(engine, ref as string)
    const blockers = await Promise.all(refs.map(async (each) => (await findTask(engine, each)).id))
    const changed = await change(engine, task, blockers)
    printValue(io, values, changed, `${taskLabel(changed)} ${stateWord(changed)}, ${await afterWords(engine, changed)}`)
    return exitCodes.done
  })
}

/** The open ones: what is completed holds nobody up. */
async function afterWords(engine: Engine, { blockedBy }: Task): Promise<string> {
  const blockers = await Promise.all(blockedBy.map((id) => engine.get(id)))
  const labels = blockers.flatMap((blocker) => (blocker === null ? [] : [taskLabel(blocker)]))
  return labels.length === 0 ? 'held up by nothing' : `after ${labels.join(', ')}`
}
