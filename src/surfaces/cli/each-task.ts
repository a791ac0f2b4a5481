// Applies one action to each task that a command names, and prints what became of it.
import type { Engine } from '../../engine-api.ts'
import type { Task } from '../../entities/task.ts'
import type { CommonArguments } from '../../terminal/arguments.ts'
import { type CommandIo, printValue } from '../../terminal/io.ts'
import { namingTask } from '../../terminal/named-refusal.ts'
import { changedLine, taskLabel } from '../../terminal/task-labels.ts'
import { forEachRef } from './each-ref.ts'
import { withLedger } from './open-ledger.ts'
import { findTask } from './task-ref.ts'

/** `act` returns the changed task, or a text that describes the outcome. */
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
