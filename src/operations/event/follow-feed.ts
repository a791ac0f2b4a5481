// The feed as event:feed and event:pages return it: from a position on, in order, each event once.
import { z } from 'zod'
import type { AbilityContext } from '../../bus/ability-context.ts'
import { ownPrincipalOf } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import { eventTypes, type TaskEvent } from '../../entities/event.ts'
import type { AbilityHost } from '../ability-host.ts'
import { idsIn, refuseTasks, visibleEvents } from '../own-tasks.ts'
import { requireOwn } from '../steps/conditions.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { positionSchema } from '../views/event-view.ts'

export const followInputSchema = once(() =>
  z.strictObject({
    after: positionSchema().optional().describe('Position to start after. Default: the current end of the feed.'),
    taskId: taskIdSchema.optional(),
    types: z.array(z.enum(eventTypes)).min(1).max(100).optional().describe('Only events of these types. Default: all.'),
  }),
)
export type FollowInput = z.output<ReturnType<typeof followInputSchema>>

/**
 * Yields pages with at least one event and does not end by itself.
 * @throws ErrandError CURSOR_TOO_OLD; CURSOR_AHEAD; FORBIDDEN; ENGINE_CLOSED { after }
 */
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
  const selected = types === undefined ? undefined : new Set(types)
  const isOwn = ownPrincipalOf(caller) !== undefined
  let seen = from
  for await (const page of host.pages({ after: from, signal, taskId })) {
    const visible = isOwn ? await host.read((tx) => visibleEvents(tx, caller, page)) : page
    const matching = selected === undefined ? visible : visible.filter(({ type }) => selected.has(type))
    if (matching.length > 0) yield matching
    seen = page.at(-1)?.seq ?? seen
  }
  // A normal end would mean that there are no more events.
  if (!signal.aborted) throw engineClosed(seen)
}

function engineClosed(after: number): ErrandError {
  return new ErrandError(
    'ENGINE_CLOSED',
    `The engine was closed. Continue to follow its events with after: ${after}.`,
    {
      after,
    },
  )
}
