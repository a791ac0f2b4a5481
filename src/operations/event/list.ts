// event:list: the feed page by page, forwards or backwards, of one task or of all.
import { z } from 'zod'
import { eventSchema } from '../../entities/event.ts'
import { defineOperation } from '../define-operation.ts'
import { idsIn, refuseTasks, visibleEvents } from '../own-tasks.ts'
import { requireOwn } from '../steps/conditions.ts'
import { requireCursor, requireReached } from '../steps/purge.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { positionSchema } from '../views/event-view.ts'

/** @throws ErrandError CURSOR_TOO_OLD if events after `after` have been removed from the ledger, CURSOR_AHEAD if it has not reached `after`. */
export const eventList = defineOperation({
  id: 'event:list',
  access: 'read',
  description: 'Lists durable events page by page: type, task, time and writer.',
  routes: [
    {
      endpoint: 'GET /tasks/{taskId}/events',
      tag: 'Tasks',
      operationId: 'listTaskEvents',
      summary: 'List the events of a task',
    },
    { endpoint: 'GET /events/list', tag: 'Events', operationId: 'listEvents', summary: 'List events' },
  ],
  input: () =>
    z
      .strictObject({
        taskId: taskIdSchema.optional().describe('Only events of this task.'),
        after: positionSchema()
          .optional()
          .describe('Return events after this position, oldest first. Default: from the beginning.'),
        before: positionSchema().optional().describe('Return events before this position, latest first.'),
        limit: z.int().min(1).max(5_000).default(100),
      })
      .refine(({ after, before }) => after === undefined || before === undefined, {
        path: ['before'],
        message: 'give either `after` or `before`',
      }),
  output: () =>
    z.object({
      events: z.array(eventSchema),
      /** Position for the next page in the same direction; null on the last. */
      next: positionSchema().nullable(),
      /** End of the feed at the time of the read. */
      seq: positionSchema(),
    }),
  models: false,
  own: true,
  scope: ({ taskId }) => idsIn(taskId),
  handle: ({ taskId, after = 0, before, limit }, { caller }, host) => {
    if (taskId === undefined) refuseTasks(caller, 'event:list without `taskId`')
    return host.read(function* (tx) {
      yield* requireOwn(tx, caller, idsIn(taskId))
      yield* requireReached(tx, after)
      if (before === undefined && taskId === undefined) yield* requireCursor(tx, after)
      const { rows: events, isLast } =
        before === undefined
          ? yield* tx.event.pageAfter(after, limit, taskId)
          : yield* tx.event.pageBefore(before, limit, taskId)
      return {
        events: yield* visibleEvents(tx, caller, events),
        next: isLast ? null : (events.at(-1)?.seq ?? null),
        seq: yield* tx.event.last(),
      }
    })
  },
})
