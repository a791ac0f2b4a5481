// All that lies below a task, at any depth, as the head of a statement about it.
import { sql } from '../statement.ts'

/** UNION, not UNION ALL: a cycle in the parents, which nothing should ever have written, ends instead of looping. */
export const withBelow = (root: unknown) => sql`with recursive below (id) as (
    select id from task where parent_id = ${root}
    union select task.id from task join below on task.parent_id = below.id)`
