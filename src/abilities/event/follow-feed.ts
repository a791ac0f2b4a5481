// The feed as event:feed and event:pages give it: from a position on, in order, each event once.
import { z } from 'zod'
import type { AbilityContext } from '../../bus/ability.ts'
import { ErrandError } from '../../core/errors.ts'
import { eventTypes, type TaskEvent } from '../../entities/event.ts'
import type { AbilityHost } from '../ability-host.ts'
import { idsIn, refuseTasks, requireOwn } from '../own-tasks.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { positionSchema } from '../views/event-view.ts'

export const followInputSchema = z.strictObject({
  after: positionSchema.optional().describe('Default: the present.'),
  taskId: taskIdSchema.optional(),
  types: z.array(z.enum(eventTypes)).min(1).max(100).optional().describe('Only these. Default: all.'),
})
export type FollowInput = z.output<typeof followInputSchema>

/** Pages that are not empty. Never ends by itself. @throws ErrandError CURSOR_TOO_OLD; FORBIDDEN; ENGINE_CLOSED { after } */
export async function* followFeed(
  host: AbilityHost,
  abilityId: string,
  { after, taskId, types }: FollowInput,
  { caller, signal }: Pick<AbilityContext, 'caller' | 'signal'>,
): AsyncGenerator<TaskEvent[], void, void> {
  if (taskId === undefined) refuseTasks(caller, `${abilityId} without \`taskId\``)
  const from = await host.read(function* (tx) {
    yield* requireOwn(tx, caller, idsIn(taskId))
    return after ?? (yield* tx.event.last())
  })
  const wanted = types === undefined ? undefined : new Set(types)
  let seen = from
  for await (const page of host.pages({ after: from, signal, taskId })) {
    const told = wanted === undefined ? page : page.filter(({ type }) => wanted.has(type))
    if (told.length > 0) yield told
    seen = page.at(-1)?.seq ?? seen
  }
  // To whoever follows them an end would say that there are no more.
  if (!signal.aborted) throw engineClosed(seen)
}

function engineClosed(after: number): ErrandError {
  return new ErrandError('ENGINE_CLOSED', `The engine was closed. Follow its events again with after: ${after}.`, {
    after,
  })
}
