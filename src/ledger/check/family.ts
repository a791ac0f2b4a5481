// Rules about parents and children: the place of a task in its tree, and what the end of one means for the other.
import { counted } from '../../core/counted.ts'
import { type RawSql, sql } from '../statement.ts'
import { type Check, statementCheck } from './rule.ts'

const depth = statementCheck(
  {
    name: 'task-depth',
    explains:
      'A task is one level below its parent, and a root is on level 0, because `maxDepth` is compared with that number; so no task is above itself.',
  },
  sql`select task.id as subject, task.depth, parent.id as parent, parent.depth as above
    from task left join task as parent on parent.id = task.parent_id
    where task.depth <> coalesce(parent.depth + 1, 0)`,
  ({ depth: found, parent, above }) =>
    parent === null
      ? `It is a root, and its depth is ${found}.`
      : `Its depth is ${found}, and that of its parent ${parent} is ${above}.`,
)

const childCount = statementCheck(
  {
    name: 'child-count',
    explains: 'A task counts all children that it has had, because `maxChildren` is compared with that number.',
  },
  sql`select task.id as subject, task.child_count as says, family.children as found
    from task join (
      select parent_id, count(*) as children from task where parent_id is not null group by parent_id
    ) as family on family.parent_id = task.id
    where task.child_count < family.children`,
  ({ says, found }) => `It counts ${counted(Number(says), 'child', 'children')}, and it has ${found}.`,
)

/** `system` is `systemLane` of entities/limits.ts. The key is found as a key alone: within a text of the policy the quotes are escaped. */
const expectedLane = sql`case when task.executor is not null and task.system = 1 then 'system' when task.executor is not null and parent.policy like '%"concurrency":%' then parent.id else '' end`

const lane = statementCheck(
  {
    name: 'task-lane',
    explains:
      'A system task with an executor is in the lane of these, and any other in the lane of its parent exactly while the parent limits how many of its children run, because the limit counts the tasks of the lane.',
  },
  sql`select task.id as subject, task.lane, ${expectedLane} as expected
    from task left join task as parent on parent.id = task.parent_id
    where task.lane <> ${expectedLane}`,
  ({ lane: found, expected }) =>
    `It is in ${found === '' ? 'no lane' : `the lane of ${found}`}, and belongs in ${expected === '' ? 'none' : `that of ${expected}`}.`,
)

/** All tasks below some, each with the one that it is below, by `seq`: the ids of parents have another collation on PostgreSQL. */
const below = (roots: RawSql) => sql`(
      with recursive below (seq, root) as (
        ${roots}
        union select child.seq, below.root from below cross join task as upper cross join task as child
          where upper.seq = below.seq and child.parent_id = upper.id)
      select seq, min(root) as root from below group by seq)`

const belowCanceled = statementCheck(
  {
    name: 'below-canceled',
    explains:
      'Nothing below a canceled task is open, because a cancel ends the whole tree below it in the same transaction.',
  },
  sql`select task.id as subject, task.status, canceled.id as canceled
    from ${below(sql`select child.seq, task.seq from task join task as child on child.parent_id = task.id where task.status = 'canceled'`)} as below
    join task on task.seq = below.seq join task as canceled on canceled.seq = below.root
    where task.completed_at is null and task.deleted_at is null`,
  ({ status, canceled }) => `It is ${status}, though ${canceled} above it is canceled.`,
)

const groupEnd = statementCheck(
  {
    name: 'group-end',
    explains:
      'A group ends with the last of its tasks, in the same transaction, because nothing else would end it later.',
  },
  sql`select task.id as subject, task.status, family.children
    from task join (
      select parent_id, count(*) as children, count(completed_at) as settled from task
      where parent_id is not null and deleted_at is null group by parent_id
    ) as family on family.parent_id = task.id
    where task.is_group = 1 and task.completed_at is null and task.deleted_at is null and family.children = family.settled`,
  ({ status, children }) => `It is ${status}, though all of its tasks (${children}) have ended.`,
)

const purged = statementCheck(
  {
    name: 'purged-family',
    explains:
      'Only families that have ended are purged, because nothing in them may live again while their rows leave.',
  },
  sql`select task.id as subject, task.status, task.run_open as "runOpen", root.id as root
    from ${below(sql`select task.seq, task.seq from purging join task on task.id = purging.root_id`)} as below
    join task on task.seq = below.seq join task as root on root.seq = below.root
    where task.completed_at is null or task.run_open = 1`,
  ({ status, runOpen, root }) =>
    `It is ${status}${runOpen === 1 ? ' with an open run' : ''}, though the family of ${root} is being purged.`,
  null,
)

export const familyChecks: readonly Check[] = [depth, childCount, lane, belowCanceled, groupEnd, purged]
