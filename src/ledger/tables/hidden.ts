// What a purge has hidden: a family whose root is listed in `purging`, while its rows leave in pieces. Nothing is written to its tasks, so
// a family of any size is hidden at once. While nothing is being purged, each condition is one look at an empty table for each statement.
import { type RawSql, sql } from '../statement.ts'

const nothingIsPurged = sql`not exists (select 1 from purging)`

/** UNION, so that a cycle of parents, which errand never writes, ends. */
const isBelowHidden = (id: unknown) =>
  sql`exists (with recursive above (id) as (
      select ${id}
      union select upper.parent_id from task as upper join above on upper.id = above.id)
    select 1 from above cross join purging where purging.root_id = above.id)`

/** The task with an id, which is a value or a column of another table, is not hidden. */
export const isShown = (id: unknown): RawSql => sql`(${nothingIsPurged} or not ${isBelowHidden(id)})`

/** A row of `task` is not hidden. Only settled tasks are; the root is compared by itself, for PostgreSQL orders ids and parents otherwise. */
export const isShownTask = sql<boolean>`(${nothingIsPurged} or task.completed_at is null
  or not (exists (select 1 from purging where root_id = task.id) or ${isBelowHidden(sql`task.parent_id`)}))`
