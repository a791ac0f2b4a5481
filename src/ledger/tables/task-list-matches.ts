// Finds the tasks that match a filter, however many tasks there are and however long their texts.
import { taskStatuses } from '../../entities/task.ts'
import type { Op, TaskFilter } from '../ledger.ts'
import { among, column, type RawSql, row, type StatementCompiler, sliced, sql } from '../statement.ts'
import type { TaskFamilies } from './task-families.ts'
import { beginsWith, conditionsOf, isAmong, isOneOf } from './task-filter.ts'
import { type Match, maxRowsRead, type Part, readInOrder, type TaskReader } from './task-list-reader.ts'

/** The maximum of bytes of text that one statement searches, unless a single task has more. */
const maxBytesSearched = 1024 * 1024

export interface Order {
  /** Only younger tasks. */
  after?: number
  latestFirst?: boolean
  /** The search ends after so many matches. */
  limit?: number
}

export const allOf = (conditions: readonly RawSql[]): RawSql => sql.join([...conditions], sql` and `)

export class TaskMatches {
  readonly #reader: TaskReader
  readonly #families: TaskFamilies
  readonly #statements: ReturnType<typeof matchStatements>

  constructor(compiler: StatementCompiler, reader: TaskReader, families: TaskFamilies) {
    this.#reader = reader
    this.#families = families
    this.#statements = matchStatements(compiler, reader)
  }

