// Ready tasks, as admission reads them: the heads of each queue, in all trees or in some.
import type { CompiledQuery } from 'kysely'
import type { TaskRecord } from '../../entities/task.ts'
import { isRootOf, type Trees } from '../../entities/task-trees.ts'
import { all, type Op, type Reads, type ReadyFilter } from '../ledger.ts'
import {
  column,
  type Dialect,
  type Holes,
  numberOf,
  row,
  rows,
  type Statement,
  type StatementCompiler,
  sql,
} from '../statement.ts'
import { ofTask } from '../table-mapping.ts'
import { holdsSlot } from './run.ts'
import { liesIn } from './task-ancestors.ts'
import { countQueuedBehindRuns, idsInTrees, tasks } from './task-columns.ts'

/** A statement on all ready tasks, and one on those in some trees, which may be far behind the others. */
interface ReadyStatement {
  all: Statement
  inTrees: Statement
}

export function treeHoles({ rootKeys, rootKeyPrefixes }: Trees) {
  return { rootKeys: JSON.stringify(rootKeys), rootKeyPrefixes: JSON.stringify(rootKeyPrefixes) }
}

export function modelIsNamed({ kind }: Dialect) {
  return kind === 'postgres'
    ? sql<boolean>`(policy::jsonb ->> 'model') is not null`
    : sql<boolean>`case when json_valid(policy) then json_extract(policy, '$.model') end is not null`
}

type ReadyReads = Pick<
  Reads['task'],
  | 'ready'
  | 'readyKinds'
  | 'suspects'
  | 'anyReady'
  | 'anySystemReady'
  | 'lanes'
  | 'openInLane'
  | 'countQueued'
  | 'queues'
>

export function createReadyTasks(compiler: StatementCompiler, selectById: Statement): ReadyReads {
  const statements = readyStatements(compiler)
  const { selectReady, selectSuspects, countInLane } = statements
  // In the order of the partial index of each kind, so that its first entry is read.
  const selectKinds = compiler.prepareText(
    'queue',
    () => sql`select exists (select 1 from task where ready = 1) as found, (
        select 1 from task where ready = 1 and lane <> '' order by executor asc, priority desc, seq asc limit 1
      ) as in_lanes, (
        select 1 from task where ready = 1 and crashes > 0 order by executor asc, priority desc, seq asc limit 1
      ) as suspects, exists (select 1 from run where status = 'queued') as queued_runs, (
        select 1 from task where ready = 1 and system = 1 order by executor asc, priority desc, seq asc limit 1
      ) as system`,
  )
  const { countReady, countSystem, countBehindRuns, countClaimable, selectQueues, selectSystem } = queueCounts(compiler)
  const queues = new ReadyQueues(statements, selectById)
  return {
    ready: (executor, lane, limit, crashes = Number.MAX_SAFE_INTEGER, only = {}) =>
      queues.heads(selectReady, { executor, lane, limit, crashes }, only),
    suspects: (executor, limit, crashes, only = {}) => queues.heads(selectSuspects, { executor, limit, crashes }, only),
    *readyKinds() {
      const kinds = (yield* row(selectKinds)) as Record<
        'found' | 'in_lanes' | 'suspects' | 'queued_runs' | 'system',
        unknown
      >
      return {
        any: Boolean(kinds.found),
        inLanes: Boolean(kinds.in_lanes),
        suspects: Boolean(kinds.suspects),
        queuedRuns: Boolean(kinds.queued_runs),
        system: Boolean(kinds.system),
      }
    },
    *anyReady(executors, named = [], trees) {
      const asked = [
        ...executors.map((executor) => ({ executor, named: 0 })),
        ...named.map((executor) => ({ executor, named: 1 })),
      ]
      const first = yield* all(asked.map((holes) => queues.firstReady(holes)))
      for (const [at, holes] of asked.entries()) {
        if (yield* queues.isAnyReady(holes, first[at] as Array<{ id: string }>, trees)) return true
      }
      return false
    },
    *anySystemReady() {
      return (yield* row(selectSystem)) !== undefined
    },
    lanes: (executor, max, only = {}) => queues.lanes(executor, max, only),
    openInLane: (lane) => numberOf(countInLane, { lane }),
    *countQueued() {
      const [ready, system, behindRuns, claimable] = yield* all([
        numberOf(countReady),
        numberOf(countSystem),
        numberOf(countBehindRuns),
        numberOf(countClaimable),
      ])
      return { ready: ready - system + behindRuns, claimable }
    },
    *queues() {
      const counted = yield* rows<{ executor: string; ready: number; oldestAt: number }>(selectQueues)
      return counted.map(({ executor, ready, oldestAt }) => ({
        executor,
        ready: Number(ready),
        oldestAt: Number(oldestAt),
      }))
    },
  }
}

