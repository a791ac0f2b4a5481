// shell:background: a command that goes on while its agent does. It is a subtask of the one that calls, and tells it how it ended
// (`steps/notify-parent.ts`).
import { z } from 'zod'
import { type AbilityContext, defineAbility } from '../../bus/ability.ts'
import { ErrandError } from '../../errors.ts'
import type { Run } from '../../executor.ts'
import { abbreviated } from '../../executors/command.ts'
import { createShell } from '../../executors/shell.ts'
import { type CommandSettings, commandSchema } from './command-settings.ts'

/** The executor that runs the commands; the engine's own of this name, if it has one. */
const executor = 'shell'

export function shellBackground({ folder, confirm, killGraceMs, clock }: CommandSettings) {
  return defineAbility({
    id: 'shell:background',
    description:
      'Starts a shell command in the background, as a subtask, and returns at once. A message tells you when it has ended. With nothing else left to do, wait for it with wait_for_tasks: once you have given your final answer you hear no more.',
    input: z.strictObject({
      command: commandSchema,
      name: z
        .string()
        .trim()
        .min(1)
        .max(500)
        .optional()
        .describe('What to call it in lists and messages. Default: the command.'),
    }),
    output: z.object({ taskId: z.string() }),
    confirm,
    // Made once under the identity of its call, so to make it again does no harm.
    onInterrupt: 'rerun',
    executors: { [executor]: createShell({ killGraceMs, clock }) },
    async handle({ command, name = abbreviated(command) }, context) {
      const { id } = await requireRun(context).spawn(
        {
          executor,
          name,
          input: { run: command, cwd: folder },
          notifyParent: true,
          // Nobody knows whether a model's command may run twice: one that a crash broke off is told of as failed.
          onInterrupt: 'fail',
        },
        context.identity === undefined ? undefined : { key: context.identity },
      )
      return { taskId: id }
    },
  })
}

/** @throws ErrandError INVALID_INPUT */
function requireRun({ run }: AbilityContext): Run {
  if (run !== undefined) return run
  throw new ErrandError(
    'INVALID_INPUT',
    'Only the run of a task starts commands in the background: its end is told to that task. Create a task with the executor `shell`, or use shell:run.',
    {},
  )
}
