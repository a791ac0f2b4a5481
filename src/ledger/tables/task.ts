// The task table: every statement on it.
import { isSettled, type TaskRecord, type TaskStatus, taskStatuses } from '../../entities/task.ts'
import { flag, jsonOrNull, plain, statementsOf } from '../columns.ts'
import type { Op, TaskFilter, Tx } from '../ledger.ts'
import { type Holes, numberOf, queryRows, row, rows, type StatementCompiler, sql, write } from '../statement.ts'
import { events } from './event.ts'
import {
  countQueuedBehindRuns,
  definitionFields,
  isQueuedBehindItsRun,
  stateFields,
  tasks,
  withBelow,
} from './task-row.ts'

const liveStatuses = taskStatuses.filter((status) => !isSettled(status))
const brokenStatuses: TaskStatus[] = ['failed', 'canceled']

export function createTaskTable(compiler: StatementCompiler): Tx['task'] {
  const { prepare, prepareText, dialect } = compiler
  const { selectRow, select, finds, inserts, saves } = statementsOf(compiler, tasks)

  const selectById = selectRow('id')
  const selectByPrefix = select((task, hole) =>
    task
      .where('id', '>=', hole('from'))
      .where('id', '<', hole('to'))
      .where('deleted_at', 'is', null)
      .limit(hole('limit')),
  )
  const namesModel =
    dialect.kind === 'postgres'
      ? sql<boolean>`(policy::jsonb ->> 'model') is not null`
      : sql<boolean>`json_extract(policy, '$.model') is not null`
  /** With 1 in the hole only the tasks that name a model. */
  const orNamed = (named: unknown) => sql<boolean>`(${named} = 0 or ${namesModel})`
  // `ready = 1` stands in the text, not in a hole: only so does the planner see that the partial index serves.
  const readyOf = (db: typeof dialect.db, hole: Holes) =>
    db
      .selectFrom('task')
      .where(sql<boolean>`ready = 1`)
      .where('executor', '=', hole('executor'))
      .where(orNamed(hole('named')))
  const selectReady = prepare((db, hole) =>
    readyOf(db, hole)
      .select(tasks.columns() as never)
      .where('lane', '=', hole('lane'))
      .where('crashes', '<', hole('crashes'))
      .orderBy('priority', 'desc')
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  // Tasks that crashed their engine are few, and have a partial index of their own.
  const selectSuspects = prepare((db, hole) =>
    readyOf(db, hole)
      .select(tasks.columns() as never)
      .where(sql<boolean>`crashes > 0`)
      .where('crashes', '>=', hole('crashes'))
      .orderBy('priority', 'desc')
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  const selectAnyReady = prepare((db, hole) => readyOf(db, hole).select('seq').limit(1))
  const selectInLanes = prepare((db, hole) =>
    readyOf(db, hole)
      .select('lane')
      .where(sql<boolean>`lane <> ''`)
      .orderBy('priority', 'desc')
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  // Leaps from one lane's head to the next: as many look-ups as there are lanes, however many tasks wait in them.
  const selectNextLane = prepare((db, hole) =>
    readyOf(db, hole)
      .select(['lane', 'priority', 'seq'])
      .where('lane', '>', hole('after'))
      .orderBy(sql`lane asc, priority desc, seq asc`)
      .limit(1),
  )
  const countInLane = prepare((db, hole) =>
    db
      .selectFrom('task')
      .select((query) => query.fn.countAll<number>().as('open'))
      .where('lane', '=', hole('lane'))
      .where(sql<boolean>`run_open = 1 and lane <> ''`),
  )
  const selectReached = (column: 'lease_until' | 'not_before') =>
    select((task, hole) =>
      task.where(column, 'is not', null).where(column, '<=', hole('now')).orderBy(column, 'asc').limit(hole('limit')),
    )
  const selectLapsed = selectReached('lease_until')
  const selectLate = select((task, hole) =>
    task
      .where(sql<boolean>`deadline is not null and completed_at is null`)
      .where('deadline', '<=', hole('now'))
      .orderBy('deadline', 'asc')
      .limit(hole('limit')),
  )
  const selectSoonest = (column: 'lease_until' | 'not_before') =>
    prepare((db) =>
      db
        .selectFrom('task')
        .select((query) => query.fn.min(column).as('at'))
        .where(column, 'is not', null),
    )
  const selectNextLapse = selectSoonest('lease_until')
  const selectNextDeadline = prepare((db) =>
    db
      .selectFrom('task')
      .select((query) => query.fn.min('deadline').as('at'))
      .where(sql<boolean>`deadline is not null and completed_at is null`),
  )
  const countByStatus = prepare((db) =>
    db
      .selectFrom('task')
      .select(['status', (query) => query.fn.countAll<number>().as('tasks')])
      .where('deleted_at', 'is', null)
      .groupBy('status'),
  )
  const countOf = (column: 'ready' | 'claimable') =>
    prepare((db) =>
      db
        .selectFrom('task')
        .select((query) => query.fn.countAll<number>().as('tasks'))
        .where(sql<boolean>`${sql.ref(column)} = 1`),
    )
  const countReady = countOf('ready')
  const countBehindRuns = countQueuedBehindRuns(compiler)
  const countClaimable = countOf('claimable')
  const updateChildCount = prepare((db, hole) =>
    db
      .updateTable('task')
      .set({ child_count: sql<number>`child_count + ${hole('added')}` })
      .where('id', '=', hole('id')),
  )
  const updateMadeBelow = prepare((db, hole) =>
    db
      .updateTable('task')
      .set({ made_below: sql<number>`made_below + ${hole('made')}` })
      .where('id', '=', hole('id')),
  )
  const updateLanes = prepare((db, hole) =>
    db
      .updateTable('task')
      .set({ lane: hole('lane') })
      .where('parent_id', '=', hole('parent'))
      .where('executor', 'is not', null),
  )
  const updateDepthBelow = prepareText(
    (hole) => sql`${withBelow(hole('root'))}
      update task set depth = depth - ${hole('by')} where id in (select id from below)`,
  )
  const selectChildren = select((task, hole) =>
    task
      .where('parent_id', '=', hole('parent'))
      .where('deleted_at', 'is', null)
      .orderBy('priority', 'desc')
      .orderBy('seq', 'asc'),
  )
  const selectSubtree = prepareText(
    (hole) => sql`${withBelow(hole('root'))}
      select ${tasks.columns()} from task join below on below.id = task.id
      where task.deleted_at is null order by task.priority desc, task.seq asc`,
  )
  const childIds = (db: typeof dialect.db, hole: Holes) =>
    db.selectFrom('task').select('id').where('parent_id', '=', hole('parent')).where('deleted_at', 'is', null)
  // Named states, not "all but": so the index leads to the first match past any number of settled siblings.
  const oneChild = (statuses: readonly TaskStatus[]) =>
    prepare((db, hole) =>
      childIds(db, hole)
        .where('status', 'in', [...statuses])
        .limit(1),
    )
  const anyChild = oneChild(taskStatuses)
  const liveChild = oneChild(liveStatuses)
  const brokenChild = oneChild(brokenStatuses)
  const movableChild = prepare((db, hole) =>
    childIds(db, hole).where('completed_at', 'is', null).where('stuck_by', 'is', null).limit(1),
  )
  const stuckParents = prepare((db, hole) =>
    childIds(db, hole)
      .where('completed_at', 'is', null)
      .where('stuck_by', 'is not', null)
      .where(sql<boolean>`child_count > 0`),
  )
  function* isAnyReady(executor: string, named: number): Op<boolean> {
    return (yield* row(selectAnyReady, { executor, named })) !== undefined
  }
  /** A stuck task has no part in this, but its children may. */
  function* canMoveBelow(parent: string): Op<boolean> {
    const parents = [parent]
    for (const id of parents) {
      if ((yield* row(movableChild, { parent: id })) !== undefined) return true
      for (const stuck of yield* rows<{ id: string }>(stuckParents, { parent: id })) parents.push(stuck.id)
    }
    return false
  }

  const selectDue = selectReached('not_before')
  const selectNextDue = selectSoonest('not_before')
  const counted = { counted: true }
  const saveStuck = saves({ stuckBy: plain }, ['id'])

  /**
   * One probe for each reason to be awake, each led by a partial index, so that settled tasks cost nothing. CROSS JOIN is
   * SQLite's word for "in this order"; asked about one executor only, it would rather begin with all tasks.
   */
  function awakeProbes(executors: readonly string[], named: readonly string[]) {
    const { db } = dialect
    const of = [
      ...(executors.length === 0 ? [] : [sql<boolean>`executor in (${sql.join(executors)})`]),
      ...(named.length === 0 ? [] : [sql<boolean>`executor in (${sql.join(named)}) and ${namesModel}`]),
    ]
    const ours = sql<boolean>`(${sql.join(of, sql` or `)}) and deleted_at is null`
    return [
      sql`select 1 from task where ready = 1 and ${ours} limit 1`,
      sql`select 1 from run cross join task where task.id = run.task_id and run.status <> 'closed' and ${ours} limit 1`,
      sql`select 1 from task where not_before is not null and held = 0 and open_blockers = 0 and ${ours} limit 1`,
      sql`select 1 from call cross join task where task.id = call.task_id and call.due_at is not null and ${ours} limit 1`,
    ].map((probe) => ({ compile: () => probe.compile(db) }))
  }

  function filtered<
    Q extends {
      // biome-ignore lint/suspicious/noExplicitAny: one method of two query builders that share no type
      where: (...args: any[]) => Q
    },
  >(start: Q, filter: TaskFilter): Q {
    let query = start.where('deleted_at', 'is', null)
    // PostgreSQL has no empty list.
    if (filter.statuses?.length === 0) query = query.where(sql<boolean>`1 = 0`)
    else if (filter.statuses) query = query.where('status', 'in', filter.statuses)
    if (filter.parentId !== undefined) {
      query =
        filter.parentId === null ? query.where('parent_id', 'is', null) : query.where('parent_id', '=', filter.parentId)
    }
    if (filter.executor !== undefined) query = query.where('executor', '=', filter.executor)
    if (filter.keyPrefix !== undefined) {
      query = query.where('key', '>=', filter.keyPrefix).where('key', '<', `${filter.keyPrefix}\u{10ffff}`)
    }
    for (const [name, value] of Object.entries(filter.metadata ?? {})) query = query.where(metadataEquals(name, value))
    for (const tag of filter.tags ?? []) query = query.where(hasTag(tag))
    if (filter.owner !== undefined) query = query.where('owner', '=', filter.owner)
    if (filter.ready !== undefined) {
      const waitsForItsTurn = sql<boolean>`(ready = 1 or claimable = 1 or ${isQueuedBehindItsRun})`
      query = query.where(filter.ready ? waitsForItsTurn : sql<boolean>`not ${waitsForItsTurn}`)
    }
    if (filter.below !== undefined) query = query.where(isBelow(filter.below))
    if (filter.released !== undefined) query = query.where(isLetGo(filter.released))
    if (filter.failedWith !== undefined) query = query.where(failedWith(filter.failedWith))
    if (filter.type !== undefined) query = query.where(hasType(filter.type))
    if (filter.ids !== undefined) query = query.where(isAmong(filter.ids))
    for (const word of filter.words ?? []) query = query.where(holdsWord(word))
    if (filter.createdFrom !== undefined) query = query.where('created_at', '>=', filter.createdFrom)
    if (filter.createdTo !== undefined) query = query.where('created_at', '<=', filter.createdTo)
    return query
  }

  function isAmong(ids: readonly string[]) {
    return ids.length === 0 ? sql<boolean>`1 = 0` : sql<boolean>`task.id in (${sql.join(ids)})`
  }

  /** LIKE of SQLite does not tell cases apart (of ASCII), that of PostgreSQL does. */
  function holdsWord(word: string) {
    const literal = word.replace(/[\\%_]/g, '\\$&')
    const like = sql.raw(dialect.kind === 'postgres' ? 'ilike' : 'like')
    const [anywhere, atStart] = [`%${literal}%`, `${literal}%`]
    return sql<boolean>`(name ${like} ${anywhere} escape '\\' or goal ${like} ${anywhere} escape '\\' or description ${like} ${anywhere} escape '\\' or id ${like} ${atStart} escape '\\')`
  }

  function hasType(type: string) {
    return sql<boolean>`task.id in (select task_id from team where team.type = ${type})`
  }

  function isBelow(root: string) {
    return sql<boolean>`id in (${withBelow(root)} select id from below)`
  }

  function isLetGo(wanted: boolean) {
    const reasons = sql`('interrupted', 'released')`
    return wanted
      ? sql<boolean>`(status <> 'waiting' or status_reason in ${reasons})`
      : sql<boolean>`(status <> 'waiting' or status_reason is null or status_reason not in ${reasons})`
  }

  function failedWith(message: string) {
    return dialect.kind === 'postgres'
      ? sql<boolean>`(status <> 'failed' or (error::jsonb ->> 'message') = ${message})`
      : sql<boolean>`(status <> 'failed' or json_extract(error, '$.message') = ${message})`
  }

  function hasTag(tag: string) {
    return dialect.kind === 'postgres'
      ? sql<boolean>`(tags::jsonb ? ${tag})`
      : sql<boolean>`exists (select 1 from json_each(tags) as entry where entry.value = ${tag})`
  }

  /** The name is a bound value in both databases, never part of the text. */
  function metadataEquals(name: string, value: unknown) {
    return dialect.kind === 'postgres'
      ? sql<boolean>`(metadata::jsonb -> ${name}) = ${JSON.stringify(value)}::jsonb`
      : sql<boolean>`exists (select 1 from json_each(metadata) as entry where entry.key = ${name} and entry.type in (${sql.join(jsonTypes(value))}) and (entry.value is ${value === null ? null : typeof value === 'boolean' ? Number(value) : value}))`
  }

  return {
    get: (id) => tasks.one(selectById, { id }),
    getBySeq: finds('seq'),
    getByKey: finds('key'),
    findByPrefix: (prefix, limit) => tasks.list(selectByPrefix, { from: prefix, to: `${prefix}\u{10ffff}`, limit }),
    ready: (executor, lane, limit, crashes = Number.MAX_SAFE_INTEGER, named = false) =>
      tasks.list(selectReady, { executor, lane, limit, crashes, named: Number(named) }),
    suspects: (executor, limit, crashes, named = false) =>
      tasks.list(selectSuspects, { executor, limit, crashes, named: Number(named) }),
    *anyReady(executors, named = []) {
      for (const executor of executors) if (yield* isAnyReady(executor, 0)) return true
      for (const executor of named) if (yield* isAnyReady(executor, 1)) return true
      return false
    },
    *lanes(executor, most, onlyNamed = false) {
      const named = Number(onlyNamed)
      if (most !== undefined) {
        // The best in any lane come first: so do their lanes. Only where a few lanes have it all must each be looked up.
        const limit = most * 4
        const best = yield* rows<{ lane: string }>(selectInLanes, { executor, limit, named })
        const lanes = [...new Set(best.map(({ lane }) => lane))]
        if (lanes.length >= most || best.length < limit) return lanes.slice(0, most)
      }
      const found: Array<{ lane: string; priority: number; seq: number }> = []
      for (let after = ''; ; after = (found.at(-1) as { lane: string }).lane) {
        const next = yield* row<{ lane: string; priority: number; seq: number }>(selectNextLane, {
          executor,
          after,
          named,
        })
        if (next === undefined) break
        found.push(next)
      }
      found.sort((a, b) => b.priority - a.priority || Number(a.seq) - Number(b.seq))
      return found.slice(0, most).map((each) => each.lane)
    },
    openInLane: (lane) => numberOf(countInLane, { lane }),
    *claimable(claim) {
      let query = tasks.from(dialect.db).where(sql<boolean>`claimable = 1`)
      for (const column of ['role', 'owner'] as const) {
        const own = claim[column]
        query = query.where((where) =>
          where.or([where(column, 'is', null), ...(own === undefined ? [] : [where(column, '=', own)])]),
        )
      }
      if (claim.parentId !== undefined) query = query.where('parent_id', '=', claim.parentId)
      if (claim.below !== undefined) query = query.where(isBelow(claim.below))
      for (const tag of claim.tags ?? []) query = query.where(hasTag(tag))
      return (yield* tasks.query(query.orderBy('priority', 'desc').orderBy('seq', 'asc').limit(1)))[0]
    },
    lapsed: (now, limit) => tasks.list(selectLapsed, { now, limit }),
    late: (now, limit) => tasks.list(selectLate, { now, limit }),
    *countByStatus() {
      const counts = Object.fromEntries(taskStatuses.map((status) => [status, 0])) as Record<TaskStatus, number>
      for (const { status, tasks: counted } of yield* rows<{ status: TaskStatus; tasks: number }>(countByStatus)) {
        counts[status] = Number(counted)
      }
      return counts
    },
    *countQueued() {
      const ready = (yield* numberOf(countReady)) + (yield* numberOf(countBehindRuns))
      return { ready, claimable: yield* numberOf(countClaimable) }
    },
    *anyAwake(executors, named = []) {
      if (executors.length + named.length === 0) return false
      for (const probe of awakeProbes(executors, named)) if ((yield* queryRows(probe.compile())).length > 0) return true
      return false
    },
    *list(filter, limit, after) {
      let query = filtered(tasks.from(dialect.db), filter)
      if (after) {
        query = query.where((where) =>
          where.or([
            where('priority', '<', after.priority),
            where.and([where('priority', '=', after.priority), where('seq', '>', after.seq)]),
          ]),
        )
      }
      return yield* tasks.query(query.orderBy('priority', 'desc').orderBy('seq', 'asc').limit(limit))
    },
    // By `seq` and not by `created_at`: a clock that was set back must not reorder what was created.
    newest: (filter, limit, offset) =>
      tasks.query(filtered(tasks.from(dialect.db), filter).orderBy('seq', 'desc').limit(limit).offset(offset)),
    oldest: (filter, limit, afterSeq) =>
      tasks.query(
        filtered(tasks.from(dialect.db).where('seq', '>', afterSeq), filter)
          .orderBy('seq', 'asc')
          .limit(limit),
      ),
    *asOf(position, limit, afterSeq, ids) {
      const told = dialect.db
        .selectFrom('task')
        .innerJoin('event', (join) =>
          join.on(
            sql<boolean>`event.seq = (select max(seq) from event where task_id = task.id and seq <= ${position})`,
          ),
        )
        .select([tasks.columns(), events.columns('event', 'event.')] as never)
        .where('task.seq', '>', afterSeq)
        // Not the last event alone: the run of a task that was deleted closes after that.
        .where(
          sql<boolean>`(task.deleted_at is null or not exists (select 1 from event where task_id = task.id and type = 'task.deleted' and seq <= ${position}))`,
        )
      const among = ids === undefined ? told : told.where(isAmong(ids))
      const found = yield* queryRows<object>(among.orderBy('task.seq', 'asc').limit(limit).compile())
      return found.map((each) => ({ task: tasks.pick(each), event: events.pick(each, 'event.') }))
    },
    *count(filter) {
      const query = filtered(
        dialect.db.selectFrom('task').select((select) => select.fn.countAll<number>().as('total')),
        filter,
      )
      return Number((yield* queryRows<{ total: number }>(query.compile()))[0]?.total ?? 0)
    },
    children: (parent) => tasks.list(selectChildren, { parent }),
    subtree: (root) => tasks.list(selectSubtree, { root }),
    *ancestors(id) {
      // Step by step, each an indexed look-up: a cycle in the parents, which nothing should ever have written, ends here too.
      const above = new Map<string, TaskRecord>()
      let parentId = (yield* tasks.one(selectById, { id }))?.parentId ?? null
      while (parentId !== null && !above.has(parentId)) {
        const parent: TaskRecord | undefined = yield* tasks.one(selectById, { id: parentId })
        if (parent === undefined) break
        above.set(parentId, parent)
        parentId = parent.parentId
      }
      return [...above.values()]
    },
    *childFacts(parent) {
      if (yield* canMoveBelow(parent)) return { any: true, live: true, movable: true, stuck: null, broken: null }
      const stuck = (yield* row<{ id: string }>(liveChild, { parent }))?.id ?? null
      const broken = (yield* row<{ id: string }>(brokenChild, { parent }))?.id ?? null
      const any = stuck !== null || broken !== null || (yield* row(anyChild, { parent })) !== undefined
      return { any, live: stuck !== null, movable: false, stuck, broken }
    },
    due: (now, limit) => tasks.list(selectDue, { now, limit }),
    *nextDue() {
      const times: number[] = []
      for (const statement of [selectNextDue, selectNextLapse, selectNextDeadline]) {
        const at = (yield* row<{ at: number | null }>(statement))?.at ?? null
        if (at !== null) times.push(at)
      }
      return times.length === 0 ? undefined : Math.min(...times)
    },
    insert: inserts('id'),
    save: saves(stateFields, ['id'], counted),
    addChildren: (id, added) => write(updateChildCount, { id, added }),
    addMade: (id, made) => write(updateMadeBelow, { id, made }),
    setLanes: (parent, lane) => write(updateLanes, { parent, lane }),
    raise: (root, by) => write(updateDepthBelow, { root, by }),
    saveDefinition: saves({ ...definitionFields, ready: flag, claimable: flag, updatedAt: plain }, ['id'], counted),
    saveProgress: saves({ progress: jsonOrNull, updatedAt: plain }, ['id'], counted),
    setStuck: (id, stuckBy) => saveStuck({ id, stuckBy }),
  }
}

/** SQLite's words for the type of a JSON value. A whole number may be stored in either spelling: 1e21 is a real to it. */
function jsonTypes(value: unknown): string[] {
  if (value === null) return ['null']
  if (typeof value === 'boolean') return [String(value)]
  return typeof value === 'number' ? ['integer', 'real'] : ['text']
}
