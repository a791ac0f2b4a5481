// Whether anything of some executors may need an engine: work that is ready or runs, and timers.
import type { Trees } from '../../entities/task-trees.ts'
import type { Op } from '../ledger.ts'
import { type Dialect, queryRows, type RawSql, sql } from '../statement.ts'
import { idsInTrees } from './task-columns.ts'
import { modelIsNamed, treeHoles } from './task-ready.ts'

interface Wanted {
  /** Undefined: tasks of all trees. */
  trees: Trees | undefined
  withSystem: boolean
}

/**
 * One probe for each reason to stay awake. Each uses a partial index, so that settled tasks cost nothing. CROSS JOIN forces the order of
 * the tables in SQLite; for a single executor it would begin with all tasks.
 */
function awakeProbes(
  dialect: Dialect,
  executors: readonly string[],
  named: readonly string[],
  { trees, withSystem }: Wanted,
): RawSql[] {
  const isOne = sql`executor in (${sql.join([...executors, ...named])})`
  // Apart from the executors: an OR of both would read the ready tasks of all.
  const isNamed =
    named.length === 0
      ? sql``
      : executors.length === 0
        ? sql`and ${modelIsNamed(dialect)}`
        : sql`and (executor in (${sql.join(executors)}) or ${modelIsNamed(dialect)})`
  const { rootKeys, rootKeyPrefixes } = treeHoles(trees ?? { rootKeys: [], rootKeyPrefixes: [] })
  const inTrees = trees === undefined ? sql`` : sql`and task.id in ${idsInTrees(dialect, rootKeys, rootKeyPrefixes)}`
  const others = withSystem ? sql`` : sql`and system = 0`
  const ours = sql`${isOne} ${isNamed} and deleted_at is null ${others} ${inTrees}`
  return [
    sql`select 1 from task where ready = 1 and ${ours} limit 1`,
    sql`select 1 from run cross join task where task.id = run.task_id and run.status <> 'closed' and ${ours} limit 1`,
    sql`select 1 from task where not_before is not null and held = 0 and open_blockers = 0 and ${ours} limit 1`,
    sql`select 1 from call cross join task where task.id = call.task_id and call.due_at is not null and ${ours} limit 1`,
  ]
}

export function* anyAwake(
  dialect: Dialect,
  executors: readonly string[],
  named: readonly string[],
  wanted: Wanted,
): Op<boolean> {
  if (executors.length + named.length === 0) return false
  for (const probe of awakeProbes(dialect, executors, named, wanted))
    if ((yield* queryRows(probe.compile(dialect.db))).length > 0) return true
  return false
}
