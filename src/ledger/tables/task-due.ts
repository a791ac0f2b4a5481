// Tasks whose time has come: a lease, a deadline or a `notBefore`, and when the next one is.

import { statementsOf } from '../columns.ts'
import type { Reads } from '../ledger.ts'
import { row, type StatementCompiler, sql } from '../statement.ts'
import { tasks } from './task-row.ts'

export function createDueTasks(
  compiler: StatementCompiler,
): Pick<Reads['task'], 'lapsed' | 'late' | 'due' | 'nextDue'> {
  const { prepare } = compiler
  const { select } = statementsOf(compiler, tasks)
  const selectReached = (column: 'lease_until' | 'not_before') =>
    select((task, hole) =>
      task.where(column, 'is not', null).where(column, '<=', hole('now')).orderBy(column, 'asc').limit(hole('limit')),
    )
  const selectLate = select((task, hole) =>
    task
      .where(sql<boolean>`deadline is not null and completed_at is null`)
      .where('deadline', '<=', hole('now'))
      .orderBy('deadline', 'asc')
      .limit(hole('limit')),
  )
  const selectSoonest = (column: 'lease_until' | 'not_before') =>
    prepare((db) =>
      db
        .selectFrom('task')
        .select((query) => query.fn.min(column).as('at'))
        .where(column, 'is not', null),
    )
  const selectNextDeadline = prepare((db) =>
    db
      .selectFrom('task')
      .select((query) => query.fn.min('deadline').as('at'))
      .where(sql<boolean>`deadline is not null and completed_at is null`),
  )
  const selectLapsed = selectReached('lease_until')
  const selectDue = selectReached('not_before')
  const soonest = [selectSoonest('not_before'), selectSoonest('lease_until'), selectNextDeadline]

  return {
    lapsed: (now, limit) => tasks.list(selectLapsed, { now, limit }),
    late: (now, limit) => tasks.list(selectLate, { now, limit }),
    due: (now, limit) => tasks.list(selectDue, { now, limit }),
    *nextDue() {
      const times: number[] = []
      for (const statement of soonest) {
        const at = (yield* row<{ at: number | null }>(statement))?.at ?? null
        if (at !== null) times.push(at)
      }
      return times.length === 0 ? undefined : Math.min(...times)
    },
  }
}
