// task:complete: a team has done its task; what it learned for good reaches the branch above.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { taskStatuses } from '../../entities/task.ts'
import { mergeOutcomeSchema } from '../../memory/merge.ts'
import { completeTask } from '../../team/complete-task.ts'
import type { AbilityHost } from '../ability-host.ts'
import { summarySchema } from '../agent/agent-input.ts'
import { asSchema, fenceSchema, nameOf } from '../board/board-input.ts'
import { eitherCase } from '../key-case.ts'
import { taskIdSchema } from './task-input.ts'

const inputSchema = z
  .strictObject({
    taskId: taskIdSchema,
    summary: summarySchema.optional().describe('What it came to, in a few sentences.'),
    merge: z.boolean().default(true).describe('False: no fact leaves the branch of the task. Default true.'),
    archive: z.boolean().default(false).describe('Its branches take nothing new from now on. Default false.'),
    agents: z
      .enum(['refuse', 'complete'])
      .default('refuse')
      .describe('Agents that are still active: refuse (default), or complete their work first.'),
    requireObjectives: z.boolean().default(false).describe('Refuse while an objective is not done. Default false.'),
    result: z.json().optional().describe('What it came to, for programs.'),
    owner: asSchema.optional().describe('Who has claimed it, if somebody has.'),
    fence: fenceSchema.optional(),
  })
  .refine(({ owner, fence }) => fence === undefined || owner !== undefined, {
    path: ['fence'],
    message: 'say with `owner` whose claim it is',
  })

/** A caller with a task completes what is below it, and never itself: its run would end in the middle of the call. */
export function taskComplete(host: AbilityHost) {
  return defineAbility({
    id: 'task:complete',
    access: 'control',
    description:
      'Completes a task that agents have worked on, without a run: its facts are judged, and what lasts is given to the branch above.',
    input: eitherCase(inputSchema, {
      resultSummary: 'summary',
      mergeToParent: 'merge',
      archiveBranches: 'archive',
    }),
    output: z.object({
      taskId: z.string(),
      status: z.enum(taskStatuses),
      /** Null where nothing was to be merged. */
      merge: mergeOutcomeSchema.nullable(),
      /** Ids of the facts that last. */
      durable: z.array(z.string()),
      ephemeral: z.int().min(0),
    }),
    scope: ({ taskId }) => [taskId],
    handle({ owner, fence, ...request }, { caller }) {
      const by = nameOf(caller, owner)
      return completeTask(host, caller, { ...request, by: by === undefined ? undefined : { owner: by, fence } })
    },
  })
}
