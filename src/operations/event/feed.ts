// event:feed: the durable events from a position on, in order, each once.

import { eventSchema } from '../../entities/event.ts'
import { defineOperation } from '../define-operation.ts'
import { idsIn } from '../own-tasks.ts'
import { followFeed, followInputSchema } from './follow-feed.ts'

/** Does not end by itself. @throws ErrandError CURSOR_TOO_OLD; CURSOR_AHEAD; ENGINE_CLOSED { after } */
export const eventFeed = defineOperation({
  id: 'event:feed',
  access: 'read',
  description: 'Streams the durable events of all tasks, or of one, from a position on.',
  routes: [{ endpoint: 'GET /events', tag: 'Events', operationId: 'followEvents', summary: 'Stream all events' }],
  input: followInputSchema,
  output: () => eventSchema,
  models: false,
  own: true,
  scope: ({ taskId }) => idsIn(taskId),
  async *stream(input, context, host) {
    for await (const page of followFeed(host, 'event:feed', input, context)) yield* page
  },
})