  /** Parts of the table by age, each with at most as many rows as one statement reads. */
  *partsOf({ after = 0, latestFirst = false }: Order, size = maxRowsRead): Op<Part[]> {
    const ends = yield* row<{ first: number | null; last: number | null }>(this.#statements.bounds)
    const end = Number(ends?.last ?? 0)
    const parts: Part[] = []
    for (let beyond = Math.max(after, Number(ends?.first ?? 1) - 1); beyond < end; beyond += size)
      parts.push({ beyond, upTo: beyond + size })
    return latestFirst ? parts.reverse() : parts
  }

  /** The tasks that an index finds, if these are few; undefined if the whole table must be read. */
  *fewOf({ ids, parentId, keyPrefix, forkedFrom, principal, statuses }: TaskFilter): Op<number[] | undefined> {
    const narrow = [
      ...(ids === undefined ? [] : [isAmong(this.#reader.dialect, ids)]),
      ...(parentId == null ? [] : [sql`parent_id = ${parentId}`]),
      ...(keyPrefix === undefined ? [] : [beginsWith(keyPrefix)]),
      ...(forkedFrom === undefined ? [] : [sql`forked_from = ${forkedFrom}`]),
      ...(principal === undefined ? [] : [sql`principal = ${principal}`]),
      ...(statuses === undefined ? [] : [isOneOf(statuses)]),
    ]
    for (const condition of narrow) {
      const found = yield* this.#reader.query<{ seq: number }>(
        sql`select seq from task where ${condition} limit ${maxRowsRead + 1}`,
      )
      if (found.length <= maxRowsRead) return found.map(({ seq }) => Number(seq))
    }
    return undefined
  }

  /** The tasks that match, by age, at most `limit` of the order. */
  *matches(filter: TaskFilter, order: Order): Op<Match[]> {
    const { after = 0, latestFirst = false, limit = Number.POSITIVE_INFINITY } = order
    if (limit <= 0) return []
    const below = filter.below === undefined ? undefined : yield* this.#families.seqsBelow(filter.below)
    const few = (yield* this.fewOf(filter)) ?? (below && below.size <= maxRowsRead ? [...below] : undefined)
    const conditions = allOf(conditionsOf(this.#reader.dialect, filter))
    const direction = sql.raw(latestFirst ? 'desc' : 'asc')
    // A row that is found may still not match.
    const isJudgedLater = below !== undefined || filter.words !== undefined
    const found: Match[] = []
    for (const part of few === undefined ? yield* this.partsOf(order) : [{ seqs: few.filter((seq) => seq > after) }]) {
      const pageSize = isJudgedLater ? maxRowsRead : Math.min(maxRowsRead, limit - found.length)
      const query = sql`select task.seq, task.priority ${this.#reader.fromTask} where ${this.#reader.isIn(part)} and ${conditions}
        order by task.seq ${direction} limit ${pageSize}`
      const page = (yield* this.#reader.query<Match>(query)).map(({ seq, priority }) => ({
        seq: Number(seq),
        priority,
      }))
      const within = below === undefined ? page : page.filter(({ seq }) => below.has(seq))
      const held = filter.words === undefined ? within : yield* this.#holding(within, filter.words)
      for (const match of held) found.push(match)
      if (found.length >= limit) break
    }
    return found.slice(0, limit)
  }

  /**
   * The best matching tasks of each state, which an index has in order: the best of all are among them. Undefined if that does not help: few
   * tasks are to be read, or the match needs more than the row.
   */
  *bestMatches(filter: TaskFilter, limit: number, after: Match | undefined): Op<Match[] | undefined> {
    if (filter.words !== undefined || filter.below !== undefined || (yield* this.fewOf(filter)) !== undefined)
      return undefined
    const matching = allOf(conditionsOf(this.#reader.dialect, filter))
    const size = Math.min(maxRowsRead, Math.max(100, limit))
    const found: Match[] = []
    for (const status of filter.statuses ?? taskStatuses) {
      const enough = found.length + limit
      yield* readInOrder<Match & { isMatch: number }>(
        [size, size],
        after,
        (position) =>
          this.#reader.query(sql`
            select seq, priority, case when ${matching} then 1 else 0 end as "isMatch" from task
            where status = ${status} and ${position} order by priority desc, seq asc limit ${size}`),
        function* (page) {
          for (const { seq, priority, isMatch } of page) if (isMatch === 1) found.push({ seq: Number(seq), priority })
          return found.length < enough
        },
      )
    }
    return found
  }

  /** The matches that hold all words. Searched by one word in one piece of text at a time, so that no statement takes long. */
  *#holding(found: Match[], words: readonly string[]): Op<Match[]> {
    if (found.length === 0) return found
    let held: number[] = []
    for (const piece of yield* this.#pieces(found)) {
      let left = piece
      for (const word of new Set(words)) {
        if (left.length === 0) break
        const holders = yield* sliced(column<number>(this.#statements.holders, { seqs: JSON.stringify(left), word }))
        left = holders.map(Number)
      }
      held = held.concat(left)
    }
    const holders = new Set(held)
    return found.filter(({ seq }) => holders.has(seq))
  }

  *#pieces(found: readonly Match[]): Op<number[][]> {
    const seqs = JSON.stringify(found.map(({ seq }) => seq))
    const made: number[][] = []
    let bytes = Number.POSITIVE_INFINITY
    for (const each of yield* this.#reader.rows<{ seq: number; bytes: number }>(this.#statements.sizes, { seqs })) {
      bytes += Number(each.bytes)
      if (bytes > maxBytesSearched) {
        made.push([])
        bytes = Number(each.bytes)
      }
      made.at(-1)?.push(Number(each.seq))
    }
    return made
  }
}

function matchStatements({ prepareText, dialect }: StatementCompiler, reader: TaskReader) {
  const bounds = prepareText(
    () => sql`select (select min(seq) from task) as first, (select max(seq) from task) as last`,
  )
  const sizes = prepareText(
    (hole) => sql`select seq, octet_length(name) + coalesce(octet_length(goal), 0) + octet_length(description) as bytes
      ${reader.fromTask} where seq ${among(reader.dialect, hole('seqs'), 'bigint')} order by seq`,
  )
  // SQLite's `lower` folds ASCII letters only, as its LIKE does; that of PostgreSQL those of its locale.
  const positionOf = (text: RawSql, word: unknown) =>
    dialect.kind === 'sqlite' ? sql`instr(lower(${text}), lower(${word}))` : sql`strpos(lower(${text}), lower(${word}))`
  const holders = prepareText(
    (hole) => sql`select seq ${reader.fromTask} where seq ${among(reader.dialect, hole('seqs'), 'bigint')}
      and (${positionOf(sql`name`, hole('word'))} > 0 or ${positionOf(sql`goal`, hole('word'))} > 0
        or ${positionOf(sql`description`, hole('word'))} > 0 or ${positionOf(sql`id`, hole('word'))} = 1)
      order by seq`,
  )
  return { bounds, sizes, holders }
}
