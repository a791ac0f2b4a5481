// `errand block` and `errand unblock`: after which others a task comes, from now on.
import type { Engine } from '../../../engine-api.ts'
import type { Task } from '../../../entities/task.ts'
import type { CommonArguments } from '../../../terminal/arguments.ts'
import { type CommandIo, printValue } from '../../../terminal/io.ts'
import { stateLabel, taskLabel } from '../../../terminal/task-labels.ts'
import { withTask } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

export const block = defineVerb({
  usage: 'block ID BLOCKER…',
  help: 'Lets a task come after others: it starts only when they have completed. Not while it works, and not in a circle.',
  positionals: { min: 2 },
  run: (io, args) => changeBlockers(io, args, (engine, task, blockers) => engine.block(task.id, blockers)),
})

export const unblock = defineVerb({
  usage: 'unblock ID BLOCKER…',
  help: 'Lets a task go on without others that it would come after: those that failed or were canceled, say. One that it does not come after is no error.',
  positionals: { min: 2 },
  run: (io, args) => changeBlockers(io, args, (engine, task, blockers) => engine.unblock(task.id, blockers)),
})

/** All that is named is found before anything is changed. */
async function changeBlockers(
  io: CommandIo,
  args: CommonArguments,
  change: (engine: Engine, task: Task, blockers: string[]) => Promise<Task>,
): Promise<void> {
  await withTask(io, args, async (engine, task) => {
    const refs = args.positionals.slice(1)
    const blockers = await Promise.all(refs.map(async (each) => (await findTask(engine, each)).id))
    const changed = await change(engine, task, blockers)
    const words = `${taskLabel(changed)} ${stateLabel(changed)}, ${await afterText(engine, changed)}`
    printValue(io, args.values, changed, words)
  })
}

/** The open ones: what is completed holds nobody up. */
async function afterText(engine: Engine, { blockedBy }: Task): Promise<string> {
  const blockers = await Promise.all(blockedBy.map((id) => engine.get(id)))
  const labels = blockers.flatMap((blocker) => (blocker === null ? [] : [taskLabel(blocker)]))
  return labels.length === 0 ? 'held up by nothing' : `after ${labels.join(', ')}`
}
