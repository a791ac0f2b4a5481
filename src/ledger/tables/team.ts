// The tables of team tasks: what is known of a task that several agents work on, its objectives, and who worked on it when.
import type { ObjectiveRecord, ObjectiveStatus, StintRecord, StintStatus, TeamRecord } from '../../entities/team.ts'
import { fromJson } from '../../json.ts'
import type { Tx, TypeCount } from '../ledger.ts'
import type { ObjectiveTableRow, StintTableRow, TeamTableRow } from '../schema.ts'
import { change, holesFor, prepareText, queryRows, row, rows, type StatementCompiler, sql } from '../statement.ts'
import { type Row as TaskRow, toRecord as toTask } from './task-row.ts'

type StintRow = Omit<StintTableRow, 'seq'>

const toTeam = (stored: TeamTableRow): TeamRecord => ({
  taskId: stored.task_id,
  type: stored.type,
  branch: stored.branch,
  parentBranch: stored.parent_branch,
  durableThreshold: stored.durable_threshold,
  durableCategories: stored.durable_categories === null ? null : fromJson<string[]>(stored.durable_categories),
  summary: stored.summary,
  checkpointId: stored.checkpoint_id,
  mergeId: stored.merge_id,
  closedAt: stored.closed_at,
  createdAt: stored.created_at,
})

const toObjective = (stored: ObjectiveTableRow): ObjectiveRecord => ({
  taskId: stored.task_id,
  number: stored.number,
  description: stored.description,
  status: stored.status as ObjectiveStatus,
  agentId: stored.agent_id,
  notes: stored.notes,
  updatedAt: stored.updated_at,
})

const toStint = (stored: StintRow): StintRecord => ({
  taskId: stored.task_id,
  agentId: stored.agent_id,
  number: stored.number,
  role: stored.role,
  branch: stored.branch,
  status: stored.status as StintStatus,
  objectives: fromJson<number[]>(stored.objectives),
  summary: stored.summary,
  workerId: stored.worker_id,
  joinedAt: stored.joined_at,
  leftAt: stored.left_at,
})

/** What may change of a team. */
const teamColumns = (team: TeamRecord) => ({
  type: team.type,
  parent_branch: team.parentBranch,
  durable_threshold: team.durableThreshold,
  durable_categories: team.durableCategories === null ? null : JSON.stringify(team.durableCategories),
  summary: team.summary,
  checkpoint_id: team.checkpointId,
  merge_id: team.mergeId,
  closed_at: team.closedAt,
  created_at: team.createdAt,
})

const objectiveColumns = (objective: ObjectiveRecord) => ({
  task_id: objective.taskId,
  number: objective.number,
  description: objective.description,
  status: objective.status,
  agent_id: objective.agentId,
  notes: objective.notes,
  updated_at: objective.updatedAt,
})

const stintColumns = (stint: StintRecord) => ({
  task_id: stint.taskId,
  agent_id: stint.agentId,
  number: stint.number,
  role: stint.role,
  branch: stint.branch,
  status: stint.status,
  objectives: JSON.stringify(stint.objectives),
  summary: stint.summary,
  worker_id: stint.workerId,
  joined_at: stint.joinedAt,
  left_at: stint.leftAt,
})

const teamNames = [
  'type',
  'parent_branch',
  'durable_threshold',
  'durable_categories',
  'summary',
  'checkpoint_id',
  'merge_id',
  'closed_at',
  'created_at',
] as const // prettier-ignore
const objectiveNames = ['description', 'status', 'agent_id', 'notes', 'updated_at'] as const
const stintNames = ['role', 'branch', 'status', 'objectives', 'summary', 'worker_id', 'joined_at', 'left_at'] as const // prettier-ignore

/** The columns of one table under names that begin with the table's, because it shares some with what it is joined to. */
const prefixed = (table: string, names: readonly string[]) =>
  sql.raw(names.map((name) => `${table}.${name} as ${table}_${name}`).join(', '))

const asTeam = prefixed('team', [...teamNames, 'task_id', 'branch'])
const asStint = prefixed('stint', [...stintNames, 'task_id', 'agent_id', 'number'])

type Joined = TaskRow & Record<string, unknown>