class ReadyQueues {
  readonly #statements: ReturnType<typeof readyStatements>
  readonly #selectById: Statement

  constructor(statements: ReturnType<typeof readyStatements>, selectById: Statement) {
    this.#statements = statements
    this.#selectById = selectById
  }

  *lanes(executor: string, max: number | undefined, { named = false, trees }: ReadyFilter): Op<string[]> {
    const lanes = yield* this.#lanesOf(executor, max, Number(named))
    // A lane has the id of the parent of its tasks.
    const heads = lanes.map((id) => ({ id }))
    const own = yield* this.#headsIn(trees, heads, max ?? Infinity)
    if (own !== undefined) return own.map(({ id }) => id)
    const holes = { executor, named: Number(named), limit: Number.MAX_SAFE_INTEGER }
    const inTrees = yield* column<string>(this.#statements.selectInLanes.inTrees, {
      ...holes,
      ...treeHoles(trees as Trees),
    })
    return [...new Set(inTrees)].slice(0, max)
  }

  /** The first ready task of any tree; the list is empty if there is none. */
  firstReady(holes: { executor: string; named: number }): Op<Array<{ id: string }>> {
    return rows<{ id: string }>(this.#statements.selectAnyReady.all, holes)
  }

  /** Whether that task, or one behind it, is in the trees. */
  *isAnyReady(
    holes: { executor: string; named: number },
    first: Array<{ id: string }>,
    trees: Trees | undefined,
  ): Op<boolean> {
    const own = yield* this.#headsIn(trees, first, 1)
    return (
      (own ?? (yield* rows(this.#statements.selectAnyReady.inTrees, { ...holes, ...treeHoles(trees as Trees) })))
        .length > 0
    )
  }
  *heads(
    statement: ReadyStatement,
    holes: { executor: string; lane?: string; limit: number; crashes: number },
    only: ReadyFilter,
  ): Op<TaskRecord[]> {
    const { named = false, trees } = only
    const filled = { ...holes, named: Number(named) }
    const own = yield* this.#headsIn(trees, yield* tasks.list(statement.all, filled), holes.limit)
    return own ?? (yield* tasks.list(statement.inTrees, { ...filled, ...treeHoles(trees as Trees) }))
  }
  /**
   * Returns those of the first `limit` ready tasks that are in the trees. Undefined if further ones may follow behind tasks of other trees:
   * then the trees are read instead, because there may be any number of other tasks. If only the trees have ready tasks, a large tree costs
   * no more.
   */
  *#headsIn<T extends { id: string }>(trees: Trees | undefined, heads: T[], limit: number): Op<T[] | undefined> {
    if (trees === undefined) return heads
    const known = new Map<string, boolean>()
    const own: T[] = []
    for (const head of heads) {
      if (yield* liesIn(this.#selectById, head.id, (task) => isRootOf(trees, task), known)) own.push(head)
    }
    return own.length === heads.length || heads.length < limit ? own : undefined
  }
  *#lanesOf(executor: string, max: number | undefined, named: number): Op<string[]> {
    const holes = { executor, named }
    if (max !== undefined) {
      // The lanes of the best tasks come first. Each lane is looked up only if a few lanes have all of these tasks.
      const limit = max * 4
      const best = yield* column<string>(this.#statements.selectInLanes.all, { limit, ...holes })
      const lanes = [...new Set(best)]
      if (lanes.length >= max || best.length < limit) return lanes.slice(0, max)
    }
    const found: Array<{ lane: string; priority: number; seq: number }> = []
    for (let after = ''; ; after = (found.at(-1) as { lane: string }).lane) {
      const next = yield* row<{ lane: string; priority: number; seq: number }>(this.#statements.selectNextLane, {
        after,
        ...holes,
      })
      if (next === undefined) break
      found.push(next)
    }
    found.sort((a, b) => b.priority - a.priority || Number(a.seq) - Number(b.seq))
    return found.slice(0, max).map((each) => each.lane)
  }
}

function readyStatements({ prepare, dialect }: StatementCompiler) {
  const namesModel = modelIsNamed(dialect)
  /** 1 in the hole: only tasks that name a model. */
  const ifNamed = (named: unknown) => sql<boolean>`(${named} = 0 or ${namesModel})`
  // `ready = 1` is part of the text and not bound, because the planner uses the partial index only then.
  const isReady = sql<boolean>`ready = 1`
  // `+` prevents the use of that index, which contains tasks of other trees; the ids are those in the trees alone.
  const isReadyInTrees = (hole: Holes) =>
    sql<boolean>`+ready = 1 and id in ${idsInTrees(dialect, hole('rootKeys'), hole('rootKeyPrefixes'))}`
  const readyOf = (db: typeof dialect.db, hole: Holes, condition = isReady) =>
    db
      .selectFrom('task')
      .where(condition)
      .where('executor', '=', hole('executor'))
      .where(ifNamed(hole('named')))
  const readyOrInTrees = (
    concerns: 'heads' | 'queue',
    narrowed: (ready: ReturnType<typeof readyOf>, hole: Holes) => { compile(): CompiledQuery },
  ): ReadyStatement => ({
    all: prepare(concerns, (db, hole) => narrowed(readyOf(db, hole), hole)),
    inTrees: prepare((db, hole) => narrowed(readyOf(db, hole, isReadyInTrees(hole)), hole)),
  })
  const selectReady = readyOrInTrees('heads', (ready, hole) =>
    ready
      .select(tasks.columns() as never)
      .where('lane', '=', hole('lane'))
      .where('crashes', '<', hole('crashes'))
      .orderBy('priority', 'desc')
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  // The few tasks that crashed their engine have a partial index of their own.
  const selectSuspects = readyOrInTrees('heads', (ready, hole) =>
    ready
      .select(tasks.columns() as never)
      .where(sql<boolean>`crashes > 0`)
      .where('crashes', '>=', hole('crashes'))
      .orderBy('priority', 'desc')
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  const selectAnyReady = readyOrInTrees('queue', (ready) => ready.select('id').limit(1))
  const selectInLanes = readyOrInTrees('queue', (ready, hole) =>
    ready
      .select('lane')
      .where(sql<boolean>`lane <> ''`)
      .orderBy('priority', 'desc')
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  // Finds the head of the next lane: as many look-ups as there are lanes, however many tasks wait in them.
  const selectNextLane = prepare('queue', (db, hole) =>
    readyOf(db, hole)
      .select(['lane', 'priority', 'seq'])
      .where('lane', '>', hole('after'))
      .orderBy(sql`lane asc, priority desc, seq asc`)
      .limit(1),
  )
  const countInLane = prepare((db, hole) =>
    db
      .selectFrom('task')
      .innerJoin('run', (join) => join.onRef('run.task_id', '=', 'task.id').onRef('run.number', '=', 'task.run'))
      .select((query) => query.fn.countAll<number>().as('open'))
      .where('lane', '=', hole('lane', ofTask))
      .where(sql<boolean>`run_open = 1 and lane <> ''`)
      .where(holdsSlot),
  )
  return { selectReady, selectSuspects, selectAnyReady, selectInLanes, selectNextLane, countInLane }
}

function queueCounts(compiler: StatementCompiler) {
  const { prepare } = compiler
  const countOf = (column: 'ready' | 'claimable') =>
    prepare((db) =>
      db
        .selectFrom('task')
        .select((query) => query.fn.countAll<number>().as('tasks'))
        .where(sql<boolean>`${sql.ref(column)} = 1`),
    )
  const countReady = countOf('ready')
  const countSystem = prepare((db) =>
    db
      .selectFrom('task')
      .select((query) => query.fn.countAll<number>().as('tasks'))
      .where(sql<boolean>`ready = 1 and system = 1`),
  )
  const countBehindRuns = countQueuedBehindRuns(compiler)
  const countClaimable = countOf('claimable')
  const selectQueues = prepare((db) =>
    db
      .selectFrom('task')
      .select(({ fn, ref }) => [
        'executor',
        fn.countAll<number>().as('ready'),
        fn.min<number>(ref('updated_at')).as('oldestAt'),
      ])
      .where(sql<boolean>`ready = 1`)
      .groupBy('executor')
      .orderBy('executor'),
  )
  const selectSystem = compiler.prepareText(
    'queue',
    () => sql`select 1 from task where ready = 1 and system = 1 order by executor asc, priority desc, seq asc limit 1`,
  )
  return { countReady, countSystem, countBehindRuns, countClaimable, selectQueues, selectSystem }
}
