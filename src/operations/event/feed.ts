// event:feed: the durable events from a position on, in order, each once.
import { defineAbility } from '../../bus/ability.ts'
import { eventSchema } from '../../entities/event.ts'
import type { AbilityHost } from '../ability-host.ts'
import { idsIn } from '../own-tasks.ts'
import { followFeed, followInputSchema } from './follow-feed.ts'

/** Does not end by itself. @throws ErrandError CURSOR_TOO_OLD; CURSOR_AHEAD; ENGINE_CLOSED { after } */
export function eventFeed(host: AbilityHost) {
  return defineAbility({
    id: 'event:feed',
    access: 'read',
    description: 'Streams the durable events of all tasks, or of one, from a position on.',
    input: followInputSchema(),
    output: eventSchema,
    models: false,
    scope: ({ taskId }) => idsIn(taskId),
    async *stream(input, context) {
      for await (const page of followFeed(host, 'event:feed', input, context)) yield* page
    },
  })
}
