// Purge: whole families that have been settled for long enough, and that no other task needs, are hidden in one statement. Their rows are
// then removed in pieces, so that no transaction grows with a family.
import { settledStatuses } from '../../entities/task.ts'
import type { StoredTable } from '../concern.ts'
import type { Op, OutsideEdge, Purgeable, PurgePosition, Tx } from '../ledger.ts'
import {
  among,
  change,
  column,
  type Holes,
  listed,
  numberOf,
  row,
  rows,
  type Statement,
  type StatementCompiler,
  sliced,
  sql,
} from '../statement.ts'
import { isShownTask } from './hidden.ts'

const settled = sql.join(settledStatuses.map((status) => sql.lit(status)))

/** How many tasks of a family one statement examines or removes. */
const maxTasks = 200

/** A read of a hidden task climbs to the next hidden root: in a deep family there is one on each of so many levels. */
const levels = 64
/** The maximum of lower roots of a family: a read climbs further in one with more. */
const maxLowerRoots = 1_000

export function createPurge(compiler: StatementCompiler, idsBelow: Tx['task']['idsBelow']): Tx['purge'] {
  const { selectRoots, insertHidden, countHidden, selectTouched } = familyStatements(compiler)
  const inspection = inspectionStatements(compiler)
  const removal = createRemoval(compiler)

  return {
    roots: (before, limit, after = { completedAt: -1, seq: 0 }) =>
      rows<PurgePosition & { id: string }>(selectRoots, { before, limit, ...after }),
    *inspect(root, before) {
      const family: Purgeable = { root, tasks: 0, events: 0, through: 0, outside: [], lowerRoots: [] }
      const ids = [root, ...(yield* idsBelow(root))]
      const members = new Set(ids)
      for (let at = 0; at < ids.length; at += maxTasks) {
        const some = { ids: JSON.stringify(ids.slice(at, at + maxTasks)), before }
        if ((yield* sliced(row(inspection.selectObstacle, some))) !== undefined) return undefined
        const edges = yield* sliced(rows<OutsideEdge & { isNeeded: number }>(inspection.selectEdges, some))
        for (const { isNeeded, ...edge } of edges) {
          if (members.has(edge.taskId)) continue
          if (isNeeded === 1) return undefined
          family.outside.push(edge)
        }
        const size = yield* sliced(row<{ events: number; through: number | null }>(inspection.selectEvents, some))
        family.events += Number(size?.events ?? 0)
        family.through = Math.max(family.through, Number(size?.through ?? 0))
        if (ids.length > levels && family.lowerRoots.length < maxLowerRoots) {
          const found = yield* sliced(column<string>(inspection.selectLowerRoots, some))
          family.lowerRoots = family.lowerRoots.concat(found)
        }
      }
      family.tasks = ids.length
      return family
    },
    touched: (roots, after, upTo) => sliced(column(selectTouched, { roots: JSON.stringify(roots), after, upTo })),
    *hide(families) {
      for (const edge of families.flatMap(({ outside }) => outside)) yield* removal.cut(edge)
      const roots = families.flatMap(({ root, lowerRoots }) => [root, ...lowerRoots])
      // A bound: events up to it may be hidden.
      const through = families.reduce((latest, family) => Math.max(latest, family.through), 0)
      yield* change(insertHidden, { roots: JSON.stringify(roots), through })
    },
    *isHiding() {
      return (yield* numberOf(countHidden)) > 0
    },
    remove: removal.remove,
  }
}

function familyStatements({ prepareText, dialect }: StatementCompiler) {
  const selectRoots = prepareText(
    (hole) => sql`select id, completed_at as "completedAt", seq from task
      where parent_id is null and completed_at is not null and completed_at < ${hole('before')}
        and (completed_at, seq) > (${hole('completedAt')}, ${hole('seq')}) and ${isShownTask}
      order by completed_at, seq limit ${hole('limit')}`,
  )
  const insertHidden = prepareText(
    { inserts: 'purging' },
    (hole) => sql`insert into purging (root_id, through)
      select value, ${hole('through')} from ${listed(dialect, hole('roots'))} as named`,
  )
  const countHidden = prepareText(
    'unshared',
    () => sql`select count(*) as families from (select 1 from purging limit 1) as counted`,
  )
  // From the tasks with events, and from those that they come after or wait for, up to their roots.
  const selectTouched = prepareText((hole) => {
    const changed = sql`select task_id from event where seq > ${hole('after')} and seq <= ${hole('upTo')}`
    return sql`with recursive above (id) as (
        ${changed}
        union select blocker_id from dependency where task_id in (${changed})
        union select upper.parent_id from task as upper join above on upper.id = above.id)
      select id from above where id ${among(dialect, hole('roots'))}`
  })
  return { selectRoots, insertHidden, countHidden, selectTouched }
}