function partOf<R>(joined: Joined, table: string): R {
  const named = Object.entries(joined).filter(([name]) => name.startsWith(`${table}_`))
  return Object.fromEntries(named.map(([name, value]) => [name.slice(table.length + 1), value])) as R
}

const teamOf = (joined: Joined): TeamRecord => toTeam(partOf<TeamTableRow>(joined, 'team'))
const stintOf = (joined: Joined): StintRecord => toStint(partOf<StintRow>(joined, 'stint'))

type TypeRow = Record<Exclude<keyof TypeCount, 'type'>, number | string | null> & { type: string | null }

const toCount = (stored: TypeRow): TypeCount => ({
  type: stored.type,
  total: Number(stored.total),
  completed: Number(stored.completed),
  failed: Number(stored.failed),
  canceled: Number(stored.canceled),
  completedMs: Number(stored.completedMs),
})

export function createTeamTable(compiler: StatementCompiler): Tx['team'] {
  const { prepare, dialect } = compiler
  const selectOne = prepare((db, hole) => db.selectFrom('team').selectAll().where('task_id', '=', hole('task')))
  const selectOfBranch = prepare((db, hole) => db.selectFrom('team').selectAll().where('branch', '=', hole('branch')))
  // From the open ones on, of which there are few: their partial index leads.
  const selectUnclosed = prepareText(
    compiler,
    (hole) => sql`select task.id, task.seq from team cross join task
      where team.closed_at is null and task.id = team.task_id and task.status = 'completed' and task.seq > ${hole('after')}
      order by task.seq limit ${hole('limit')}`,
  )
  const selectObjectives = prepare((db, hole) =>
    db.selectFrom('objective').selectAll().where('task_id', '=', hole('task')).orderBy('number', 'asc'),
  )
  const selectStints = prepare((db, hole) =>
    db.selectFrom('stint').selectAll().where('task_id', '=', hole('task')).orderBy('seq', 'asc'),
  )
  // The status stands in the text, so that the planner sees that the partial index serves.
  const selectActive = prepare((db, hole) =>
    db
      .selectFrom('stint')
      .selectAll()
      .where(sql<boolean>`status = 'active'`)
      .where('task_id', '=', hole('task'))
      .orderBy('seq', 'asc'),
  )
  const selectLatest = prepare((db, hole) =>
    db
      .selectFrom('stint')
      .selectAll()
      .where('task_id', '=', hole('task'))
      .where('agent_id', '=', hole('agent'))
      .orderBy('number', 'desc')
      .limit(1),
  )
  // The conditions of the partial index stand in the text, so that the planner sees that it serves.
  const selectOfWorker = prepare((db, hole) =>
    db
      .selectFrom('stint')
      .selectAll()
      .where(sql<boolean>`status = 'active' and worker_id is not null`)
      .where('worker_id', '=', hole('worker'))
      .orderBy('seq', 'desc')
      .limit(1),
  )
  // A worker that has left the ledger had settled before. `+ 0`, or SQLite walks through all stints in the order that is asked for
  // instead of through the active ones.
  const selectAbandoned = prepareText(
    compiler,
    (hole) => sql`select stint.* from stint left join task on task.id = stint.worker_id
      where stint.status = 'active' and stint.worker_id is not null and (task.id is null or task.completed_at is not null)
      order by stint.seq + 0 limit ${hole('limit')}`,
  )
  const selectTimeline = prepareText(
    compiler,
    (hole) => sql`select task.*, ${asTeam}, ${asStint} from stint
      join task on task.id = stint.task_id and task.deleted_at is null
      join team on team.task_id = stint.task_id
      where stint.agent_id = ${hole('agent')}
      order by stint.seq desc limit ${hole('limit')} offset ${hole('offset')}`,
  )
  const countByType = prepareText(
    compiler,
    () => sql`select team.type, count(*) as total,
        sum(case when task.status = 'completed' then 1 else 0 end) as completed,
        sum(case when task.status = 'failed' then 1 else 0 end) as failed,
        sum(case when task.status = 'canceled' then 1 else 0 end) as canceled,
        sum(case when task.status = 'completed' then task.completed_at - task.created_at else 0 end) as "completedMs"
      from team join task on task.id = team.task_id and task.deleted_at is null
      group by team.type order by team.type is null, team.type`,
  )
  const insertTeam = prepare((db, hole) =>
    db.insertInto('team').values(holesFor([...teamNames, 'task_id', 'branch'], hole)),
  )
  const updateTeam = prepare((db, hole) =>
    db.updateTable('team').set(holesFor(teamNames, hole)).where('task_id', '=', hole('task_id')),
  )
  const insertObjective = prepare((db, hole) =>
    db.insertInto('objective').values(holesFor([...objectiveNames, 'task_id', 'number'], hole)),
  )
  const updateObjective = prepare((db, hole) =>
    db
      .updateTable('objective')
      .set(holesFor(objectiveNames, hole))
      .where('task_id', '=', hole('task_id'))
      .where('number', '=', hole('number')),
  )
  const insertStint = prepare((db, hole) =>
    db.insertInto('stint').values(holesFor([...stintNames, 'task_id', 'agent_id', 'number'], hole)),
  )
  const updateStint = prepare((db, hole) =>
    db
      .updateTable('stint')
      .set(holesFor(stintNames, hole))
      .where('task_id', '=', hole('task_id'))
      .where('agent_id', '=', hole('agent_id'))
      .where('number', '=', hole('number')),
  )

  return {
    *get(task) {
      const found = yield* row<TeamTableRow>(selectOne, { task })
      return found && toTeam(found)
    },
    *ofBranch(branch) {
      const found = yield* row<TeamTableRow>(selectOfBranch, { branch })
      return found && toTeam(found)
    },
    *list(filter, limit, offset) {
      // PostgreSQL has no empty list.
      if (filter.statuses?.length === 0) return []
      let query = dialect.db
        .selectFrom('task')
        .innerJoin('team', 'team.task_id', 'task.id')
        .selectAll('task')
        .select(asTeam as never)
        .where('task.deleted_at', 'is', null)
      if (filter.type !== undefined) query = query.where('team.type', '=', filter.type)
      if (filter.statuses !== undefined) query = query.where('task.status', 'in', filter.statuses)
      const page = query.orderBy('task.seq', 'desc').limit(limit).offset(offset)
      const found = yield* queryRows<Joined>(page.compile())
      return found.map((joined) => ({ team: teamOf(joined), task: toTask(joined) }))
    },
    *unclosed(limit, after) {
      const found = yield* rows<{ id: string; seq: number }>(selectUnclosed, { limit, after })
      return found.map(({ id, seq }) => ({ taskId: id, seq }))
    },
    *objectives(task) {
      return (yield* rows<ObjectiveTableRow>(selectObjectives, { task })).map(toObjective)
    },
    *stints(task) {
      return (yield* rows<StintRow>(selectStints, { task })).map(toStint)
    },
    *activeStints(task) {
      return (yield* rows<StintRow>(selectActive, { task })).map(toStint)
    },
    *latestStint(task, agent) {
      const found = yield* row<StintRow>(selectLatest, { task, agent })
      return found && toStint(found)
    },
    *stintOfWorker(worker) {
      const found = yield* row<StintRow>(selectOfWorker, { worker })
      return found && toStint(found)
    },
    *abandoned(limit) {
      return (yield* rows<StintRow>(selectAbandoned, { limit })).map(toStint)
    },
    *timeline(agent, limit, offset) {
      const found = yield* rows<Joined>(selectTimeline, { agent, limit, offset })
      return found.map((joined) => ({ stint: stintOf(joined), task: toTask(joined), team: teamOf(joined) }))
    },
    *countByType() {
      return (yield* rows<TypeRow>(countByType)).map(toCount)
    },
    *insert(team) {
      yield* change(insertTeam, { task_id: team.taskId, branch: team.branch, ...teamColumns(team) })
    },
    *save(team) {
      yield* change(updateTeam, { task_id: team.taskId, ...teamColumns(team) })
    },
    *insertObjective(objective) {
      yield* change(insertObjective, objectiveColumns(objective))
    },
    *saveObjective(objective) {
      yield* change(updateObjective, objectiveColumns(objective))
    },
    *insertStint(stint) {
      yield* change(insertStint, stintColumns(stint))
    },
    *saveStint(stint) {
      yield* change(updateStint, stintColumns(stint))
    },
  }
}
