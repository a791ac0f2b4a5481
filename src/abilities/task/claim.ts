// task:claim: takes a task that no executor runs: a certain one, or the best that may be claimed.
import { z } from 'zod'
import { claimOptionsSchema } from '../../api/options.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { Task } from '../../entities/task.ts'
import { claim } from '../../steps/claim.ts'
import { within } from '../../steps/conditions.ts'
import { requestedBy, type StepContext } from '../../steps/step-context.ts'
import type { AbilityHost } from '../ability-host.ts'
import { requireName } from '../board/board-input.ts'
import { idsIn } from '../own-tasks.ts'
import { wholeTaskSchema } from '../views/whole-task.ts'
import type { ChangeContext } from './task-change.ts'
import { taskIdSchema } from './task-input.ts'

const { owner, leaseMs, parentId, role } = claimOptionsSchema.shape

/** Null: there is nothing to claim. With a lease every write quotes the `fence` of the answer. */
export function taskClaim(host: AbilityHost) {
  return defineAbility({
    id: 'task:claim',
    access: 'control',
    description: 'Takes a task that no executor runs, to work on it from outside: a certain one, or the best there is.',
    input: z.strictObject({
      taskId: taskIdSchema.optional().describe('Default: the best that may be claimed, by priority, then age.'),
      owner: owner
        .optional()
        .describe('Who takes it. Default, and in place of any other: who calls, where that is known.'),
      leaseMs: leaseMs.describe('How long the owner may be silent before others may take it. Default: for ever.'),
      parentId,
      role,
      tags: z.array(z.string()).max(100).optional(),
    }),
    output: z.object({ task: wholeTaskSchema.nullable() }),
    models: false,
    scope: ({ taskId, parentId: parent }) => idsIn(taskId, parent),
    handle: async ({ taskId = null, owner: said, ...wanted }, { caller }) => ({
      task: await claimTask(
        { host, caller },
        { ...wanted, taskId, owner: requireName(caller, said, 'owner'), source: caller.surface },
        await host.stepContext(),
      ),
    }),
  })
}

export async function claimTask(
  { host, caller }: ChangeContext,
  wanted: z.output<typeof claimOptionsSchema> & { taskId: string | null },
  ctx: StepContext,
): Promise<Task | null> {
  const named = wanted.taskId ?? wanted.parentId ?? 'the best of all tasks'
  const step = claim({ ...requestedBy(ctx, caller), leaseMs: undefined, ...wanted })
  const claimed = await host.step(within(step, caller.taskId ?? null, [named]))
  // Not as it is later: by then it may be somebody else's.
  return claimed === null ? null : ((await host.views([claimed]))[0] as Task)
}
