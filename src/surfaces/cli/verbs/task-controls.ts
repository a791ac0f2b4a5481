// `errand pause`, `resume`, `cancel`, `retry` and `rm`: each applies one change to several tasks.
import type { Engine } from '../../../engine-api.ts'
import type { Task } from '../../../entities/task.ts'
import { type CommonArguments, oneOf, switches, texts } from '../../../terminal/arguments.ts'
import { type CommandIo, printValue } from '../../../terminal/io.ts'
import { namingTask } from '../../../terminal/named-refusal.ts'
import { changedLine, taskLabel } from '../../../terminal/task-labels.ts'
import { childrenFates, forEachRef } from '../each-ref.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

export const pause = defineVerb({
  usage: 'pause ID…',
  help: 'Stops working tasks until they are resumed. A running command is ended; recorded results are kept.',
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.pause(task.id)),
})

export const resume = defineVerb({
  usage: 'resume ID…',
  help: 'Lets paused tasks run again: at once if an "errand run" of the plan or an "errand serve" is working and has a free slot, else when the next one starts.',
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.resume(task.id)),
})

export const cancel = defineVerb({
  usage: 'cancel ID… [--reason R]',
  help: 'Cancels tasks and everything below them, for good. Running commands are ended, in all processes.',
  options: { reason: { type: 'string', short: 'r' } },
  positionals: { min: 1 },
  run: (io, args) => forEachTask(io, args, (engine, task) => engine.cancel(task.id, args.values.reason)),
})

export const retry = defineVerb({
  usage: 'retry ID… [--allow-divergence]',
  help: 'Gives failed tasks a new attempt. Completed calls are not repeated. --allow-divergence is for a task that failed with CALL_DIVERGED because its code changed: the new calls are made in addition to the recorded ones.',
  options: switches('allow-divergence'),
  positionals: { min: 1 },
  run: (io, args) =>
    forEachTask(io, args, (engine, task) =>
      engine.retry(task.id, args.values['allow-divergence'] ? { divergence: 'allow' } : {}),
    ),
})

export const rm = defineVerb({
  usage: 'rm ID… [--children promote|cascade|refuse]',
  help: 'Deletes tasks; open ones are canceled first. Their children become top-level tasks (promote, the default), are deleted too (cascade), or prevent the deletion (refuse).',
  options: texts('children'),
  positionals: { min: 1 },
  async run(io, args) {
    const children = oneOf('children', args.values.children ?? 'promote', childrenFates)
    return await forEachTask(io, args, async (engine, task) => {
      const deleted = await engine.delete(task.id, { children })
      return deleted ? 'deleted' : 'was already deleted'
    })
  },
})

/** `act` returns the changed task, or a text that describes the outcome. */
async function forEachTask(
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
