// Purge: whole families that have been settled for long enough, and that no other task needs, are marked in one statement. Their rows are
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
  row,
  rows,
  type Statement,
  type StatementCompiler,
  sliced,
  sql,
} from '../statement.ts'
import { ofTask } from '../table-mapping.ts'

const settled = sql.join(settledStatuses.map((status) => sql.lit(status)))

/** How many tasks of a family one statement examines. */
const maxTasks = 200

export function createPurge(compiler: StatementCompiler, idsBelow: Tx['task']['idsBelow']): Tx['purge'] {
  const { selectRoots, insertBegun, selectBegun, selectIncluding, selectTouched } = familyStatements(compiler)
  const inspection = inspectionStatements(compiler)
  const { updateFreed, deleteEdge, deleteMarks, deleteTasks } = removalStatements(compiler)
  const contents = contentStatements(compiler)
  const eventsOf = function* (ids: string): Op<{ events: number; through: number }> {
    const size = yield* sliced(row<{ events: number; through: number | null }>(inspection.selectEvents, { ids }))
    return { events: Number(size?.events ?? 0), through: Number(size?.through ?? 0) }
  }

  return {
    roots: (before, limit, after = { completedAt: -1, seq: 0 }) =>
      rows<PurgePosition & { id: string }>(selectRoots, { before, limit, ...after }),
    *inspect(root, before) {
      const family: Purgeable = { root, tasks: 0, events: 0, through: 0, outside: [] }
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
        const { events, through } = yield* eventsOf(some.ids)
        family.events += events
        family.through = Math.max(family.through, through)
      }
      family.tasks = ids.length
      return family
    },
    touched: (roots, after, upTo) => sliced(column(selectTouched, { roots: JSON.stringify(roots), after, upTo })),
    begun: (limit) => column(selectBegun, { limit }),
    *includes(task) {
      return (yield* row(selectIncluding, { task })) !== undefined
    },
    *lastEvent(tasks) {
      return (yield* eventsOf(JSON.stringify(tasks))).through
    },
    *begin(families) {
      // Of the dependents only failed ones count the edge still: a retry must not find them blocked by a deleted task.
      for (const edge of families.flatMap(({ outside }) => outside)) {
        yield* change(updateFreed, edge)
        yield* change(deleteEdge, edge)
      }
      yield* change(insertBegun, { roots: JSON.stringify(families.map(({ root }) => root)) })
    },
    *remove(tasks, limit) {
      const ids = JSON.stringify(tasks)
      let left = limit
      for (const content of contents) {
        left -= yield* change(content, { ids, limit: left })
        if (left <= 0) return true
      }
      const emptied = JSON.stringify(tasks.slice(0, left))
      yield* change(deleteMarks, { ids: emptied })
      yield* change(deleteTasks, { ids: emptied })
      return tasks.length > left
    },
  }
}

function familyStatements({ prepareText, dialect }: StatementCompiler) {
  const selectRoots = prepareText(
    (hole) => sql`select id, completed_at as "completedAt", seq from task
      where parent_id is null and completed_at is not null and completed_at < ${hole('before')}
        and (completed_at, seq) > (${hole('completedAt')}, ${hole('seq')})
        and not exists (select 1 from purging where root_id = task.id)
      order by completed_at, seq limit ${hole('limit')}`,
  )
  const insertBegun = prepareText(
    { inserts: 'purging' },
    (hole) => sql`insert into purging (root_id) select value from ${listed(dialect, hole('roots'))} as named`,
  )
  const selectBegun = prepareText('unshared', (hole) => sql`select root_id from purging limit ${hole('limit')}`)
  // Asked of settled tasks only. While nothing is being purged, it reads an empty table. UNION, so that a cycle of parents ends.
  const selectIncluding = prepareText(
    'unshared',
    (hole) => sql`select 1 from purging where root_id in (
      with recursive above (id) as (
        select ${hole('task', ofTask)}
        union select upper.parent_id from task as upper join above on upper.id = above.id)
      select id from above) limit 1`,
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
  return { selectRoots, insertBegun, selectBegun, selectIncluding, selectTouched }
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
  return { selectObstacle, selectEdges, selectEvents }
}

function removalStatements({ prepareText, dialect }: StatementCompiler) {
  const isEdge = (hole: Holes) =>
    sql`task_id = ${hole('taskId')} and blocker_id = ${hole('blockerId')} and call_id = ${hole('callId')}`
  const updateFreed = prepareText(
    { changes: 'task' },
    (hole) => sql`update task set open_blockers = open_blockers - 1
      where id = ${hole('taskId')} and status = 'failed'
        and exists (select 1 from dependency where ${isEdge(hole)} and kind = 'after' and satisfied_at is null)`,
  )
  const deleteEdge = prepareText({ changes: 'dependency' }, (hole) => sql`delete from dependency where ${isEdge(hole)}`)
  const deleteMarks = prepareText(
    { changes: 'purging' },
    (hole) => sql`delete from purging where root_id ${among(dialect, hole('ids'))}`,
  )
  const deleteTasks = prepareText(
    { changes: 'task' },
    (hole) => sql`delete from task where id ${among(dialect, hole('ids'))}`,
  )
  return { updateFreed, deleteEdge, deleteMarks, deleteTasks }
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
    removed('signal', 'seq'),
    removed('event', 'seq'),
    removed('run', 'task_id, number'),
    removed('board_task', 'board, number'),
    // Before its stints: a team of a completed task without active agents would be closed.
    removed('team', 'task_id'),
    removed('stint', 'seq'),
    removed('objective', 'task_id, number'),
    removed('branch', 'seq', 'task_id', sql`and agent_id is not null and ${isUnused}`),
    removed('branch', 'seq', 'task_id', sql`and agent_id is null and ${isUnused}`),
  ]
}
