// Purge: deletes whole families that have been settled for long enough and for which no other task waits.
import { settledStatuses } from '../../entities/task.ts'
import type { Purged, PurgePosition, Tx } from '../ledger.ts'
import { change, type Holes, row, rows, type StatementCompiler, sql } from '../statement.ts'

const settled = sql.join(settledStatuses.map((status) => sql.lit(status)))

const family = (hole: Holes) => sql`with recursive family(id) as (
    select id from task where id = ${hole('root')}
    union
    select task.id from family cross join task where task.parent_id = family.id
  )`
const members = sql`select id from family`

export function createPurge(compiler: StatementCompiler): Tx['cascade']['purge'] {
  const { selectRoots, selectObstacle, selectSize } = purgeReads(compiler)
  const { removals } = removalStatements(compiler)

  return function* (before, limit, after: PurgePosition = { completedAt: -1, seq: 0 }) {
    const purged: Purged = { families: 0, tasks: 0, events: 0, through: 0, next: undefined }
    const roots = yield* rows<{ id: string; completed_at: number; seq: number }>(selectRoots, {
      before,
      limit,
      ...after,
    })
    for (const { id: root } of roots) {
      if ((yield* row(selectObstacle, { root, before })) !== undefined) continue
      const size = yield* row<Record<'tasks' | 'events' | 'through', number | null>>(selectSize, { root })
      for (const removal of removals) yield* change(removal, { root })
      purged.families++
      purged.tasks += Number(size?.tasks ?? 0)
      purged.events += Number(size?.events ?? 0)
      purged.through = Math.max(purged.through, Number(size?.through ?? 0))
    }
    const last = roots.at(-1)
    if (last !== undefined && roots.length === limit) {
      purged.next = { completedAt: Number(last.completed_at), seq: Number(last.seq) }
    }
    return purged
  }
}

function purgeReads(compiler: StatementCompiler) {
  const { prepareText } = compiler
  const selectRoots = prepareText(
    (hole) => sql`select id, completed_at, seq from task
      where parent_id is null and completed_at is not null and completed_at < ${hole('before')}
        and (completed_at, seq) > (${hole('completedAt')}, ${hole('seq')})
      order by completed_at, seq limit ${hole('limit')}`,
  )
  // Satisfied edges count too: an open task still reads the results of its blockers, and of the tasks it waited for. So does the memory of
  // a team that an engine still has to consolidate (its agents completed, the team closed): it would be lost with the team. CROSS JOIN
  // makes SQLite begin with the family.
  const selectObstacle = prepareText(
    (hole) => sql`${family(hole)}
      select 1 from family cross join task
        where task.id = family.id
          and (task.completed_at is null or task.completed_at >= ${hole('before')} or task.run_open = 1)
      union all
      select 1 from family cross join dependency as edge cross join task left join "call" as wait on wait.id = edge.call_id
        where edge.blocker_id = family.id and task.id = edge.task_id and task.status not in (${settled}) and task.deleted_at is null
          and (edge.kind = 'after' or edge.satisfied_at is null or wait.status = 'pending')
          and edge.task_id not in (${members})
      union all
      select 1 from family cross join stint
        where stint.task_id = family.id and stint.status = 'active' and stint.worker_id is not null
      union all
      select 1 from family cross join team cross join task
        where team.task_id = family.id and task.id = team.task_id and team.closed_at is null and task.status = 'completed' and task.deleted_at is null
          and not exists (select 1 from stint where stint.task_id = team.task_id and stint.status = 'active')
      limit 1`,
  )
  const selectSize = prepareText(
    (hole) => sql`${family(hole)}
      select (select count(*) from family) as tasks,
        (select count(*) from event where task_id in (${members})) as events,
        (select max(seq) from event where task_id in (${members})) as through`,
  )
  return { selectRoots, selectObstacle, selectSize }
}

function removalStatements(compiler: StatementCompiler) {
  const { prepareText } = compiler
  const removals = [
    // Of the dependents only failed ones are left (see the obstacles): a retry must not find them blocked by a deleted task. `coalesce`
    // prevents a search of all failed tasks.
    sql`update task set open_blockers = open_blockers - (
        select count(*) from dependency as edge
        where edge.task_id = task.id and edge.kind = 'after' and edge.satisfied_at is null
          and edge.blocker_id in (${members}))
      where coalesce(status, '') = 'failed' and id in (select task_id from dependency
        where kind = 'after' and satisfied_at is null and blocker_id in (${members}))`,
    sql`delete from dependency
      where task_id in (${members}) or blocker_id in (${members})`,
    // The memory of the team stays: branches, observations, facts and their record outlive its task.
    ...['call', 'message', 'event', 'run', 'board_task', 'stint', 'objective', 'team'].map(
      (table) => sql`delete from ${sql.table(table)} where task_id in (${members})`,
    ),
    // A branch without any content is deleted: those of agents before those above them.
    ...[sql`agent_id is not null`, sql`agent_id is null`].map(
      (whose) =>
        sql`delete from branch where task_id in (${members}) and ${whose}
        and not exists (select 1 from observation where observation.branch = branch.name)
        and not exists (select 1 from fact where fact.branch = branch.name)
        and not exists (select 1 from consolidation where source_branch = branch.name)
        and not exists (select 1 from consolidation where target_branch = branch.name)
        and not exists (select 1 from team where team.parent_branch = branch.name)
        and not exists (select 1 from stint where stint.branch = branch.name)
        and not exists (select 1 from branch as below where below.parent = branch.name)`,
    ),
    // Last, because the family is found by its parents.
    sql`delete from task where id in (${members})`,
  ].map((removal) => prepareText((hole) => sql`${family(hole)} ${removal}`))
  return { removals }
}