/** What is asked of some tasks of a family. */
function inspectionStatements({ prepareText, dialect }: StatementCompiler) {
  const isOne = (hole: Holes) => among(dialect, hole('ids'))
  // The memory of a team that an engine still has to consolidate (its agents completed, the team closed) would be lost with the team. CROSS
  // JOIN, because SQLite would otherwise begin with all completed tasks.
  const selectObstacle = prepareText(
    (hole) => sql`select 1 from task
        where id ${isOne(hole)} and (completed_at is null or completed_at >= ${hole('before')} or run_open = 1)
      union all
      select 1 from stint where task_id ${isOne(hole)} and status = 'active' and worker_id is not null
      union all
      select 1 from team cross join task
        where task.id = team.task_id and team.task_id ${isOne(hole)} and team.closed_at is null and task.status = 'completed' and task.deleted_at is null
          and not exists (select 1 from stint where stint.task_id = team.task_id and stint.status = 'active')
      limit 1`,
  )
  // An open task needs satisfied edges too: it still reads the results of its blockers, and of the tasks it waited for.
  const selectEdges = prepareText(
    (hole) => sql`select edge.task_id as "taskId", edge.blocker_id as "blockerId", edge.call_id as "callId",
        case when task.status not in (${settled}) and task.deleted_at is null
          and (edge.kind = 'after' or edge.satisfied_at is null or wait.status = 'pending') then 1 else 0 end as "isNeeded"
      from dependency as edge join task on task.id = edge.task_id left join "call" as wait on wait.id = edge.call_id
      where edge.blocker_id ${isOne(hole)}`,
  )
  const selectEvents = prepareText(
    (hole) => sql`select count(*) as events, max(seq) as through from event where task_id ${isOne(hole)}`,
  )
  const selectLowerRoots = prepareText(
    (hole) => sql`select id from task
      where id ${isOne(hole)} and depth > 0 and depth % ${levels} = 0
        and exists (select 1 from task as child where child.parent_id = task.id)`,
  )
  return { selectObstacle, selectEdges, selectEvents, selectLowerRoots }
}

/** A task that may be removed next, if it has no children. */
interface Candidate {
  id: string
  isParent: number
}

function createRemoval(compiler: StatementCompiler) {
  const { selectHidden, selectChildren, insertRoots, updateRoots, updateFreed, deleteEdge, deleteRoots, deleteTasks } =
    removalStatements(compiler)
  const contents = contentStatements(compiler)

  /** At most `limit` hidden roots, or their children where each of these roots has some; empty when nothing is hidden. */
  function* candidates(limit: number): Op<Candidate[]> {
    const roots = yield* rows<Candidate>(selectHidden, { limit })
    if (roots.some(({ isParent }) => isParent === 0)) return roots
    return yield* rows<Candidate>(selectChildren, { parents: JSON.stringify(roots.map(({ id }) => id)), limit })
  }

  /** Removes tasks without children, with all that belongs to them; at most `limit` rows. Returns the number. */
  function* removeTasks(tasks: readonly string[], limit: number): Op<number> {
    const ids = JSON.stringify(tasks)
    let left = limit
    for (const content of contents) {
      left -= yield* change(content, { ids, limit: left })
      if (left <= 0) return limit
    }
    const emptied = JSON.stringify(tasks.slice(0, left))
    yield* change(deleteRoots, { ids: emptied })
    return limit - left + (yield* change(deleteTasks, { ids: emptied }))
  }

  /** Makes children of hidden roots hidden roots themselves. A lower root is one already, and only loses its parent. */
  function* makeRoots(tasks: readonly string[]): Op<number> {
    const ids = JSON.stringify(tasks)
    yield* change(insertRoots, { ids })
    return yield* change(updateRoots, { ids })
  }

  return {
    /** Of the dependents only failed ones count it still: a retry must not find them blocked by a deleted task. */
    *cut(edge: OutsideEdge): Op<void> {
      yield* change(updateFreed, edge)
      yield* change(deleteEdge, edge)
    },
    *remove(limit: number): Op<number> {
      let left = limit
      while (left > 0) {
        const found = yield* candidates(Math.min(left, maxTasks))
        if (found.length === 0) break
        const leaves = found.filter(({ isParent }) => isParent === 0)
        const ids = (leaves.length > 0 ? leaves : found).map(({ id }) => id)
        left -= yield* leaves.length > 0 ? removeTasks(ids, left) : makeRoots(ids)
      }
      return limit - left
    },
  }
}

