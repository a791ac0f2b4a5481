// event:pages: the events of event:feed in batches, for clients that forward thousands a second.
import { z } from 'zod'
import { eventSchema } from '../../entities/event.ts'
import { defineOperation } from '../define-operation.ts'
import { idsIn } from '../own-tasks.ts'
import { followFeed, followInputSchema } from './follow-feed.ts'

/** Events that are available at once form one chunk. Does not end by itself. @throws ErrandError CURSOR_TOO_OLD; CURSOR_AHEAD; ENGINE_CLOSED { after } */
export const eventPages = defineOperation({
  id: 'event:pages',
  access: 'read',
  description: 'Streams the durable events of all tasks, or of one, in pages.',
  input: followInputSchema,
  output: () => z.object({ events: z.array(eventSchema).min(1) }),
  models: false,
  own: true,
  scope: ({ taskId }) => idsIn(taskId),
  async *stream(input, context, host) {
    for await (const events of followFeed(host, 'event:pages', input, context)) yield { events }
  },
})
