// Tasks whose time has come: a lease, a deadline or a `notBefore`; and when the next timer is due, those of calls and runs included.

import { statementsOf } from '../columns.ts'
import type { Reads } from '../ledger.ts'
import { row, type StatementCompiler, sql } from '../statement.ts'
import { mayTimeOut, ownerOf } from './run.ts'
import { tasks } from './task-columns.ts'

export function createDueTasks(
  compiler: StatementCompiler,
): Pick<Reads['task'], 'lapsed' | 'late' | 'due' | 'nextDue'> {
  const { prepareText, dialect } = compiler
  const { select } = statementsOf(compiler, tasks)
  const selectReached = (column: 'lease_until' | 'not_before') =>
    select('overdue', (task, hole) =>
      task.where(column, 'is not', null).where(column, '<=', hole('now')).orderBy(column, 'asc').limit(hole('limit')),
    )
  const selectLate = select('overdue', (task, hole) =>
    task
      .where(sql<boolean>`deadline is not null and completed_at is null`)
      .where('deadline', '<=', hole('now'))
      .orderBy('deadline', 'asc')
      .limit(hole('limit')),
  )
  // One statement: the engine asks for it after almost every commit. Each of its parts reads one entry of a partial index.
  const selectSoonest = prepareText(
    'queue',
    (hole) => sql`select min(at) as at from (
      select min(not_before) as at from task where not_before is not null
      union all select min(lease_until) from task where lease_until is not null
      union all select min(deadline) from task where deadline is not null and completed_at is null
      union all select min(due_at) from call where due_at is not null
      union all select at from (
        select run.due_at as at from run join task on task.id = run.task_id where ${mayTimeOut(dialect, hole)}
        order by run.due_at limit 1
      ) as run_of_this_engine
    ) as soonest`,
  )
  const selectLapsed = selectReached('lease_until')
  const selectDue = selectReached('not_before')

  return {
    lapsed: (now, limit) => tasks.list(selectLapsed, { now, limit }),
    late: (now, limit) => tasks.list(selectLate, { now, limit }),
    due: (now, limit) => tasks.list(selectDue, { now, limit }),
    *nextDue(own) {
      return (yield* row<{ at: number | null }>(selectSoonest, ownerOf(own)))?.at ?? undefined
    },
  }
}
