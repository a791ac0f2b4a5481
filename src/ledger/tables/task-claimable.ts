// The best task that a claim may take. Tasks that are meant for a role or an owner are apart in the index, each kind in the order of claims,
// so that a claim reads none that is meant for another one.
import type { TaskRecord } from '../../entities/task.ts'
import { statementsOf } from '../columns.ts'
import type { ClaimFilter, Op, Reads } from '../ledger.ts'
import { numberOf, queryRows, type RawSql, type Statement, type StatementCompiler, sql } from '../statement.ts'
import { liesIn } from './task-ancestors.ts'
import { byPriority, type Match } from './task-reader.ts'
import { countOfBelow, hasTag, tasks, withBelow } from './task-row.ts'

/** A family of at most so many tasks is read whole. */
const maxFamily = 1_000
/** The maximum of claimable tasks that one statement reads. */
const maxCandidatesRead = 5_000

/** For whom tasks are meant: a role and an owner, or null for anyone. */
interface Assignment {
  role: string | null
  owner: string | null
}

/** A task that may be claimed. */
interface Candidate extends Match {
  id: string
  parentId: string | null
}

export function createClaimable(compiler: StatementCompiler, selectById: Statement): Reads['task']['claimable'] {
  const { dialect } = compiler
  const countBelow = countOfBelow(compiler, maxFamily + 1)
  const countChildren = compiler.prepareText(
    (hole) => sql`select count(*) as children
      from (select 1 from task where parent_id = ${hole('parent')} limit ${maxFamily + 1}) as counted`,
  )
  const selectFirst = firstStatements(compiler)
  const isAbove = (root: string) => (task: TaskRecord) => task.id === root

  function* best(conditions: readonly RawSql[]): Op<TaskRecord | undefined> {
    const query = inOrderOfClaims(tasks.columns(), conditions, 1)
    return (yield* tasks.query({ compile: () => query.compile(dialect.db) as never }))[0]
  }

  /** The best task with an assignment that meets the conditions and is below a root, which may have the whole ledger below it. */
  function* bestBelow(root: string, conditions: readonly RawSql[]): Op<TaskRecord | undefined> {
    const known = new Map<string, boolean>()
    for (let last: Candidate | undefined; ; ) {
      const columns = sql`id, seq, priority, parent_id as "parentId"`
      const query = inOrderOfClaims(
        columns,
        last === undefined ? conditions : [...conditions, isBehind(last)],
        maxCandidatesRead,
      )
      const page: Candidate[] = yield* queryRows<Candidate>(query.compile(dialect.db))
      for (const { id, parentId } of page)
        if (yield* liesIn(selectById, parentId, isAbove(root), known)) return yield* tasks.one(selectById, { id })
      last = page.at(-1)
      if (page.length < maxCandidatesRead) return undefined
    }
  }

  return function* claimable({ parentId, below, tags = [], ...claimant }) {
    const tagged = tags.map((tag) => hasTag(dialect, tag))
    // All children of a task are below the same tasks.
    const isOutside =
      parentId !== undefined && below !== undefined && !(yield* liesIn(selectById, parentId, isAbove(below), new Map()))
    if (isOutside) return undefined
    const root = parentId === undefined ? below : undefined
    // `+` prevents the use of the index on claimable tasks, which contains those of other families.
    const inFamily = [sql`+claimable = 1`, isFor(claimant), ...tagged]
    if (parentId !== undefined && (yield* numberOf(countChildren, { parent: parentId })) <= maxFamily)
      return yield* best([sql`parent_id = ${parentId}`, ...inFamily])
    if (root !== undefined && (yield* numberOf(countBelow, { root })) <= maxFamily)
      return yield* best([sql`id in (${withBelow(root)} select id from below)`, ...inFamily])
    const others = [...(parentId === undefined ? [] : [sql`coalesce(parent_id, '') = ${parentId}`]), ...tagged]
    const found: TaskRecord[] = []
    for (const assignment of assignmentsOf(claimant)) {
      const conditions = [isExactlyFor(assignment), ...others]
      const first =
        root !== undefined
          ? yield* bestBelow(root, conditions)
          : others.length > 0
            ? yield* best(conditions)
            : yield* tasks.one(selectFirst(assignment), assignment)
      if (first !== undefined) found.push(first)
    }
    return found.sort(byPriority)[0]
  }
}

function assignmentsOf({ role, owner }: ClaimFilter): Assignment[] {
  const roles = role === undefined ? [null] : [null, role]
  const owners = owner === undefined ? [null] : [null, owner]
  return roles.flatMap((each) => owners.map((whose) => ({ role: each, owner: whose })))
}

/** Statements on the first task of an assignment. */
function firstStatements(compiler: StatementCompiler) {
  const { select } = statementsOf(compiler, tasks)
  const first = (role: 'is null' | '= ?', owner: 'is null' | '= ?') =>
    select((task, hole) => {
      const forRole = role === 'is null' ? task.where('role', 'is', null) : task.where('role', '=', hole('role'))
      const forOwner =
        owner === 'is null' ? forRole.where('owner', 'is', null) : forRole.where('owner', '=', hole('owner'))
      return forOwner.where(sql<boolean>`claimable = 1`).orderBy('priority', 'desc').orderBy('seq', 'asc').limit(1)
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

function inOrderOfClaims(columns: RawSql, conditions: readonly RawSql[], limit: number): RawSql {
  return sql`select ${columns} from task where ${sql.join([...conditions], sql` and `)}
    order by priority desc, seq asc limit ${limit}`
}

/** The first condition lets the index begin at the tasks of this priority. */
function isBehind({ priority, seq }: Candidate): RawSql {
  return sql`priority <= ${priority} and (priority < ${priority} or seq > ${seq})`
}
