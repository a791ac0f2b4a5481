// The best tasks that a claim may take. Tasks that are meant for a role or an owner are apart in the index, each kind in the order of claims,
// so that a claim reads none that is meant for another one.
import type { TaskRecord } from '../../entities/task.ts'
import type { ClaimFilter, Op, Reads } from '../ledger.ts'
import {
  type Dialect,
  numberOf,
  queryRows,
  type RawSql,
  type Statement,
  type StatementCompiler,
  sliced,
  sql,
} from '../statement.ts'
import { ofTask, statementsOf } from '../table-mapping.ts'
import { liesIn } from './task-ancestors.ts'
import { countOfBelow, hasTag, tasks, withBelow } from './task-columns.ts'
import { allOf } from './task-list-matches.ts'
import { byPriority, type Match, readInOrder } from './task-list-reader.ts'

/** A family of at most so many tasks is read whole. */
const maxFamily = 1_000
/** How many claimable tasks one statement reads: at first few, because most claims take one of the first tasks. */
const pageSizes = [50, 1_000] as const

/** For whom tasks are meant: a role and an owner, or null for anyone. */
interface Assignment {
  role: string | null
  owner: string | null
}

/** A task that may be claimed. */
interface Candidate extends Match {
  id: string
  parentId: string | null
  isMatch: number
}

/** Narrows a claim to its tags. */
const hasTags = (dialect: Dialect, { tags = [] }: ClaimFilter): RawSql[] => tags.map((tag) => hasTag(dialect, tag))

const isAbove = (root: string) => (task: TaskRecord) => task.id === root

export function createClaimable(compiler: StatementCompiler, selectById: Statement): Reads['task']['claimable'] {
  const { dialect } = compiler
  const countBelow = countOfBelow(compiler, maxFamily + 1)
  const countChildren = compiler.prepareText(
    (hole) => sql`select count(*) as children
      from (select 1 from task where parent_id = ${hole('parent', ofTask)} limit ${maxFamily + 1}) as counted`,
  )
  const selectFirst = firstStatements(compiler)

  /** The best tasks of a family. */
  function* bestOf(family: RawSql, claim: ClaimFilter, limit: number): Op<TaskRecord[]> {
    // `+` prevents the use of the index on claimable tasks, which contains those of other families.
    const conditions = [family, sql`+claimable = 1`, isFor(claim), ...hasTags(dialect, claim)]
    const query = sql`select ${tasks.columns()} from task where ${allOf(conditions)}
      order by priority desc, seq asc limit ${limit}`
    return yield* tasks.query({ compile: () => query.compile(dialect.db) as never }, 'claimable')
  }

  return function* claimable(claim, limit = 1, most = Number.POSITIVE_INFINITY) {
    const { parentId, below, tags = [] } = claim
    const isOutside =
      parentId !== undefined && below !== undefined && !(yield* liesIn(selectById, parentId, isAbove(below), new Map()))
    if (isOutside) return []
    if (parentId !== undefined && (yield* numberOf(countChildren, { parent: parentId })) <= maxFamily)
      return yield* bestOf(sql`parent_id = ${parentId}`, claim, limit)
    const root = parentId === undefined ? below : undefined
    if (root !== undefined && (yield* numberOf(countBelow, { root })) <= maxFamily)
      return yield* bestOf(sql`id in (${withBelow(root)} select id from below)`, claim, limit)
    const isAny = parentId === undefined && below === undefined && tags.length === 0
    const found: TaskRecord[] = []
    for (const assignment of assignmentsOf(claim)) {
      const best = isAny
        ? yield* tasks.list(selectFirst(assignment), { ...assignment, limit })
        : yield* walk(dialect, selectById, assignment, claim, limit, most)
      if (best === undefined) return undefined
      for (const task of best) found.push(task)
    }
    return found.sort(byPriority).slice(0, limit)
  }
}

/** The best tasks with an assignment; undefined if more than `most` would have to be looked at. */
function* walk(
  dialect: Dialect,
  selectById: Statement,
  assignment: Assignment,
  claim: ClaimFilter,
  limit: number,
  most: number,
): Op<TaskRecord[] | undefined> {
  const { parentId, below: root } = claim
  const isMatch = allOf([
    parentId === undefined ? sql`1 = 1` : sql`coalesce(parent_id, '') = ${parentId}`,
    ...hasTags(dialect, claim),
  ])
  // All children of a task are below the same tasks.
  const isBelow = root === undefined || parentId !== undefined
  const known = new Map<string, boolean>()
  const found: TaskRecord[] = []
  let left = most
  let isOver = true
  yield* readInOrder<Candidate>(
    pageSizes,
    undefined,
    (position, size) => {
      const query = sql`select id, seq, priority, parent_id as "parentId", case when ${isMatch} then 1 else 0 end as "isMatch"
        from task where ${isExactlyFor(assignment)} and ${position} order by priority desc, seq asc limit ${size}`
      return sliced(queryRows<Candidate>(query.compile(dialect.db), 'claimable'))
    },
    function* (page) {
      for (const each of page) {
        if (each.isMatch === 0) continue
        if (!(isBelow || (yield* liesIn(selectById, each.parentId, isAbove(root), known)))) continue
        found.push((yield* tasks.one(selectById, { id: each.id })) as TaskRecord)
        if (found.length === limit) return false
      }
      left -= page.length
      isOver = left > 0
      return isOver
    },
  )
  return isOver ? found : undefined
}

function assignmentsOf({ role, owner }: ClaimFilter): Assignment[] {
  const roles = role === undefined ? [null] : [null, role]
  const owners = owner === undefined ? [null] : [null, owner]
  return roles.flatMap((each) => owners.map((whose) => ({ role: each, owner: whose })))
}

/** Statements on the first tasks of an assignment. */
function firstStatements(compiler: StatementCompiler) {
  const { select } = statementsOf(compiler, tasks)
  const first = (role: 'is null' | '= ?', owner: 'is null' | '= ?') =>
    select('claimable', (task, hole) => {
      const forRole = role === 'is null' ? task.where('role', 'is', null) : task.where('role', '=', hole('role'))
      const forOwner =
        owner === 'is null' ? forRole.where('owner', 'is', null) : forRole.where('owner', '=', hole('owner'))
      return forOwner
        .where(sql<boolean>`claimable = 1`)
        .orderBy('priority', 'desc')
        .orderBy('seq', 'asc')
        .limit(hole('limit'))
    })
  const forAnyone = first('is null', 'is null')
  const forOwner = first('is null', '= ?')
  const forRole = first('= ?', 'is null')
  const forBoth = first('= ?', '= ?')
  return ({ role, owner }: Assignment): Statement =>
    role === null ? (owner === null ? forAnyone : forOwner) : owner === null ? forRole : forBoth
}

/** The tasks of one assignment, in the text of which NULL stands as such, because the index is searched only then. */
function isExactlyFor({ role, owner }: Assignment): RawSql {
  return sql`claimable = 1 and ${role === null ? sql`role is null` : sql`role = ${role}`}
    and ${owner === null ? sql`owner is null` : sql`owner = ${owner}`}`
}

/** The tasks of all assignments of a claimant. */
function isFor({ role, owner }: ClaimFilter): RawSql {
  return sql`${role === undefined ? sql`role is null` : sql`(role is null or role = ${role})`}
    and ${owner === undefined ? sql`owner is null` : sql`(owner is null or owner = ${owner})`}`
}
