// Tasks as of a past position of the feed: each with its last event up to there.
import type { Op, TaskAtEvent } from '../ledger.ts'
import { queryRows, sliced, sql } from '../statement.ts'
import { events } from './event.ts'
import { tasks } from './task-columns.ts'
import { isAmong } from './task-filter.ts'
import type { TaskMatches } from './task-list-matches.ts'
import type { TaskReader } from './task-list-reader.ts'

/** The maximum of tasks that one statement reads with their events. */
const maxTasksRead = 200

export function* tasksAsOf(
  reader: TaskReader,
  matches: TaskMatches,
  {
    position,
    limit,
    afterSeq,
    ids,
  }: { position: number; limit: number; afterSeq: number; ids: readonly string[] | undefined },
): Op<TaskAtEvent[]> {
  const found: TaskAtEvent[] = []
  const parts = ids === undefined ? yield* matches.partsOf({ after: afterSeq }, maxTasksRead) : [undefined]
  for (const part of parts) {
    const tasksAtEvents = reader.dialect.db
      .selectFrom('task')
      .innerJoin('event', (join) =>
        join.on(sql<boolean>`event.seq = (select max(seq) from event where task_id = task.id and seq <= ${position})`),
      )
      .select([tasks.columns(), events.columns('event', 'event.')] as never)
      .where('task.seq', '>', afterSeq)
      .where(sql<boolean>`(${part === undefined ? isAmong(reader.dialect, ids ?? []) : reader.isIn(part)})`)
      // The last event is not enough: the run of a deleted task closes after `task.deleted`.
      .where(
        sql<boolean>`(task.deleted_at is null or not exists (select 1 from event where task_id = task.id and type = 'task.deleted' and seq <= ${position}))`,
      )
    const query = tasksAtEvents.orderBy('task.seq', 'asc').limit(limit - found.length)
    for (const each of yield* sliced(queryRows<object>(query.compile())))
      found.push({ task: tasks.pick(each), event: events.pick(each, 'event.') })
    if (found.length >= limit) break
  }
  return found
}
