// The best task that a claim may take.
import type { ClaimFilter, Reads } from '../ledger.ts'
import {
  type Dialect,
  numberOf,
  queryRows,
  type RawSql,
  type Statement,
  type StatementCompiler,
  sql,
} from '../statement.ts'
import { liesIn } from './task-ancestors.ts'
import { countOfBelow, hasTag, tasks, withBelow } from './task-row.ts'

/** A subtree of at most so many tasks is read whole. */
const maxSubtree = 1_000
/** The maximum of claimable tasks that one statement reads. */
const maxCandidatesRead = 5_000

/** A task that may be claimed. */
interface Candidate {
  id: string
  seq: number
  priority: number
  parentId: string | null
}

export function createClaimable(compiler: StatementCompiler, selectById: Statement): Reads['task']['claimable'] {
  const { dialect } = compiler
  const countBelow = countOfBelow(compiler, maxSubtree + 1)
  return function* claimable(claim) {
    const { below } = claim
    const isSmall = below !== undefined && (yield* numberOf(countBelow, { root: below })) <= maxSubtree
    if (below === undefined || isSmall) {
      const within = below === undefined ? [] : [sql`id in (${withBelow(below)} select id from below)`]
      const best = inOrderOfClaims(tasks.columns(), [...claimConditions(dialect, claim), ...within], 1)
      return (yield* tasks.query({ compile: () => best.compile(dialect.db) as never }))[0]
    }
    // The subtree may be the whole ledger: instead of reading it, the ancestors of each candidate are checked.
    const known = new Map<string, boolean>()
    for (let last: Candidate | undefined; ; ) {
      const page: Candidate[] = yield* queryRows<Candidate>(
        inOrderOfClaims(
          sql`id, seq, priority, parent_id as "parentId"`,
          [...claimConditions(dialect, claim), ...(last === undefined ? [] : [isBehind(last)])],
          maxCandidatesRead,
        ).compile(dialect.db),
      )
      for (const { id, parentId } of page) {
        if (yield* liesIn(selectById, parentId, (task) => task.id === below, known))
          return yield* tasks.one(selectById, { id })
      }
      last = page.at(-1)
      if (page.length < maxCandidatesRead) return undefined
    }
  }
}

function claimConditions(dialect: Dialect, claim: ClaimFilter): RawSql[] {
  const assignments = (['role', 'owner'] as const).map((column) => {
    const own = claim[column]
    const name = sql.ref(column)
    return own === undefined ? sql`${name} is null` : sql`(${name} is null or ${name} = ${own})`
  })
  return [
    sql`claimable = 1`,
    ...assignments,
    ...(claim.parentId === undefined ? [] : [sql`parent_id = ${claim.parentId}`]),
    ...(claim.tags ?? []).map((tag) => hasTag(dialect, tag)),
  ]
}

function inOrderOfClaims(columns: RawSql, conditions: readonly RawSql[], limit: number): RawSql {
  return sql`select ${columns} from task where ${sql.join([...conditions], sql` and `)}
    order by priority desc, seq asc limit ${limit}`
}

/** The first condition lets the index begin at the tasks of this priority. */
function isBehind({ priority, seq }: Candidate): RawSql {
  return sql`priority <= ${priority} and (priority < ${priority} or seq > ${seq})`
}
