// Lists of tasks by any filter. task-filter.ts has the conditions of a filter, task-list-matches.ts finds the tasks that match them, and
// task-list-reader.ts reads these.
import { type TaskStatus, taskStatuses } from '../../entities/task.ts'
import type { Op, Reads, TaskAtEvent, TaskFilter } from '../ledger.ts'
import { queryRows, type StatementCompiler, sliced, sql } from '../statement.ts'
import { events } from './event.ts'
import { tasks } from './task-columns.ts'
import { TaskFamilies } from './task-families.ts'
import { conditionsOf, isAmong } from './task-filter.ts'
import { allOf, TaskMatches } from './task-list-matches.ts'
import { byPriority, type Match, TaskReader } from './task-list-reader.ts'

type Lists = Pick<
  Reads['task'],
  | 'list'
  | 'listBrief'
  | 'page'
  | 'newest'
  | 'oldest'
  | 'asOf'
  | 'count'
  | 'countByStatus'
  | 'children'
  | 'subtree'
  | 'briefSubtree'
  | 'idsBelow'
>

export function createTaskLists(compiler: StatementCompiler): Lists {
  const { prepareText, dialect } = compiler
  const reader = new TaskReader(compiler)
  const families = new TaskFamilies(compiler, reader)
  const matches = new TaskMatches(compiler, reader, families)
  const countStatuses = prepareText(
    (hole) => sql`select status, count(*) as tasks ${reader.fromTask}
      where seq > ${hole('beyond')} and seq <= ${hole('upTo')} and deleted_at is null and system = 0 group by status`,
  )

  /** By priority, then age. */
  const best = function* (filter: TaskFilter, limit: number, after: Match | undefined): Op<Match[]> {
    if (limit <= 0) return []
    const isAfter = (each: Match): boolean => after === undefined || byPriority(after, each) < 0
    const found =
      (yield* matches.bestMatches(filter, limit, after)) ?? (yield* matches.matches(filter, {})).filter(isAfter)
    return found.sort(byPriority).slice(0, limit)
  }

  return {
    *list(filter, limit, after) {
      return yield* reader.records(yield* best(filter, limit, after))
    },
    *listBrief(filter, limit) {
      return yield* reader.brief(yield* best(filter, limit, undefined))
    },
    *page(filter, limit, after) {
      const found = yield* best(filter, limit + 1, after)
      const fit = yield* reader.fitting(found.slice(0, limit))
      return { rows: yield* reader.records(fit), isLast: fit.length === found.length }
    },
    // By `seq` and not by `created_at`: a clock that was set back must not reorder tasks.
    *newest(filter, limit, offset) {
      if (limit <= 0) return []
      return yield* reader.records(
        (yield* matches.matches(filter, { latestFirst: true, limit: offset + limit })).slice(offset),
      )
    },
    *oldest(filter, limit, after) {
      return yield* reader.brief(yield* matches.matches(filter, { after, limit }))
    },
    asOf: (position, limit, afterSeq, ids) => tasksAsOf(reader, matches, { position, limit, afterSeq, ids }),
    *count(filter) {
      if (filter.words !== undefined || filter.below !== undefined) return (yield* matches.matches(filter, {})).length
      const few = yield* matches.fewOf(filter)
      const conditions = allOf(conditionsOf(dialect, filter))
      let total = 0
      for (const part of few === undefined ? yield* matches.partsOf({}) : [{ seqs: few }]) {
        const query = sql`select count(*) as total ${reader.fromTask} where ${reader.isIn(part)} and ${conditions}`
        total += Number((yield* reader.query<{ total: number }>(query))[0]?.total ?? 0)
      }
      return total
    },
    *countByStatus() {
      const counts = Object.fromEntries(taskStatuses.map((status) => [status, 0])) as Record<TaskStatus, number>
      for (const part of yield* matches.partsOf({})) {
        const found = yield* reader.rows<{ status: TaskStatus; tasks: number }>(countStatuses, part)
        for (const { status, tasks: counted } of found) counts[status] += Number(counted)
      }
      return counts
    },
    children: (parent) => families.children(parent),
    subtree: (root) => families.subtree(root),
    briefSubtree: (root) => families.briefSubtree(root),
    idsBelow: (root) => families.idsBelow(root),
  }
}

// Tasks as of a past position of the feed: each with its last event up to there.

/** The maximum of tasks that one statement reads with their events. */
const maxTasksRead = 200

function* tasksAsOf(
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
      .where(
        sql<boolean>`(${part === undefined ? isAmong(reader.dialect, ids ?? []) : sql`${reader.isIn(part)} and task.system = 0`})`,
      )
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
