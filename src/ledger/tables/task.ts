// The task table: every statement on it but those of lists, which are in task-list.ts.
import type { CompiledQuery } from 'kysely'
import { isSettled, type TaskRecord, type TaskStatus, taskStatuses } from '../../entities/task.ts'
import { isRootOf, type Trees } from '../../entities/task-trees.ts'
import { flag, jsonOrNull, plain, statementsOf } from '../columns.ts'
import type { ClaimFilter, Op, ReadyFilter, Tx } from '../ledger.ts'
import {
  column,
  type Holes,
  numberOf,
  queryRows,
  type RawSql,
  row,
  rows,
  type Statement,
  type StatementCompiler,
  sql,
  write,
} from '../statement.ts'
import { createTaskLists } from './task-list.ts'
import {
  countOfBelow,
  countQueuedBehindRuns,
  definitionFields,
  hasTag,
  idsInTrees,
  stateFields,
  tasks,
  withBelow,
} from './task-row.ts'

/** Up to so many tasks below one are looked up together. */
const fewBelow = 1_000
/** Of those that may be claimed so many are looked at together. */
const candidatesAtOnce = 5_000

/** A task that may be claimed. */
interface Candidate {
  id: string
  seq: number
  priority: number
  parentId: string | null
}

const liveStatuses = taskStatuses.filter((status) => !isSettled(status))
const brokenStatuses: TaskStatus[] = ['failed', 'canceled']

/** Of the heads of a queue all, or those in some trees alone, which may stand far behind them. */
interface ReadyStatement {
  all: Statement
  inTrees: Statement
}