function removalStatements({ prepareText, dialect }: StatementCompiler) {
  const isParent = sql`case when exists (select 1 from task as child where child.parent_id = task.id) then 1 else 0 end as "isParent"`
  // The deepest first, so that few tasks are listed at a time. CROSS JOIN, because SQLite would otherwise begin with all tasks.
  const selectHidden = prepareText(
    (hole) => sql`select task.id, ${isParent} from purging cross join task where task.id = root_id
      order by task.depth desc limit ${hole('limit')}`,
  )
  const selectChildren = prepareText(
    (hole) => sql`select id, ${isParent} from task
      where parent_id ${among(dialect, hole('parents'))} limit ${hole('limit')}`,
  )
  const insertRoots = prepareText(
    { changes: 'purging' },
    (hole) => sql`insert into purging (root_id, through)
      select task.id, purging.through from task cross join purging
      where task.id ${among(dialect, hole('ids'))} and purging.root_id = task.parent_id
      on conflict do nothing`,
  )
  const updateRoots = prepareText(
    { changes: 'task' },
    (hole) => sql`update task set parent_id = null where id ${among(dialect, hole('ids'))}`,
  )
  const isEdge = (hole: Holes) =>
    sql`task_id = ${hole('taskId')} and blocker_id = ${hole('blockerId')} and call_id = ${hole('callId')}`
  const updateFreed = prepareText(
    { changes: 'task' },
    (hole) => sql`update task set open_blockers = open_blockers - 1
      where id = ${hole('taskId')} and status = 'failed'
        and exists (select 1 from dependency where ${isEdge(hole)} and kind = 'after' and satisfied_at is null)`,
  )
  const deleteEdge = prepareText({ changes: 'dependency' }, (hole) => sql`delete from dependency where ${isEdge(hole)}`)
  const deleteRoots = prepareText(
    { changes: 'purging' },
    (hole) => sql`delete from purging where root_id ${among(dialect, hole('ids'))}`,
  )
  const deleteTasks = prepareText(
    { changes: 'task' },
    (hole) => sql`delete from task where id ${among(dialect, hole('ids'))}`,
  )
  return { selectHidden, selectChildren, insertRoots, updateRoots, updateFreed, deleteEdge, deleteRoots, deleteTasks }
}

/** What belongs to some tasks, each statement so many rows of one kind. The memory of their teams stays: it outlives them. */
function contentStatements({ prepareText, dialect }: StatementCompiler): Statement[] {
  const removed = (table: StoredTable, key: string, whose = 'task_id', more = sql``) =>
    prepareText(
      { changes: table },
      (hole) => sql`delete from ${sql.table(table)} where (${sql.raw(key)}) in (
        select ${sql.raw(key)} from ${sql.table(table)}
        where ${sql.ref(whose)} ${among(dialect, hole('ids'))} ${more} limit ${hole('limit')})`,
    )
  // A branch without any content is deleted: those of agents before those above them.
  const isUnused = sql`not exists (select 1 from observation where observation.branch = branch.name)
    and not exists (select 1 from fact where fact.branch = branch.name)
    and not exists (select 1 from consolidation where source_branch = branch.name)
    and not exists (select 1 from consolidation where target_branch = branch.name)
    and not exists (select 1 from team where team.parent_branch = branch.name)
    and not exists (select 1 from stint where stint.branch = branch.name)
    and not exists (select 1 from branch as below where below.parent = branch.name)`
  return [
    removed('dependency', 'task_id, blocker_id, call_id'),
    removed('dependency', 'task_id, blocker_id, call_id', 'blocker_id'),
    removed('call', 'seq'),
    removed('message', 'task_id, n'),
    removed('event', 'seq'),
    removed('run', 'task_id, number'),
    removed('board_task', 'board, number'),
    removed('stint', 'seq'),
    removed('objective', 'task_id, number'),
    removed('team', 'task_id'),
    removed('branch', 'seq', 'task_id', sql`and agent_id is not null and ${isUnused}`),
    removed('branch', 'seq', 'task_id', sql`and agent_id is null and ${isUnused}`),
  ]
}
