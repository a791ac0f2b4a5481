// How lists of tasks are read: each statement reads a bounded number of rows and bytes, and between two statements a read gives way to
// others (`sliced`).
import { type BriefRecord, longFields, type TaskRecord } from '../../entities/task.ts'
import type { Op } from '../ledger.ts'
import { fitting } from '../page-bytes.ts'
import {
  among,
  type Dialect,
  queryRows,
  type RawSql,
  rows,
  type Statement,
  type StatementCompiler,
  sliced,
  sql,
} from '../statement.ts'
import { tasks } from './task-columns.ts'

/** The maximum of rows that one statement reads. */
export const maxRowsRead = 1_000
/** The maximum of whole rows that one statement returns. */
export const maxRowsReturned = 200

/** What a list is ordered by. */
export interface Match {
  seq: number
  priority: number
}

export function byPriority(a: Match, b: Match): number {
  return b.priority - a.priority || Number(a.seq) - Number(b.seq)
}

/**
 * Reads the rows after a match, by priority and age, in pages that an index has in order: first the rest of its priority, then the lower
 * ones.
 * @param sizes the size of the first page and of the others
 * @param take receives a page, and returns whether another one is wanted
 */
export function* readInOrder<T extends Match>(
  sizes: readonly [number, number],
  after: Match | undefined,
  read: (position: RawSql, size: number) => Op<T[]>,
  take: (page: readonly T[]) => Op<boolean>,
): Op<void> {
  let [size] = sizes
  let last = after
  let isWithin = after !== undefined
  for (let more = true; more; size = sizes[1]) {
    const page = yield* read(positionAfter(last, isWithin), size)
    more = (yield* take(page)) && (isWithin || page.length === size)
    isWithin = page.length === size
    last = page.at(-1) ?? last
  }
}

function positionAfter(last: Match | undefined, isWithin: boolean): RawSql {
  if (last === undefined) return sql`1 = 1`
  return isWithin ? sql`priority = ${last.priority} and seq > ${last.seq}` : sql`priority < ${last.priority}`
}

/** A part of the table: these tasks, or those beyond one `seq` up to another. */
export type Part = { seqs: readonly number[] } | { beyond: number; upTo: number }

export class TaskReader {
  readonly dialect: Dialect
  /** The rows of a part are found by `seq` alone: another index would lead to all rows of the ledger that match it. */
  readonly fromTask: RawSql
  readonly #selectRecords: Statement
  readonly #selectBrief: Statement
  readonly #sizes: Statement

  constructor({ prepareText, dialect }: StatementCompiler) {
    this.dialect = dialect
    this.fromTask = dialect.kind === 'sqlite' ? sql`from task not indexed` : sql`from task`
    this.#selectRecords = prepareText(
      (hole) =>
        sql`select ${tasks.columns()} ${this.fromTask} where seq ${among(dialect, hole('seqs'), 'bigint')} and deleted_at is null`,
    )
    this.#selectBrief = prepareText(
      (hole) => sql`select ${tasks.columns('task', '', longFields)} ${this.fromTask}
        where seq ${among(dialect, hole('seqs'), 'bigint')} and deleted_at is null`,
    )
    this.#sizes = prepareText(
      (hole) => sql`select seq, octet_length(input) + octet_length(result) + octet_length(description)
          + coalesce(octet_length(goal), 0) + octet_length(metadata) as bytes
        ${this.fromTask} where seq ${among(dialect, hole('seqs'), 'bigint')}`,
    )
  }

  isIn(part: Part): RawSql {
    return 'seqs' in part
      ? sql`task.seq ${among(this.dialect, JSON.stringify(part.seqs), 'bigint')}`
      : sql`task.seq > ${part.beyond} and task.seq <= ${part.upTo}`
  }

  query<T>(query: RawSql): Op<T[]> {
    return sliced(queryRows<T>(query.compile(this.dialect.db)))
  }

  rows<T>(statement: Statement, values: object): Op<T[]> {
    return sliced(rows<T>(statement, values))
  }

  /** The tasks with these `seq`s, in their order. */
  records(found: ReadonlyArray<Pick<Match, 'seq'>>): Op<TaskRecord[]> {
    return this.#inOrder(found, (seqs) => tasks.list(this.#selectRecords, { seqs }))
  }

  /** The same without their long fields. */
  brief(found: ReadonlyArray<Pick<Match, 'seq'>>): Op<BriefRecord[]> {
    const selectBrief = this.#selectBrief
    return this.#inOrder(found, function* (seqs): Op<BriefRecord[]> {
      return (yield* rows<TaskRecord>(selectBrief, { seqs })).map(tasks.read)
    })
  }

  /** The first of these tasks that together are not too long for a page. */
  *fitting<T extends Pick<Match, 'seq'>>(found: readonly T[]): Op<T[]> {
    const sizes = new Map<number, number>()
    for (let at = 0; at < found.length; at += maxRowsRead) {
      const seqs = JSON.stringify(found.slice(at, at + maxRowsRead).map(({ seq }) => seq))
      for (const { seq, bytes } of yield* this.rows<{ seq: number; bytes: number }>(this.#sizes, { seqs }))
        sizes.set(Number(seq), Number(bytes))
    }
    return found.slice(0, fitting(found.map(({ seq }) => sizes.get(Number(seq)) ?? 0)))
  }

  *#inOrder<T extends { seq: number }>(
    found: ReadonlyArray<Pick<Match, 'seq'>>,
    list: (seqs: string) => Op<T[]>,
  ): Op<T[]> {
    const records: T[] = []
    for (let at = 0; at < found.length; at += maxRowsReturned) {
      const some = found.slice(at, at + maxRowsReturned).map(({ seq }) => seq)
      const bySeq = new Map((yield* sliced(list(JSON.stringify(some)))).map((task) => [task.seq, task]))
      for (const seq of some) {
        const record = bySeq.get(seq)
        if (record !== undefined) records.push(record)
      }
    }
    return records
  }
}
