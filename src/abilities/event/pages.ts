// event:pages: the durable events as event:feed gives them, several at a time: for whoever passes on thousands a second.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { eventSchema } from '../../entities/event.ts'
import type { AbilityHost } from '../ability-host.ts'
import { idsIn } from '../own-tasks.ts'
import { followFeed, followInputSchema } from './follow-feed.ts'

/** What is there at once is one chunk. Never ends by itself. @throws ErrandError CURSOR_TOO_OLD; ENGINE_CLOSED { after } */
export function eventPages(host: AbilityHost) {
  return defineAbility({
    id: 'event:pages',
    access: 'read',
    description: 'Follows the durable events of all tasks, or of one, page by page as they come.',
    input: followInputSchema,
    output: z.object({ events: z.array(eventSchema).min(1) }),
    models: false,
    scope: ({ taskId }) => idsIn(taskId),
    async *stream(input, context) {
      for await (const events of followFeed(host, 'event:pages', input, context)) yield { events }
    },
  })
}
