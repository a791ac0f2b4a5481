// event:feed: the durable events as they come, from a position on, in order, each once.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { eventTypes } from '../../entities/event.ts'
import { ErrandError } from '../../errors.ts'
import type { AbilityHost } from '../ability-host.ts'
import { idsIn, refuseTasks } from '../own-tasks.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { eventSchema, positionSchema } from '../views/event-view.ts'

/** Never ends by itself. @throws ErrandError CURSOR_TOO_OLD; ENGINE_CLOSED { after } */
export function eventFeed(host: AbilityHost) {
  return defineAbility({
    id: 'event:feed',
    access: 'read',
    description: 'Follows the durable events of all tasks, or of one, from a position on.',
    input: z.strictObject({
      after: positionSchema.optional().describe('Default: the present.'),
      taskId: taskIdSchema.optional(),
      types: z.array(z.enum(eventTypes)).min(1).max(100).optional().describe('Only these. Default: all.'),
    }),
    output: eventSchema,
    models: false,
    scope: ({ taskId }) => idsIn(taskId),
    async *stream({ after, taskId, types }, { caller, signal }) {
      if (taskId === undefined) refuseTasks(caller, 'event:feed without `taskId`')
      const engine = await host.engineFor(caller)
      const from = after ?? (await host.read((tx) => tx.event.last()))
      const wanted = types === undefined ? undefined : new Set(types)
      let seen = from
      for await (const event of engine.events({ after: from, signal, ...(taskId === undefined ? {} : { taskId }) })) {
        if (wanted?.has(event.type) !== false) yield event
        seen = event.seq
      }
      // To whoever follows them an end would say that there are no more.
      if (!signal.aborted) throw engineClosed(seen)
    },
  })
}

function engineClosed(after: number): ErrandError {
  return new ErrandError('ENGINE_CLOSED', `The engine was closed. Follow its events again with after: ${after}.`, {
    after,
  })
}
