// `errand pause`, `resume`, `cancel`, `retry` and `rm`: one thing that is done to each of several tasks.
import type { Engine } from '../../../engine-api.ts'
import type { Task } from '../../../entities/task.ts'
import { type CommonArguments, oneOf, switches, texts } from '../../../terminal/arguments.ts'
import { type CommandIo, printValue } from '../../../terminal/io.ts'
import { changedLine, taskLabel } from '../../../terminal/task-labels.ts'
import { childrenFates, forEachRef } from '../each-ref.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

/** The command that runs is ended, and the task waits until somebody resumes it. */
export const pause = defineVerb({
  usage: 'pause ID…',
  help: 'Stops working tasks until they are resumed. What a task has recorded so far stays.',
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.pause(task.id)),
})

/** As soon as there is a slot and a process that works. */
export const resume = defineVerb({
  usage: 'resume ID…',
  help: 'Lets paused tasks run again: at once where the run of its plan, or an `errand serve`, is at work and has a slot, else with the next one.',
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.resume(task.id)),
})

export const cancel = defineVerb({
  usage: 'cancel ID… [--reason R]',
  help: 'Cancels tasks and everything below them, for ever. A command that runs is ended in whichever process it runs.',
  options: { reason: { type: 'string', short: 'r' } },
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.cancel(task.id, args.values.reason)),
})

export const retry = defineVerb({
  usage: 'retry ID… [--allow-divergence]',
  help: 'Gives failed tasks a new attempt. What completed inside them is not done again. --allow-divergence is for a task that failed with CALL_DIVERGED, when what its code now does is meant to be done besides.',
  options: switches('allow-divergence'),
  positionals: { min: 1 },
  run: (io, args) =>
    forEachTask(io, args, (engine, task) =>
      engine.retry(task.id, args.values['allow-divergence'] ? { divergence: 'allow' } : {}),
    ),
})

export const rm = defineVerb({
  usage: 'rm ID… [--children promote|cascade|refuse]',
  help: 'Deletes tasks; live ones are canceled first. Children become tasks of their own (promote, the default), go along (cascade), or forbid it (refuse).',
  options: texts('children'),
  positionals: { min: 1 },
  async run(io, args) {
    const children = oneOf('children', args.values.children ?? 'promote', childrenFates)
    return await forEachTask(io, args, async (engine, task) => {
      const deleted = await engine.delete(task.id, { children })
      return deleted ? 'deleted' : 'was deleted already'
    })
  },
})

/** What is done to a task gives it as it is then, or in a word what became of it. */
async function forEachTask(
  io: CommandIo,
  { values, positionals }: CommonArguments,
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
