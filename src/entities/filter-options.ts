// The filter of tasks, the same for the lists and the changes of many tasks, on every surface.
import { z } from 'zod'
import { once } from '../core/once.ts'
import { statusFilterSchema } from './status-filter.ts'
import { nameSchema, taskFields, taskIdSchema, timeSchema, wordSchema } from './task-fields.ts'

const shortText = once(() => z.string().trim().min(1).max(500))

export const filterShape = once(() => ({
  status: statusFilterSchema
    .optional()
    .describe('One status or several; `pending`, `running` and `active` stand for groups of statuses.'),
  code: shortText().optional().describe('Only failed tasks with this error code.'),
  executor: nameSchema.optional(),
  owner: wordSchema.optional().describe('Only tasks that this worker has claimed.'),
  tags: taskFields.tags.schema.optional().describe('A task has all of them.'),
  metadata: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .optional()
    .describe('Fields of the metadata, each with its value.'),
  text: shortText()
    .optional()
    .describe('Words that must all occur in the name, goal or description, or a prefix of the id.'),
  since: timeSchema
    .optional()
    .describe('Only tasks that ended at this time or later, or if open were created then. In epoch milliseconds.'),
  before: timeSchema
    .optional()
    .describe('Only tasks that ended, or if open were created, before this time. In epoch milliseconds.'),
  type: shortText().optional().describe('Type of work, for tasks with a team.'),
  parentId: taskIdSchema.nullable().optional().describe('Only direct subtasks of this task; null for roots.'),
  keyPrefix: shortText().optional().describe('Prefix of the key with which tasks were created.'),
  ids: z.array(taskIdSchema).max(1_000).optional(),
  forkedFrom: taskIdSchema.optional().describe('Only the forks of this task.'),
  forked: z.boolean().optional().describe('Only tasks that have a fork, or only the others.'),
  system: z
    .union([z.boolean(), z.literal('include')])
    .optional()
    .describe(
      'System tasks (deliveries of webhooks, handlers) only: true, or also: include. Default: none, unless the filter names tasks or their parent.',
    ),
  ready: z
    .boolean()
    .optional()
    .describe('Only tasks that could start as soon as a slot is free or they are claimed, or only the others.'),
}))

/** Conditions on tasks; a task meets all of them. */
export interface TaskFilterOptions extends z.input<z.ZodObject<ReturnType<typeof filterShape>>> {}
