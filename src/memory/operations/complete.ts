// task:complete: completes the task of a team; its durable facts are merged into the branch above.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { taskStatuses } from '../../entities/task.ts'
import { asSchema, fenceSchema, nameOf } from '../../operations/acting-as.ts'
import { eitherCase } from '../../operations/key-case.ts'
import { taskIdSchema } from '../../operations/task/task-input.ts'
import { mergeOutcomeSchema } from '../merge.ts'
import { completeTask } from '../team/complete-task.ts'
import { summarySchema } from './agent-input.ts'
import { defineMemoryOperation } from './memory-ability-host.ts'

const inputSchema = once(() =>
  z
    .strictObject({
      taskId: taskIdSchema,
      summary: summarySchema().optional().describe('The outcome, in a few sentences.'),
      merge: z.boolean().default(true).describe('Merge durable facts into the branch above. Default true.'),
      archive: z.boolean().default(false).describe('Close the memory branches of the task to writes. Default false.'),
      agents: z
        .enum(['refuse', 'complete'])
        .default('refuse')
        .describe('If agents are still active: refuse (default), or complete their work first.'),
      requireObjectives: z.boolean().default(false).describe('Refuse if an objective is not done. Default false.'),
      result: z.json().optional().describe('The result, for programs.'),
      owner: asSchema.optional().describe('Owner of the claim, if the task is claimed.'),
      fence: fenceSchema().optional(),
    })
    .refine(({ owner, fence }) => fence === undefined || owner !== undefined, {
      path: ['fence'],
      message: 'a fence requires `owner`',
    }),
)

/** A caller with a task may complete tasks below it, but not itself: its run would end in the middle of the call. */
export const taskComplete = defineMemoryOperation({
  id: 'task:complete',
  access: 'control',
  description:
    'Completes a task that a team has worked on. Its facts are evaluated, and durable ones are merged into the branch above.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/complete',
      tag: 'Teams',
      operationId: 'completeTask',
      summary: 'Complete a task',
    },
  ],
  input: () =>
    eitherCase(inputSchema(), {
      resultSummary: 'summary',
      mergeToParent: 'merge',
      archiveBranches: 'archive',
    }),
  output: () =>
    z.object({
      taskId: z.string(),
      status: z.enum(taskStatuses),
      /** Null if nothing was merged. */
      merge: mergeOutcomeSchema().nullable(),
      /** Ids of the durable facts. */
      durable: z.array(z.string()),
      ephemeral: z.int().min(0),
    }),
  scope: ({ taskId }) => [taskId],
  handle({ owner, fence, ...request }, { caller }, host) {
    const by = nameOf(caller, owner)
    return completeTask(host, caller, { ...request, by: by === undefined ? undefined : { owner: by, fence } })
  },
})
