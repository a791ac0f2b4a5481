// event:list: the feed page by page, forwards or backwards, of one task or of all.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { eventSchema } from '../../entities/event.ts'
import { requireCursor } from '../../steps/purge.ts'
import type { AbilityHost } from '../ability-host.ts'
import { idsIn, refuseTasks, requireOwn } from '../own-tasks.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { positionSchema } from '../views/event-view.ts'

const inputSchema = z
  .strictObject({
    taskId: taskIdSchema.optional().describe('Only those of this task.'),
    after: positionSchema.optional().describe('From here on, the oldest first. Default: from the beginning.'),
    before: positionSchema.optional().describe('Before here, the latest first.'),
    limit: z.int().min(1).max(5_000).default(100),
  })
  .refine(({ after, before }) => after === undefined || before === undefined, {
    path: ['before'],
    message: 'give either `after` or `before`',
  })

/** @throws ErrandError CURSOR_TOO_OLD for an `after` that events have left the ledger after. */
export function eventList(host: AbilityHost) {
  return defineAbility({
    id: 'event:list',
    access: 'read',
    description: 'Lists durable events, page by page: what happened, to which task, when, and who wrote it.',
    input: inputSchema,
    output: z.object({
      events: z.array(eventSchema),
      /** For the next page in the same direction; null when there is no more. */
      next: positionSchema.nullable(),
      /** Where the feed stood. */
      seq: positionSchema,
    }),
    models: false,
    scope: ({ taskId }) => idsIn(taskId),
    handle: ({ taskId, after = 0, before, limit }, { caller }) => {
      if (taskId === undefined) refuseTasks(caller, 'event:list without `taskId`')
      return host.read(function* (tx) {
        yield* requireOwn(tx, caller, idsIn(taskId))
        if (before === undefined && taskId === undefined) yield* requireCursor(tx, after)
        const found =
          before === undefined
            ? yield* tx.event.after(after, limit + 1, taskId)
            : yield* tx.event.before(before, limit + 1, taskId)
        const events = found.slice(0, limit)
        return {
          events,
          next: found.length > limit ? (events.at(-1)?.seq ?? null) : null,
          seq: yield* tx.event.last(),
        }
      })
    },
  })
}
