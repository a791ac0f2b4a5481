// Lists of tasks by any filter. A statement looks at so many rows and so much text at most, however many tasks there are and however
// long their texts: what takes longer is a loop of statements, between which a read gives way to others (`sliced`).
import { type TaskRecord, type TaskStatus, taskStatuses } from '../../entities/task.ts'
import type { Op, Reads, TaskAtEvent, TaskFilter } from '../ledger.ts'
import {
  column,
  listed,
  numberOf,
  queryRows,
  type RawSql,
  row,
  rows,
  type Statement,
  type StatementCompiler,
  sliced,
  sql,
} from '../statement.ts'
import { events } from './event.ts'
import { countOfBelow, hasTag, isQueuedBehindItsRun, tasks, withBelow } from './task-row.ts'

/** Rows that one statement looks at. */
const lookedAtOnce = 1_000
/** The same of a statement that looks for the events of each. */
const pastLookedAtOnce = 200
/** Rows that one statement gives whole. */
const givenAtOnce = 200
/** Bytes of text that one statement searches, unless one task alone has more. */
const searchedAtOnce = 1024 * 1024

/** What a list is ordered by. */
interface Match {
  seq: number
  priority: number
}

/** A part of the table: these tasks, or those beyond one `seq` up to another. */
type Part = { seqs: readonly number[] } | { beyond: number; upTo: number }

interface Order {
  /** Only what is younger. */
  after?: number
  latestFirst?: boolean
  /** More than these are not looked for. */
  limit?: number
}

type Lists = Pick<
  Reads['task'],
  'list' | 'newest' | 'oldest' | 'asOf' | 'count' | 'countByStatus' | 'children' | 'subtree' | 'idsBelow'
>