function treeHoles({ rootKeys, rootKeyPrefixes }: Trees) {
  return { rootKeys: JSON.stringify(rootKeys), rootKeyPrefixes: JSON.stringify(rootKeyPrefixes) }
}

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
      : sql<boolean>`case when json_valid(policy) then json_extract(policy, '$.model') end is not null`
  /** With 1 in the hole only the tasks that name a model. */
  const orNamed = (named: unknown) => sql<boolean>`(${named} = 0 or ${namesModel})`
  // `ready = 1` stands in the text, not in a hole: only so does the planner see that the partial index serves.
  const isReady = sql<boolean>`ready = 1`
  // `+` keeps it from that index, which leads to foreign tasks, too; the ids lead to those in the trees alone.
  const isReadyInTrees = (hole: Holes) =>
    sql<boolean>`+ready = 1 and id in ${idsInTrees(dialect, hole('rootKeys'), hole('rootKeyPrefixes'))}`
  const readyOf = (db: typeof dialect.db, hole: Holes, condition = isReady) =>
    db
      .selectFrom('task')
      .where(condition)
      .where('executor', '=', hole('executor'))
      .where(orNamed(hole('named')))
  const readyOrInTrees = (
    narrowed: (ready: ReturnType<typeof readyOf>, hole: Holes) => { compile(): CompiledQuery },
  ): ReadyStatement => ({
    all: prepare((db, hole) => narrowed(readyOf(db, hole), hole)),
    inTrees: prepare((db, hole) => narrowed(readyOf(db, hole, isReadyInTrees(hole)), hole)),
  })
  const selectReady = readyOrInTrees((ready, hole) =>
    ready
      .select(tasks.columns() as never)
      .where('lane', '=', hole('lane'))
      .where('crashes', '<', hole('crashes'))
      .orderBy('priority', 'desc')
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  // Tasks that crashed their engine are few, and have a partial index of their own.
  const selectSuspects = readyOrInTrees((ready, hole) =>
    ready
      .select(tasks.columns() as never)
      .where(sql<boolean>`crashes > 0`)
      .where('crashes', '>=', hole('crashes'))
      .orderBy('priority', 'desc')
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  const selectAnyReady = readyOrInTrees((ready) => ready.select('id').limit(1))
  const selectInLanes = readyOrInTrees((ready, hole) =>
    ready
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
  function* isAnyReady(executor: string, { named = false, trees }: ReadyFilter): Op<boolean> {
    const holes = { executor, named: Number(named) }
    const first = yield* rows<{ id: string }>(selectAnyReady.all, holes)
    const own = yield* headsIn(trees, first, 1)
    return (own ?? (yield* rows(selectAnyReady.inTrees, { ...holes, ...treeHoles(trees as Trees) }))).length > 0
  }
  function* readyHeads(
    statement: ReadyStatement,
    holes: { executor: string; lane?: string; limit: number; crashes: number },
    only: ReadyFilter,
  ): Op<TaskRecord[]> {
    const { named = false, trees } = only
    const filled = { ...holes, named: Number(named) }
    const own = yield* headsIn(trees, yield* tasks.list(statement.all, filled), holes.limit)
    return own ?? (yield* tasks.list(statement.inTrees, { ...filled, ...treeHoles(trees as Trees) }))
  }
  /**
   * Those of the first `limit` ready tasks that lie in the trees. Undefined when there may be others behind foreign ones: then the trees are
   * read, because there may be any number of foreign tasks. Where nobody else has ready tasks, a step costs no more for a large tree.
   */
  function* headsIn<T extends { id: string }>(
    trees: Trees | undefined,
    heads: T[],
    limit: number,
  ): Op<T[] | undefined> {
    if (trees === undefined) return heads
    const known = new Map<string, boolean>()
    const own: T[] = []
    for (const head of heads) {
      if (yield* liesIn(head.id, (task) => isRootOf(trees, task), known)) own.push(head)
    }
    return own.length === heads.length || heads.length < limit ? own : undefined
  }
  function* lanesOf(executor: string, most: number | undefined, named: number): Op<string[]> {
    const holes = { executor, named }
    if (most !== undefined) {
      // The best in any lane come first: so do their lanes. Only where a few lanes have it all must each be looked up.
      const limit = most * 4
      const best = yield* column<string>(selectInLanes.all, { limit, ...holes })
      const lanes = [...new Set(best)]
      if (lanes.length >= most || best.length < limit) return lanes.slice(0, most)
    }
    const found: Array<{ lane: string; priority: number; seq: number }> = []
    for (let after = ''; ; after = (found.at(-1) as { lane: string }).lane) {
      const next = yield* row<{ lane: string; priority: number; seq: number }>(selectNextLane, { after, ...holes })
      if (next === undefined) break
      found.push(next)
    }
    found.sort((a, b) => b.priority - a.priority || Number(a.seq) - Number(b.seq))
    return found.slice(0, most).map((each) => each.lane)
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
  function awakeProbes(executors: readonly string[], named: readonly string[], trees: Trees | undefined) {
    const { db } = dialect
    const of = [
      ...(executors.length === 0 ? [] : [sql<boolean>`executor in (${sql.join(executors)})`]),
      ...(named.length === 0 ? [] : [sql<boolean>`executor in (${sql.join(named)}) and ${namesModel}`]),
    ]
    const { rootKeys, rootKeyPrefixes } = treeHoles(trees ?? { rootKeys: [], rootKeyPrefixes: [] })
    const inTrees = trees === undefined ? sql`` : sql`and task.id in ${idsInTrees(dialect, rootKeys, rootKeyPrefixes)}`
    const ours = sql<boolean>`(${sql.join(of, sql` or `)}) and deleted_at is null ${inTrees}`
    return [
      sql`select 1 from task where ready = 1 and ${ours} limit 1`,
      sql`select 1 from run cross join task where task.id = run.task_id and run.status <> 'closed' and ${ours} limit 1`,
      sql`select 1 from task where not_before is not null and held = 0 and open_blockers = 0 and ${ours} limit 1`,
      sql`select 1 from call cross join task where task.id = call.task_id and call.due_at is not null and ${ours} limit 1`,
    ].map((probe) => ({ compile: () => probe.compile(db) }))
  }

  const countBelow = countOfBelow(compiler, fewBelow + 1)

  function claimConditions(claim: ClaimFilter): RawSql[] {
    const forWhom = (['role', 'owner'] as const).map((column) => {
      const own = claim[column]
      const name = sql.ref(column)
      return own === undefined ? sql`${name} is null` : sql`(${name} is null or ${name} = ${own})`
    })
    return [
      sql`claimable = 1`,
      ...forWhom,
      ...(claim.parentId === undefined ? [] : [sql`parent_id = ${claim.parentId}`]),
      ...(claim.tags ?? []).map((tag) => hasTag(dialect, tag)),
    ]
  }

  function inOrderOfClaims(columns: RawSql, conditions: readonly RawSql[], limit: number): RawSql {
    return sql`select ${columns} from task where ${sql.join([...conditions], sql` and `)}
      order by priority desc, seq asc limit ${limit}`
  }

  /** The first condition leads into the index, to the tasks of this priority. */
  function isBehind({ priority, seq }: Candidate): RawSql {
    return sql`priority <= ${priority} and (priority < ${priority} or seq > ${seq})`
  }

  /**
   * Whether a task, or one above it, is looked for: an indexed look-up for each. `known`: of which tasks it was found out already. A cycle in
   * the parents ends here, too.
   */
  function* liesIn(
    id: string | null,
    isLookedFor: (task: TaskRecord) => boolean,
    known: Map<string, boolean>,
  ): Op<boolean> {
    const way: string[] = []
    let at = id
    let verdict = false
    while (at !== null) {
      verdict = known.get(at) ?? false
      if (known.has(at)) break
      known.set(at, false)
      way.push(at)
      const task: TaskRecord | undefined = yield* tasks.one(selectById, { id: at })
      verdict = task !== undefined && isLookedFor(task)
      if (verdict) break
      at = task?.parentId ?? null
    }
    for (const each of way) known.set(each, verdict)
    return verdict
  }

  function isBelow(root: string) {
    return sql<boolean>`id in (${withBelow(root)} select id from below)`
  }

  return {
    ...createTaskLists(compiler),
    get: (id) => tasks.one(selectById, { id }),
    getBySeq: finds('seq'),
    getByKey: finds('key'),
    findByPrefix: (prefix, limit) => tasks.list(selectByPrefix, { from: prefix, to: `${prefix}\u{10ffff}`, limit }),
    ready: (executor, lane, limit, crashes = Number.MAX_SAFE_INTEGER, only = {}) =>
      readyHeads(selectReady, { executor, lane, limit, crashes }, only),
    suspects: (executor, limit, crashes, only = {}) => readyHeads(selectSuspects, { executor, limit, crashes }, only),
    *anyReady(executors, named = [], trees) {
      for (const executor of executors) if (yield* isAnyReady(executor, { trees })) return true
      for (const executor of named) if (yield* isAnyReady(executor, { named: true, trees })) return true
      return false
    },
    *lanes(executor, most, { named = false, trees } = {}) {
      const lanes = yield* lanesOf(executor, most, Number(named))
      // A lane has the id of the parent of its tasks.
      const heads = lanes.map((id) => ({ id }))
      const own = yield* headsIn(trees, heads, most ?? Infinity)
      if (own !== undefined) return own.map(({ id }) => id)
      const holes = { executor, named: Number(named), limit: Number.MAX_SAFE_INTEGER }
      const inTrees = yield* column<string>(selectInLanes.inTrees, { ...holes, ...treeHoles(trees as Trees) })
      return [...new Set(inTrees)].slice(0, most)
    },
    openInLane: (lane) => numberOf(countInLane, { lane }),
    *claimable(claim) {
      const { below } = claim
      const isSmall = below !== undefined && (yield* numberOf(countBelow, { root: below })) <= fewBelow
      if (below === undefined || isSmall) {
        const within = below === undefined ? [] : [isBelow(below)]
        const best = inOrderOfClaims(tasks.columns(), [...claimConditions(claim), ...within], 1)
        return (yield* tasks.query({ compile: () => best.compile(dialect.db) as never }))[0]
      }
      // What is below it may be the whole ledger: each candidate is asked instead whether the task is above it.
      const known = new Map<string, boolean>()
      for (let last: Candidate | undefined; ; ) {
        const page: Candidate[] = yield* queryRows<Candidate>(
          inOrderOfClaims(
            sql`id, seq, priority, parent_id as "parentId"`,
            [...claimConditions(claim), ...(last === undefined ? [] : [isBehind(last)])],
            candidatesAtOnce,
          ).compile(dialect.db),
        )
        for (const { id, parentId } of page) {
          if (yield* liesIn(parentId, (task) => task.id === below, known)) return yield* tasks.one(selectById, { id })
        }
        last = page.at(-1)
        if (page.length < candidatesAtOnce) return undefined
      }
    },
    lapsed: (now, limit) => tasks.list(selectLapsed, { now, limit }),
    late: (now, limit) => tasks.list(selectLate, { now, limit }),
    *countQueued() {
      const ready = (yield* numberOf(countReady)) + (yield* numberOf(countBehindRuns))
      return { ready, claimable: yield* numberOf(countClaimable) }
    },
    *anyAwake(executors, named = [], trees) {
      if (executors.length + named.length === 0) return false
      for (const probe of awakeProbes(executors, named, trees))
        if ((yield* queryRows(probe.compile())).length > 0) return true
      return false
    },
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
