// mem:archive: the conversation of a task becomes observations; or a branch is closed. An ability of yours under this id takes its place.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { archiveBranch, archiveTask } from '../../memory/archive.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { idsIn } from '../own-tasks.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { keeperHost } from './keeper-host.ts'
import { branchSchema } from './mem-input.ts'

const lineSchema = z.looseObject({ role: z.string() })

const inputSchema = z
  .strictObject({
    taskId: taskIdSchema.optional().describe('The task whose conversation is kept.'),
    context: z
      .array(lineSchema)
      .max(100_000)
      .optional()
      .describe('The conversation as chat messages, of a task that the ledger does not know.'),
    branch: branchSchema.optional().describe('The branch that is closed, with all below it.'),
  })
  .refine(({ taskId, branch }) => (taskId === undefined) !== (branch === undefined), {
    message: 'expected exactly one of `taskId` and `branch`',
  })
  .refine(({ context, branch }) => context === undefined || branch === undefined, {
    path: ['context'],
    message: 'a branch has no conversation: leave it out',
  })

/** To archive a task twice adds nothing. `main` is never archived. A closed branch is read as before, and takes nothing new. */
export function memArchive(host: AbilityHost) {
  return defineAbility({
    id: 'mem:archive',
    access: 'control',
    description: 'Keeps the conversation of a task as observations, or closes a branch of memory and those below it.',
    input: eitherCase(inputSchema),
    output: z.object({
      observations: z.int().min(0).describe('How many were new.'),
      branches: z.array(z.string()).describe('Those that are closed now.'),
    }),
    models: false,
    scope: ({ taskId }) => idsIn(taskId),
    async handle({ taskId, branch, context = [] }, { caller }) {
      if (branch !== undefined) return { observations: 0, branches: await archiveBranch(host, caller, branch) }
      return {
        observations: await archiveTask(await keeperHost(host, caller), caller, taskId as string, context),
        branches: [],
      }
    },
  })
}
