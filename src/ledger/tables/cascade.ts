// Set statements over whole families, so that a tree of a hundred thousand tasks is canceled in one commit. The events of a cascade are
// written first: the other statements use their rows as the list of its tasks. CROSS JOIN makes SQLite begin with the family: it would
// begin with all tasks, or all open ones, and a cancel of one leaf would read the whole ledger.
import type { CallRecord } from '../../entities/call.ts'
import { isTerminal, taskStatuses } from '../../entities/task.ts'
import { openCallStatuses } from '../../machines/call-machine.ts'
import { statesIn } from '../../machines/decide.ts'
import { runEdges } from '../../machines/run-machine.ts'
import { statesAccepting } from '../../machines/task-edges.ts'
import type { Cascade, Tx } from '../ledger.ts'
import {
  appendEvents,
  change,
  type Holes,
  row,
  rows,
  type Statement,
  type StatementCompiler,
  sql,
} from '../statement.ts'
import { calls } from './call.ts'
import { dependencies } from './dependency.ts'
import { withBelow } from './task-columns.ts'

const literals = (statuses: readonly string[]) => sql.join(statuses.map((status) => sql.lit(status)))
const cancelable = literals(statesAccepting('cancel'))
const endable = literals(statesIn(runEdges, 'end'))
const open = literals(openCallStatuses)
const terminal = literals(taskStatuses.filter(isTerminal))

const listed = (hole: Holes) =>
  sql`select task_id from event where seq between ${hole('first')} and ${hole('last')} and type = ${hole('type')}`

export function createCascadeTable(compiler: StatementCompiler): Tx['cascade'] {
  const statements = cascadeStatements(compiler)
  function* list(insert: Statement, values: Record<string, unknown>, type: Cascade['type']) {
    const before = (yield* row<{ last: number | null }>(statements.selectLast))?.last ?? 0
    if ((yield* appendEvents(insert, values)) === 0) return undefined
    const bounds = yield* row<{ first: number; last: number }>(statements.selectBounds, { after: before })
    return { type, first: Number(bounds?.first), last: Number(bounds?.last) } satisfies Cascade
  }

  return {
    *cancel({ root, reason, at, instanceId }) {
      const values = { root, reason, at, instance: instanceId, from: root }
      const found = yield* list(statements.insertCanceled, values, 'task.canceled')
      if (found === undefined) return undefined
      yield* change(statements.updateCanceled, { ...found, reason, at })
      yield* change(statements.endRuns, { ...found, at })
      return found
    },
    *hide({ root, at, instanceId }) {
      const found = yield* list(statements.insertDeleted, { root, at, instance: instanceId }, 'task.deleted')
      if (found !== undefined) yield* change(statements.updateDeleted, { ...found, at })
      return found
    },
    *openEntries(of) {
      const found = yield* rows<CallRecord & { run_open: number }>(statements.selectOpenEntries, of)
      return found.map(({ run_open, ...call }) => ({ call: calls.read(call), runOpen: run_open === 1 }))
    },
    edgesOut: (of) => dependencies.list(statements.selectEdgesOut, of),
  }
}

function cascadeStatements(compiler: StatementCompiler) {
  const { prepareText, dialect } = compiler
  const object = sql.raw(dialect.kind === 'postgres' ? 'json_build_object' : 'json_object')
  return {
    insertCanceled: prepareText(
      { inserts: 'event' },
      (hole) => sql`insert into event (type, task_id, at, instance_id, data)
        ${withBelow(hole('root'))}
        select 'task.canceled', task.id, ${hole('at')}, ${hole('instance')},
          cast(${object}('name', task.name, 'status', 'canceled', 'from', task.status, 'run', task.run,
            'reason', cast(${hole('reason')} as text), 'cascadedFrom', cast(${hole('from')} as text)) as text)
        from below cross join task
        where task.id = below.id and task.status in (${cancelable})
        order by task.seq`,
    ),
    // A snapshot is text that errand wrote, with its state at a known position (machines/task-snapshot); if it is damaged, the row is used.
    updateCanceled: prepareText(
      { changes: 'task' },
      (hole) => sql`update task set
          status = 'canceled', status_reason = ${hole('reason')}, ready = 0, claimable = 0, not_before = null,
          lease_until = null, stuck_by = null, completed_at = ${hole('at')}, updated_at = ${hole('at')}, version = version + 1,
          snapshot = replace(snapshot, '"value":"' || status || '"', '"value":"canceled"')
        where id in (${listed(hole)})`,
    ),
    endRuns: prepareText(
      { changes: 'run' },
      (hole) => sql`update run set status = 'ending', outcome = 'canceled', ended_at = ${hole('at')}
        where status in (${endable}) and task_id in (${listed(hole)})`,
    ),
    selectOpenEntries: prepareText(
      (
        hole,
      ) => sql`select ${calls.columns()}, task.run_open from (${listed(hole)}) as canceled cross join call cross join task
        where call.task_id = canceled.task_id and call.status in (${open}) and task.id = call.task_id
        order by call.seq`,
    ),
    // Failed tasks too: a retry must not find them blocked by a deleted task.
    selectEdgesOut: prepareText(
      (hole) => sql`select ${dependencies.columns('edge')} from dependency as edge join task on task.id = edge.task_id
        where edge.satisfied_at is null and edge.blocker_id in (${listed(hole)})
          and task.status not in (${terminal}) and task.deleted_at is null`,
    ),
    insertDeleted: prepareText(
      { inserts: 'event' },
      (hole) => sql`insert into event (type, task_id, at, instance_id, data)
        ${withBelow(hole('root'))}
        select 'task.deleted', task.id, ${hole('at')}, ${hole('instance')},
          cast(${object}('name', task.name, 'status', task.status, 'run', task.run,
            'cascadedFrom', cast(${hole('root')} as text)) as text)
        from below cross join task
        where task.id = below.id and task.deleted_at is null
        order by task.seq`,
    ),
    updateDeleted: prepareText(
      { changes: 'task' },
      (hole) => sql`update task set
          deleted_at = ${hole('at')}, ready = 0, claimable = 0, updated_at = ${hole('at')}, version = version + 1
        where id in (${listed(hole)})`,
    ),
    selectBounds: prepareText(
      (hole) => sql`select min(seq) as first, max(seq) as last from event where seq > ${hole('after')}`,
    ),
    selectLast: prepareText(() => sql`select max(seq) as last from event`),
  }
}
