// event:pages: the events of event:feed in batches, for clients that forward thousands a second.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { once } from '../../core/once.ts'
import { eventSchema } from '../../entities/event.ts'
import type { AbilityHost } from '../ability-host.ts'
import { idsIn } from '../own-tasks.ts'
import { followFeed, followInputSchema } from './follow-feed.ts'

const eventPagesOutput = once(() => z.object({ events: z.array(eventSchema).min(1) }))

/** Events that are available at once form one chunk. Does not end by itself. @throws ErrandError CURSOR_TOO_OLD; CURSOR_AHEAD; ENGINE_CLOSED { after } */
export function eventPages(host: AbilityHost) {
  return defineAbility({
    id: 'event:pages',
    access: 'read',
    description: 'Streams the durable events of all tasks, or of one, in pages.',
    input: followInputSchema(),
    output: eventPagesOutput(),
    models: false,
    scope: ({ taskId }) => idsIn(taskId),
    async *stream(input, context) {
      for await (const events of followFeed(host, 'event:pages', input, context)) yield { events }
    },
  })
}
