// The tables of team tasks: the team of a task on which several agents work, its objectives, and the stints of its agents.

import type { Tx, TypeCount } from '../../ledger.ts'
import { queryRows, rows, type StatementCompiler, sql } from '../../statement.ts'
import { defineTable, json, jsonOrNull, ofTask, plain, statementsOf } from '../../table-mapping.ts'
import { tasks } from '../task-columns.ts'

/** What may change of a team. */
const teamFields = {
  type: plain,
  parentBranch: plain,
  durableThreshold: plain,
  durableCategories: jsonOrNull,
  summary: plain,
  checkpointId: plain,
  mergeId: plain,
  closedAt: plain,
  createdAt: plain,
}
export const teams = defineTable('team', { taskId: ofTask, branch: plain, ...teamFields })

/** What may change of an objective. */
const objectiveFields = { description: plain, status: plain, agentId: plain, notes: plain, updatedAt: plain }
const objectives = defineTable('objective', { taskId: ofTask, number: plain, ...objectiveFields })

/** What may change of a stint. */
const stintFields = {
  role: plain,
  branch: plain,
  status: plain,
  objectives: json,
  summary: plain,
  workerId: ofTask,
  joinedAt: plain,
  leftAt: plain,
}
export const stints = defineTable('stint', { taskId: ofTask, agentId: plain, number: plain, ...stintFields })

/** The columns in rows that also have those of a task. */
const asTeam = teams.columns('team', 'team.')
const asStint = stints.columns('stint', 'stint.')
const teamOf = (joined: object) => teams.pick(joined, 'team.')
const stintOf = (joined: object) => stints.pick(joined, 'stint.')

export function createTeamTable(compiler: StatementCompiler): Tx['team'] {
  const { dialect } = compiler
  const ofTeams = statementsOf(compiler, teams)
  const ofObjectives = statementsOf(compiler, objectives)
  const ofStints = statementsOf(compiler, stints)
  const statements = teamStatements(compiler)

  return {
    get: ofTeams.finds('taskId'),
    ofBranch: ofTeams.finds('branch'),
    *list(filter, limit, offset) {
      // PostgreSQL has no empty list.
      if (filter.statuses?.length === 0) return []
      // CROSS JOIN makes SQLite begin with the teams, which are few beside the tasks.
      let query = dialect.db
        .selectFrom('team')
        .crossJoin('task')
        .whereRef('task.id', '=', 'team.task_id')
        .select([tasks.columns(), asTeam] as never)
        .where('task.deleted_at', 'is', null)
      if (filter.type !== undefined) query = query.where('team.type', '=', filter.type)
      if (filter.statuses !== undefined) query = query.where('task.status', 'in', filter.statuses)
      const page = query.orderBy('task.seq', 'desc').limit(limit).offset(offset)
      const found = yield* queryRows<object>(page.compile())
      return found.map((joined) => ({ team: teamOf(joined), task: tasks.pick(joined) }))
    },
    unclosed: (limit) => rows(statements.selectUnclosed, { limit }),
    objectives: (task) => objectives.list(statements.selectObjectives, { task }),
    stints: (task) => stints.list(statements.selectStints, { task }),
    activeStints: (task) => stints.list(statements.selectActive, { task }),
    latestStint: (task, agent) => stints.one(statements.selectLatest, { task, agent }),
    stintOfWorker: (worker) => stints.one(statements.selectOfWorker, { worker }),
    abandoned: (limit) => stints.list(statements.selectAbandoned, { limit }),
    *timeline(agent, limit, offset) {
      const found = yield* rows<object>(statements.selectTimeline, { agent, limit, offset })
      return found.map((joined) => ({ stint: stintOf(joined), task: tasks.pick(joined), team: teamOf(joined) }))
    },
    countByType: () => rows<TypeCount>(statements.countByType),
    insert: ofTeams.inserts(),
    save: ofTeams.saves(teamFields, ['taskId']),
    insertObjective: ofObjectives.inserts(),
    saveObjective: ofObjectives.saves(objectiveFields, ['taskId', 'number']),
    insertStint: ofStints.inserts(),
    saveStint: ofStints.saves(stintFields, ['taskId', 'agentId', 'number']),
  }
}

function teamStatements(compiler: StatementCompiler) {
  const { prepareText } = compiler
  const ofObjectives = statementsOf(compiler, objectives)
  const ofStints = statementsOf(compiler, stints)
  return {
    // Begins at the open teams, which are few, by their partial index. An active agent may still add to the memory.
    selectUnclosed: prepareText(
      (hole) => sql`select task.id as "taskId", task.seq from team cross join task
        where team.closed_at is null and task.id = team.task_id and task.status = 'completed'
          and not exists (select 1 from stint where stint.task_id = team.task_id and stint.status = 'active')
        order by task.seq limit ${hole('limit')}`,
    ),
    selectObjectives: ofObjectives.select((objective, hole) =>
      objective.where('task_id', '=', hole('task', ofTask)).orderBy('number', 'asc'),
    ),
    selectStints: ofStints.select((stint, hole) =>
      stint.where('task_id', '=', hole('task', ofTask)).orderBy('seq', 'asc'),
    ),
    // The conditions of partial indexes are part of the text, because the planner uses the indexes only then.
    selectActive: ofStints.select((stint, hole) =>
      stint.where(sql<boolean>`status = 'active'`).where('task_id', '=', hole('task', ofTask)).orderBy('seq', 'asc'),
    ),
    selectLatest: ofStints.select((stint, hole) =>
      stint
        .where('task_id', '=', hole('task', ofTask))
        .where('agent_id', '=', hole('agent'))
        .orderBy('number', 'desc')
        .limit(1),
    ),
    selectOfWorker: ofStints.select((stint, hole) =>
      stint
        .where(sql<boolean>`status = 'active' and worker_id is not null`)
        .where('worker_id', '=', hole('worker', ofTask))
        .orderBy('seq', 'desc')
        .limit(1),
    ),
    // A worker that was purged had settled before. `+ 0`, because SQLite would otherwise read all stints in the requested order instead of
    // the active ones.
    selectAbandoned: prepareText(
      (hole) => sql`select ${stints.columns()} from stint left join task on task.id = stint.worker_id
        where stint.status = 'active' and stint.worker_id is not null and (task.id is null or task.completed_at is not null)
        order by stint.seq + 0 limit ${hole('limit')}`,
    ),
    selectTimeline: prepareText(
      (hole) => sql`select ${tasks.columns()}, ${asTeam}, ${asStint} from stint
        join task on task.id = stint.task_id and task.deleted_at is null
        join team on team.task_id = stint.task_id
        where stint.agent_id = ${hole('agent')}
        order by stint.seq desc limit ${hole('limit')} offset ${hole('offset')}`,
    ),
    countByType: prepareText(
      () => sql`select team.type, count(*) as total,
          sum(case when task.status = 'completed' then 1 else 0 end) as completed,
          sum(case when task.status = 'failed' then 1 else 0 end) as failed,
          sum(case when task.status = 'canceled' then 1 else 0 end) as canceled,
          cast(sum(case when task.status = 'completed' then task.completed_at - task.created_at else 0 end) as bigint) as "completedMs"
        from team cross join task where task.id = team.task_id and task.deleted_at is null
        group by team.type order by team.type is null, team.type`,
    ),
  }
}
