// Starts and ends of tasks over time, from an index that has only these events.

import type { Op, Tx } from '../ledger.ts'
import { rows, type StatementCompiler, sql } from '../statement.ts'

/** The texts of the index, because the planner uses it only for these. */
const isCounted = {
  sqlite: sql`(type = 'task.started' or type = 'task.completed' or type = 'task.failed' or type = 'task.canceled') and case when json_valid(data) then coalesce(json_extract(data, '$.system'), json_extract(data, '$.willRetry'), 0) end = 0`,
  postgres: sql`(type = 'task.started' or type = 'task.completed' or type = 'task.failed' or type = 'task.canceled') and coalesce(data::jsonb ->> 'system', data::jsonb ->> 'willRetry', 'false') = 'false'`,
}

type Counted = { type: string; bucket: number; events: number }

export function createEventCounts({ prepareText, dialect }: StatementCompiler): Pick<Tx['event'], 'counts' | 'waits'> {
  const condition = isCounted[dialect.kind]
  const countByTime = prepareText(
    (hole) => sql`
      select type, cast((at - ${hole('from')}) / ${hole('width')} as integer) as bucket, count(*) as events from event
      where ${condition} and at >= ${hole('from')} and at < ${hole('to')} group by 1, 2`,
  )
  const selectWaits = prepareText(
    (hole) => sql`
      select at - (select before.at from event as before where before.task_id = event.task_id and before.seq < event.seq
        order by before.seq desc limit 1) as waited
      from event where ${condition} and type = 'task.started' and at >= ${hole('from')} and at < ${hole('to')}
      order by at desc limit ${hole('limit')}`,
  )
  return {
    *counts(from, to, width): Op<Counted[]> {
      const found = yield* rows<Counted>(countByTime, { from, to, width })
      return found.map(({ type, bucket, events }) => ({ type, bucket: Number(bucket), events: Number(events) }))
    },
    *waits(from, to, limit): Op<number[]> {
      const found = yield* rows<{ waited: number | null }>(selectWaits, { from, to, limit })
      return found.flatMap(({ waited }) => (waited === null ? [] : [Number(waited)]))
    },
  }
}
