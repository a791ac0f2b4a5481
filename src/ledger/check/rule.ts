// What a check is made of: rules that users read, and the statement or the pass over rows that finds what violates them.
import type { TableName } from '../schema.ts'
import type { LedgerSnapshot, StoredRow } from '../snapshot.ts'
import {
  createCompiler,
  type Dialect,
  type Holes,
  numberOf,
  queryRows,
  type RawSql,
  rows,
  type StatementCompiler,
  sql,
} from '../statement.ts'

/** An invariant of every ledger, whatever it contains. */
export interface Rule {
  /** Its id, in kebab-case. */
  readonly name: string
  /** One sentence for users: what holds, and why that matters. */
  readonly explains: string
}

export interface Violation {
  /** The id of the rule. */
  rule: string
  /** The id of the task, fact or branch that violates it, or another name of what does. */
  subject: string
  /** A sentence with the values that were found. */
  message: string
}

/** Finds what violates some rules that are checked by one statement or in one pass. */
export interface Check {
  readonly rules: readonly Rule[]
  run(ledger: LedgerSnapshot, findings: Findings): Promise<void>
}

/** Collects violations: all are counted, and a limited number of each rule is kept. */
export class Findings {
  readonly limit: number
  readonly listed: Violation[] = []
  readonly counts = new Map<string, number>()
  /** Tasks, and rows of all tables, that were read one by one. */
  tasks = 0
  rows = 0

  constructor(limit: number) {
    this.limit = limit
  }

  add({ name: rule }: Rule, subject: string, message: string): void {
    const before = this.counts.get(rule) ?? 0
    this.counts.set(rule, before + 1)
    if (before < this.limit) this.listed.push({ rule, subject, message })
  }

  /** Counts violations that are not listed. */
  addUnlisted({ name }: Rule, count: number): void {
    if (count > 0) this.counts.set(name, (this.counts.get(name) ?? 0) + count)
  }
}

/** A task is not being purged. One that is has lost some of its rows, so that rules about what belongs together do not hold for it. */
export const isKept = (task: RawSql) => sql`cast(${task} as text) not in (
    with recursive purged (id) as (
      select task.id from purging join task on task.id = purging.root_id
      union select task.id from purged cross join task where task.parent_id = purged.id)
    select id from purged)`

/**
 * A rule whose violations a statement selects, each with an alias `subject`. Those that are listed are read; the others are only counted,
 * by the database. `about`: which column of a violation has the id of the task; null if the rule also holds for a task that is being purged.
 */
export function statementCheck(
  rule: Rule,
  violations: RawSql | ((dialect: Dialect) => RawSql),
  messageOf: (found: StoredRow) => string,
  about: RawSql | null = sql`violation.subject`,
): Check {
  return {
    rules: [rule],
    async run(ledger, findings) {
      const compiler = createCompiler(ledger.dialect)
      const all = typeof violations === 'function' ? violations(ledger.dialect) : violations
      const query = about === null ? all : sql`select * from (${all}) as violation where ${isKept(about)}`
      const { limit } = findings
      const listed = await ledger.run(
        rows<StoredRow>(
          compiler.prepareText((hole) => sql`select * from (${query}) as found limit ${hole('limit')}`),
          {
            limit: limit + 1,
          },
        ),
      )
      for (const found of listed.slice(0, limit)) findings.add(rule, String(found['subject']), messageOf(found))
      if (listed.length <= limit) return
      const counted = compiler.prepareText(() => sql`select count(*) as violations from (${query}) as found`)
      findings.addUnlisted(rule, (await ledger.run(numberOf(counted))) - limit)
    },
  }
}

/** Rows of a page of a pass. */
const pageRows = 1_000

/**
 * Reads the rows of a statement in pages. It has a hole for each part of the key of the last row, under the name of its alias, which the
 * first page fills from `first`, and a hole `limit`.
 */
export async function* pages<Row extends object>(
  ledger: LedgerSnapshot,
  build: (hole: Holes, compiler: StatementCompiler) => RawSql,
  first: Partial<Row>,
): AsyncGenerator<Row[]> {
  const compiler = createCompiler(ledger.dialect)
  const statement = compiler.prepareText((hole) => build(hole, compiler))
  for (let after: Partial<Row> = first; ; ) {
    const page = await ledger.run(rows<Row>(statement, { ...after, limit: pageRows }))
    if (page.length > 0) yield page
    const last = page.at(-1)
    if (last === undefined || page.length < pageRows) return
    after = last
  }
}

/** The highest number in a numbered table, 0 without any row. */
export async function highestSeq(ledger: LedgerSnapshot, table: TableName): Promise<number> {
  const query = ledger.dialect.db.selectFrom(table as 'task').select((each) => each.fn.max('seq').as('highest'))
  const [found] = await ledger.run(queryRows<{ highest: number | null }>(query.compile()))
  return Number(found?.highest ?? 0)
}
