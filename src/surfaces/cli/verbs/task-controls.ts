// `errand pause`, `resume`, `cancel`, `retry` and `rm`, each for several tasks; `block` and `unblock`, which change what a task waits for.
import type { Engine } from '../../../engine-api.ts'
import type { Task } from '../../../entities/task.ts'
import { type CommonArguments, oneOf, switches, texts } from '../../../terminal/arguments.ts'
import { type CommandIo, printValue } from '../../../terminal/io.ts'
import { namingTask } from '../../../terminal/named-refusal.ts'
import { changedLine, stateLabel, taskLabel } from '../../../terminal/task-labels.ts'
import { childrenFates, forEachRef } from '../each-ref.ts'
import { withLedger, withTask } from '../open-ledger.ts'
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

export const block = defineVerb({
  usage: 'block ID BLOCKER…',
  help: 'Makes a task wait for others: it starts only when they have completed. Refused while the task works, and when tasks would wait for each other.',
  positionals: { min: 2 },
  run: (io, args) => changeBlockers(io, args, (engine, task, blockers) => engine.block(task.id, blockers)),
})

export const unblock = defineVerb({
  usage: 'unblock ID BLOCKER…',
  help: 'Stops a task from waiting for the given tasks, for example failed or canceled ones. Tasks that it is not waiting for are ignored.',
  positionals: { min: 2 },
  run: (io, args) => changeBlockers(io, args, (engine, task, blockers) => engine.unblock(task.id, blockers)),
})

/** Finds all tasks before it changes anything. */
async function changeBlockers(
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
