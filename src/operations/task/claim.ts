// task:claim: claims a task without an executor: a given one, or the best available.
import { z } from 'zod'
import { claimOptionsSchema } from '../../entities/options.ts'
import type { Task } from '../../entities/task.ts'
import { requireName } from '../acting-as.ts'
import { defineOperation } from '../define-operation.ts'
import { idsIn } from '../own-tasks.ts'
import { claim } from '../steps/claim.ts'
import { claimSearching } from '../steps/claim-search.ts'
import { within } from '../steps/conditions.ts'
import { requestedBy, type StepContext } from '../steps/step-context.ts'
import { wholeTaskSchema } from '../views/whole-task.ts'
import type { ChangeContext } from './define-change.ts'
import { taskIdSchema } from './task-input.ts'

const { owner, leaseMs, parentId, role } = claimOptionsSchema().shape

/** `task` is null if there is nothing to claim. With a lease every write must pass the `fence` of the answer. */
export const taskClaim = defineOperation({
  id: 'task:claim',
  access: 'control',
  description: 'Claims a task without an executor, to work on it from outside: a given one, or the best available.',
  routes: [
    { endpoint: 'POST /tasks/{taskId}/claim', tag: 'Control', operationId: 'claimTask', summary: 'Claim a task' },
  ],
  input: () =>
    z.strictObject({
      taskId: taskIdSchema.optional().describe('Default: the best claimable task, by priority, then age.'),
      owner: owner
        .optional()
        .describe('Name of the claimant. Replaced by the name of the caller where the surface identifies one.'),
      leaseMs: leaseMs.describe('Time without a heartbeat after which others may claim the task. Default: unlimited.'),
      parentId,
      role,
      tags: z.array(z.string()).max(100).optional(),
    }),
  output: () => z.object({ task: wholeTaskSchema().nullable() }),
  models: false,
  scope: ({ taskId, parentId: parent }) => idsIn(taskId, parent),
  handle: async ({ taskId = null, owner, ...options }, { caller }, host) => ({
    task: await claimTask(
      { host, caller },
      { ...options, taskId, owner: requireName(caller, owner, 'owner'), source: caller.surface },
      await host.stepContext(),
    ),
  }),
})

export async function claimTask(
  { host, caller }: ChangeContext,
  options: z.output<ReturnType<typeof claimOptionsSchema>> & { taskId: string | null },
  first: StepContext,
): Promise<Task | null> {
  const named = options.taskId ?? options.parentId ?? 'the best of all tasks'
  const claimed = await claimSearching(host, async (among) => {
    // The lease begins when the task is claimed, however long the search has taken. The first try waits for nothing, so that requests of
    // one turn keep their order.
    const ctx = among === undefined ? first : await host.stepContext()
    const step = claim({ ...requestedBy(ctx, caller), leaseMs: undefined, ...options, among })
    return host.step(within(step, caller, [named]))
  })
  // Not re-read: by then the task may have another owner.
  return claimed === null ? null : ((await host.views([claimed]))[0] as Task)
}
