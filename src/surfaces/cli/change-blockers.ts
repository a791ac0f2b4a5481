// What `errand block` and `errand unblock` have in common.
import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'
import type { CommonArguments } from '../terminal/arguments.ts'
import { type CommandIo, printValue } from '../terminal/io.ts'
import { stateLabel, taskLabel } from '../terminal/task-labels.ts'
import { withTask } from './open-ledger.ts'
import { findTask } from './task-ref.ts'

/** Finds all tasks before it changes anything. */
export async function changeBlockers(
  io: CommandIo,
  args: CommonArguments,
  change: (engine: Engine, task: Task, blockers: string[]) => Promise<Task>,
): Promise<void> {
  await withTask(io, args, async (engine, task) => {
    const refs = args.positionals.slice(1)
    const blockers = await Promise.all(refs.map(async (each) => (await findTask(engine, each)).id))
    const changed = await change(engine, task, blockers)
    const text = `${taskLabel(changed)} ${stateLabel(changed)}, ${await afterText(engine, changed)}`
    printValue(io, args.values, changed, text)
  })
}

/** The blockers that are not completed. */
async function afterText(engine: Engine, { blockedBy }: Task): Promise<string> {
  const blockers = await Promise.all(blockedBy.map((id) => engine.get(id)))
  const labels = blockers.flatMap((blocker) => (blocker === null ? [] : [taskLabel(blocker)]))
  return labels.length === 0 ? 'not blocked' : `after ${labels.join(', ')}`
}