export function createTaskLists(compiler: StatementCompiler): Lists {
  const { prepareText, dialect } = compiler
  // The rows of a part are found by `seq` alone: an index of something else would lead to all rows of the ledger that have it.
  const fromTask = dialect.kind === 'sqlite' ? sql`from task not indexed` : sql`from task`
  const bounds = prepareText(
    () => sql`select (select min(seq) from task) as first, (select max(seq) from task) as last`,
  )
  const countChildren = prepareText(
    (hole) =>
      sql`select count(*) as children from (select 1 from task where parent_id = ${hole('parent')} limit ${lookedAtOnce + 1}) as counted`,
  )
  const countBelow = countOfBelow(compiler, lookedAtOnce + 1)
  const selectChildren = prepareText(
    (hole) => sql`select ${tasks.columns()} from task
      where parent_id = ${hole('parent')} and deleted_at is null order by priority desc, seq asc`,
  )
  const selectSubtree = prepareText(
    (hole) => sql`${withBelow(hole('root'))}
      select ${tasks.columns()} from task join below on below.id = task.id
      where task.deleted_at is null order by task.priority desc, task.seq asc`,
  )
  const selectBelowSome = prepareText(
    (hole) => sql`select id, seq, priority from task
      where parent_id in ${listed(dialect, hole('parents'))} limit ${lookedAtOnce + 1}`,
  )
  // In the order of the index, so that a page costs its own rows and no others.
  const selectBelowOne = prepareText(
    (hole) => sql`select id, seq, priority, status from task
      where parent_id = ${hole('parent')} and (status, seq) > (${hole('status')}, ${hole('seq')})
      order by status, seq limit ${lookedAtOnce}`,
  )
  const selectGiven = prepareText(
    (hole) =>
      sql`select ${tasks.columns()} ${fromTask} where seq in ${listedSeqs(hole('seqs'))} and deleted_at is null`,
  )
  const sizes = prepareText(
    (hole) => sql`select seq, octet_length(name) + coalesce(octet_length(goal), 0) + octet_length(description) as bytes
      ${fromTask} where seq in ${listedSeqs(hole('seqs'))} order by seq`,
  )
  // SQLite's `lower` knows the letters of ASCII, as its LIKE did; that of PostgreSQL those of its locale.
  const place = (text: RawSql, word: unknown) =>
    dialect.kind === 'sqlite' ? sql`instr(lower(${text}), lower(${word}))` : sql`strpos(lower(${text}), lower(${word}))`
  const selectHolders = prepareText(
    (hole) => sql`select seq ${fromTask} where seq in ${listedSeqs(hole('seqs'))}
      and (${place(sql`name`, hole('word'))} > 0 or ${place(sql`goal`, hole('word'))} > 0
        or ${place(sql`description`, hole('word'))} > 0 or ${place(sql`id`, hole('word'))} = 1)
      order by seq`,
  )
  const countStatuses = prepareText(
    (hole) => sql`select status, count(*) as tasks ${fromTask}
      where seq > ${hole('beyond')} and seq <= ${hole('upTo')} and deleted_at is null group by status`,
  )

  function listedSeqs(json: unknown): RawSql {
    return sql`(select cast(value as bigint) from ${listed(dialect, json)} as seqs)`
  }

  const isIn = (part: Part): RawSql =>
    'seqs' in part
      ? sql`task.seq in ${listedSeqs(JSON.stringify(part.seqs))}`
      : sql`task.seq > ${part.beyond} and task.seq <= ${part.upTo}`

  const all = (conditions: readonly RawSql[]): RawSql => sql.join([...conditions], sql` and `)

  // ── conditions ──

  /** All that a row by itself tells: `words` and `below` are looked for apart. */
  function conditionsOf(filter: TaskFilter): RawSql[] {
    const { statuses, parentId, executor, keyPrefix, owner, ready, released, failedWith, type, ids } = filter
    return [
      sql`deleted_at is null`,
      ...(statuses === undefined ? [] : [isOneOf(statuses)]),
      ...(parentId === undefined ? [] : [parentId === null ? sql`parent_id is null` : sql`parent_id = ${parentId}`]),
      ...(executor === undefined ? [] : [sql`executor = ${executor}`]),
      ...(keyPrefix === undefined ? [] : [beginsWith(keyPrefix)]),
      ...(owner === undefined ? [] : [sql`owner = ${owner}`]),
      ...(ready === undefined ? [] : [isReady(ready)]),
      ...(released === undefined ? [] : [isReleased(released)]),
      ...(failedWith === undefined ? [] : [failedBecause(failedWith)]),
      ...(type === undefined ? [] : [hasType(type)]),
      ...(ids === undefined ? [] : [isAmong(ids)]),
      ...(filter.createdFrom === undefined ? [] : [sql`created_at >= ${filter.createdFrom}`]),
      ...(filter.createdTo === undefined ? [] : [sql`created_at <= ${filter.createdTo}`]),
      ...Object.entries(filter.metadata ?? {}).map(([name, value]) => metadataEquals(name, value)),
      ...(filter.tags ?? []).map((tag) => hasTag(dialect, tag)),
    ]
  }

  // PostgreSQL has no empty list.
  function isOneOf(statuses: readonly TaskStatus[]): RawSql {
    return statuses.length === 0 ? sql`1 = 0` : sql`status in (${sql.join([...statuses])})`
  }

  function isAmong(ids: readonly string[]): RawSql {
    return ids.length === 0 ? sql`1 = 0` : sql`task.id in ${listed(dialect, JSON.stringify(ids))}`
  }

  function beginsWith(prefix: string): RawSql {
    return sql`key >= ${prefix} and key < ${`${prefix}\u{10ffff}`}`
  }

  function isReady(wanted: boolean): RawSql {
    const waitsForItsTurn = sql`(ready = 1 or claimable = 1 or ${isQueuedBehindItsRun})`
    return wanted ? waitsForItsTurn : sql`not ${waitsForItsTurn}`
  }

  function hasType(type: string): RawSql {
    return sql`exists (select 1 from team where team.task_id = task.id and team.type = ${type})`
  }

  function isReleased(wanted: boolean): RawSql {
    const reasons = sql`('interrupted', 'released')`
    return wanted
      ? sql`(status <> 'waiting' or status_reason in ${reasons})`
      : sql`(status <> 'waiting' or status_reason is null or status_reason not in ${reasons})`
  }

  function failedBecause(message: string): RawSql {
    return dialect.kind === 'postgres'
      ? sql`(status <> 'failed' or (error::jsonb ->> 'message') = ${message})`
      : sql`(status <> 'failed' or case when json_valid(error) then json_extract(error, '$.message') end = ${message})`
  }

  /** The name is a bound value in both databases, never part of the text. */
  function metadataEquals(name: string, value: unknown): RawSql {
    return dialect.kind === 'postgres'
      ? sql`(metadata::jsonb -> ${name}) = ${JSON.stringify(value)}::jsonb`
      : sql`exists (select 1 from json_each(case when json_valid(metadata) then metadata else '{}' end) as entry where entry.key = ${name} and entry.type in (${sql.join(jsonTypes(value))}) and (entry.value is ${value === null ? null : typeof value === 'boolean' ? Number(value) : value}))`
  }

  // ── parts ──

  /** Parts of the table, each with as many rows as one statement looks at, or fewer; by age. */
  function* partsOf({ after = 0, latestFirst = false }: Order, size = lookedAtOnce): Op<Part[]> {
    const ends = yield* row<{ first: number | null; last: number | null }>(bounds)
    const end = Number(ends?.last ?? 0)
    const parts: Part[] = []
    for (let beyond = Math.max(after, Number(ends?.first ?? 1) - 1); beyond < end; beyond += size)
      parts.push({ beyond, upTo: beyond + size })
    return latestFirst ? parts.reverse() : parts
  }

  /** The tasks that an index leads to, when these are few; undefined when all must be looked at. */
  function* fewOf({ ids, parentId, keyPrefix, statuses }: TaskFilter): Op<number[] | undefined> {
    const narrow = [
      ...(ids === undefined ? [] : [isAmong(ids)]),
      ...(parentId == null ? [] : [sql`parent_id = ${parentId}`]),
      ...(keyPrefix === undefined ? [] : [beginsWith(keyPrefix)]),
      ...(statuses === undefined ? [] : [isOneOf(statuses)]),
    ]
    for (const condition of narrow) {
      const found = yield* ask<{ seq: number }>(sql`select seq from task where ${condition} limit ${lookedAtOnce + 1}`)
      if (found.length <= lookedAtOnce) return found.map(({ seq }) => Number(seq))
    }
    return undefined
  }

  function* ask<T>(query: RawSql): Op<T[]> {
    return yield* sliced(queryRows<T>(query.compile(dialect.db)))
  }

  const askEach = <T>(statement: Statement, values: object): Op<T[]> => sliced(rows<T>(statement, values))

  /** All that match, by age: at most as many as the order asks for. */
  function* matches(filter: TaskFilter, order: Order): Op<Match[]> {
    const { after = 0, latestFirst = false, limit = Number.POSITIVE_INFINITY } = order
    if (limit <= 0) return []
    const below = filter.below === undefined ? undefined : yield* seqsBelow(filter.below)
    const few = (yield* fewOf(filter)) ?? (below && below.size <= lookedAtOnce ? [...below] : undefined)
    const conditions = all(conditionsOf(filter))
    const direction = sql.raw(latestFirst ? 'desc' : 'asc')
    /** A row that is found may still be none of them. */
    const isJudgedLater = below !== undefined || filter.words !== undefined
    const found: Match[] = []
    for (const part of few === undefined ? yield* partsOf(order) : [{ seqs: few.filter((seq) => seq > after) }]) {
      const most = isJudgedLater ? lookedAtOnce : Math.min(lookedAtOnce, limit - found.length)
      const query = sql`select task.seq, task.priority ${fromTask} where ${isIn(part)} and ${conditions}
        order by task.seq ${direction} limit ${most}`
      const there = (yield* ask<Match>(query)).map(({ seq, priority }) => ({ seq: Number(seq), priority }))
      const within = below === undefined ? there : there.filter(({ seq }) => below.has(seq))
      const held = filter.words === undefined ? within : yield* holding(within, filter.words)
      for (const match of held) found.push(match)
      if (found.length >= limit) break
    }
    return found.slice(0, limit)
  }

  /**
   * The best of each state that match, which an index has in order: the best of all are among them. Undefined where that is no use: few
   * tasks are to be looked at, or more must be known of each than its row tells.
   */
  function* bestMatches(filter: TaskFilter, limit: number, after: Match | undefined): Op<Match[] | undefined> {
    if (filter.words !== undefined || filter.below !== undefined || (yield* fewOf(filter)) !== undefined)
      return undefined
    const matching = all(conditionsOf(filter))
    const size = Math.min(lookedAtOnce, Math.max(100, limit))
    const found: Match[] = []
    for (const status of filter.statuses ?? taskStatuses) {
      const most = found.length + limit
      let last = after
      let isWithin = after !== undefined
      for (let more = true; more; ) {
        const place = placeBehind(last, isWithin)
        const page = yield* ask<Match & { isMatch: number }>(sql`
          select seq, priority, case when ${matching} then 1 else 0 end as "isMatch" from task
          where status = ${status} and ${place} order by priority desc, seq asc limit ${size}`)
        for (const { seq, priority, isMatch } of page) if (isMatch === 1) found.push({ seq: Number(seq), priority })
        // First the rest of this priority, then lower ones.
        more = found.length < most && (isWithin || page.length === size)
        isWithin = page.length === size
        last = page.at(-1) ?? last
      }
    }
    return found
  }

  function placeBehind(last: Match | undefined, isWithin: boolean): RawSql {
    if (last === undefined) return sql`1 = 1`
    return isWithin ? sql`priority = ${last.priority} and seq > ${last.seq}` : sql`priority < ${last.priority}`
  }

  /** Those that hold all words: a word and a piece of text at a time, so that neither many nor long ones make a long statement. */
  function* holding(found: Match[], words: readonly string[]): Op<Match[]> {
    if (found.length === 0) return found
    let held: number[] = []
    for (const piece of yield* pieces(found)) {
      let left = piece
      for (const word of new Set(words)) {
        if (left.length === 0) break
        const holders = yield* sliced(column<number>(selectHolders, { seqs: JSON.stringify(left), word }))
        left = holders.map(Number)
      }
      held = held.concat(left)
    }
    const holders = new Set(held)
    return found.filter(({ seq }) => holders.has(seq))
  }

  function* pieces(found: readonly Match[]): Op<number[][]> {
    const seqs = JSON.stringify(found.map(({ seq }) => seq))
    const made: number[][] = []
    let bytes = Number.POSITIVE_INFINITY
    for (const each of yield* askEach<{ seq: number; bytes: number }>(sizes, { seqs })) {
      bytes += Number(each.bytes)
      if (bytes > searchedAtOnce) {
        made.push([])
        bytes = Number(each.bytes)
      }
      made.at(-1)?.push(Number(each.seq))
    }
    return made
  }

  /** The tasks with these `seq`s, in their order. */
  function* given(found: ReadonlyArray<Pick<Match, 'seq'>>): Op<TaskRecord[]> {
    const records: TaskRecord[] = []
    for (let at = 0; at < found.length; at += givenAtOnce) {
      const some = found.slice(at, at + givenAtOnce).map(({ seq }) => seq)
      const bySeq = new Map(
        (yield* sliced(tasks.list(selectGiven, { seqs: JSON.stringify(some) }))).map((task) => [task.seq, task]),
      )
      for (const seq of some) {
        const record = bySeq.get(seq)
        if (record !== undefined) records.push(record)
      }
    }
    return records
  }

  // ── families ──

  type Child = Match & { id: string }

  /** The children of some tasks, deleted ones included, in no order. */
  function* childrenOf(parents: readonly string[]): Op<Child[]> {
    const some = yield* askEach<Child>(selectBelowSome, { parents: JSON.stringify(parents) })
    if (some.length <= lookedAtOnce) return some
    const found: Child[] = []
    for (const parent of parents) {
      let last: (Child & { status: string }) | undefined
      do {
        const from = { status: last?.status ?? '', seq: last?.seq ?? 0 }
        const page: Array<Child & { status: string }> = yield* askEach(selectBelowOne, { parent, ...from })
        for (const child of page) found.push(child)
        last = page.length < lookedAtOnce ? undefined : page.at(-1)
      } while (last !== undefined)
    }
    return found
  }

  /** All that lies below a task, deleted ones included. A cycle in the parents, which nothing should ever have written, ends here. */
  function* below(root: string): Op<Child[]> {
    const found = new Map<string, Child>()
    for (let parents = [root]; parents.length > 0; ) {
      const next: string[] = []
      for (let at = 0; at < parents.length; at += givenAtOnce) {
        for (const child of yield* childrenOf(parents.slice(at, at + givenAtOnce))) {
          if (found.has(child.id)) continue
          found.set(child.id, { ...child, seq: Number(child.seq) })
          next.push(child.id)
        }
      }
      parents = next
    }
    return [...found.values()]
  }

  function* seqsBelow(root: string): Op<Set<number>> {
    return new Set((yield* below(root)).map(({ seq }) => seq))
  }

  return {
    *list(filter, limit, after) {
      if (limit <= 0) return []
      const isAfter = (each: Match): boolean => after === undefined || byPriority(after, each) < 0
      const found = (yield* bestMatches(filter, limit, after)) ?? (yield* matches(filter, {})).filter(isAfter)
      return yield* given(found.sort(byPriority).slice(0, limit))
    },
    // By `seq` and not by `created_at`: a clock that was set back must not reorder what was created.
    *newest(filter, limit, offset) {
      if (limit <= 0) return []
      return yield* given((yield* matches(filter, { latestFirst: true, limit: offset + limit })).slice(offset))
    },
    *oldest(filter, limit, after) {
      return yield* given(yield* matches(filter, { after, limit }))
    },
    *asOf(position, limit, afterSeq, ids) {
      const found: TaskAtEvent[] = []
      const parts = ids === undefined ? yield* partsOf({ after: afterSeq }, pastLookedAtOnce) : [undefined]
      for (const part of parts) {
        const told = dialect.db
          .selectFrom('task')
          .innerJoin('event', (join) =>
            join.on(
              sql<boolean>`event.seq = (select max(seq) from event where task_id = task.id and seq <= ${position})`,
            ),
          )
          .select([tasks.columns(), events.columns('event', 'event.')] as never)
          .where('task.seq', '>', afterSeq)
          .where(sql<boolean>`(${part === undefined ? isAmong(ids ?? []) : isIn(part)})`)
          // Not the last event alone: the run of a task that was deleted closes after that.
          .where(
            sql<boolean>`(task.deleted_at is null or not exists (select 1 from event where task_id = task.id and type = 'task.deleted' and seq <= ${position}))`,
          )
        const query = told.orderBy('task.seq', 'asc').limit(limit - found.length)
        for (const each of yield* sliced(queryRows<object>(query.compile())))
          found.push({ task: tasks.pick(each), event: events.pick(each, 'event.') })
        if (found.length >= limit) break
      }
      return found
    },
    *count(filter) {
      if (filter.words !== undefined || filter.below !== undefined) return (yield* matches(filter, {})).length
      const few = yield* fewOf(filter)
      const conditions = all(conditionsOf(filter))
      let total = 0
      for (const part of few === undefined ? yield* partsOf({}) : [{ seqs: few }]) {
        const query = sql`select count(*) as total ${fromTask} where ${isIn(part)} and ${conditions}`
        total += Number((yield* ask<{ total: number }>(query))[0]?.total ?? 0)
      }
      return total
    },
    *countByStatus() {
      const counts = Object.fromEntries(taskStatuses.map((status) => [status, 0])) as Record<TaskStatus, number>
      for (const part of yield* partsOf({})) {
        const found = yield* askEach<{ status: TaskStatus; tasks: number }>(countStatuses, part)
        for (const { status, tasks: counted } of found) counts[status] += Number(counted)
      }
      return counts
    },
    *children(parent) {
      if ((yield* numberOf(countChildren, { parent })) <= lookedAtOnce) {
        return yield* tasks.list(selectChildren, { parent })
      }
      return yield* given((yield* childrenOf([parent])).sort(byPriority))
    },
    *subtree(root) {
      if ((yield* numberOf(countBelow, { root })) <= lookedAtOnce) return yield* tasks.list(selectSubtree, { root })
      return yield* given((yield* below(root)).sort(byPriority))
    },
    *idsBelow(root) {
      return (yield* below(root)).map(({ id }) => id)
    },
  }
}

function byPriority(a: Match, b: Match): number {
  return b.priority - a.priority || Number(a.seq) - Number(b.seq)
}

/** SQLite's words for the type of a JSON value. A whole number may be stored in either spelling: 1e21 is a real to it. */
function jsonTypes(value: unknown): string[] {
  if (value === null) return ['null']
  if (typeof value === 'boolean') return [String(value)]
  return typeof value === 'number' ? ['integer', 'real'] : ['text']
}
