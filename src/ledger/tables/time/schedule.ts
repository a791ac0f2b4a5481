// The schedule table. Its statements concern any task: a tick creates one, so its step runs alone on a server.
import { all, type Tx } from '../../ledger.ts'
import { change, column, type StatementCompiler, sql, write } from '../../statement.ts'
import { defineTable, flag, json, jsonOrNull, plain, statementsOf } from '../../table-mapping.ts'

const schedules = defineTable('schedule', {
  name: plain,
  cron: plain,
  everyMs: plain,
  timezone: plain,
  overlap: plain,
  catchUp: plain,
  jitterMs: plain,
  drafts: json,
  paused: flag,
  nextTick: plain,
  nextAt: plain,
  queuedTick: plain,
  taskId: plain,
  last: jsonOrNull,
  createdAt: plain,
  updatedAt: plain,
})

/** Schedules whose queued tick waits for nothing any more: the latest task has ended or is no longer there. */
export const waitedTicks = sql`schedule left join task on task.id = schedule.task_id
  where schedule.queued_tick is not null and (task.id is null or task.completed_at is not null)`

export function createScheduleTable(compiler: StatementCompiler): Tx['schedule'] {
  const { prepare, prepareText } = compiler
  const { select, finds, upsert } = statementsOf(compiler, schedules)
  const selectPage = select((schedule, hole) =>
    schedule.where('name', '>', hole('after')).orderBy('name', 'asc').limit(hole('limit')),
  )
  const selectDue = prepare((db, hole) =>
    db
      .selectFrom('schedule')
      .select('name')
      .where('next_at', 'is not', null)
      .where('next_at', '<=', hole('now'))
      .orderBy('next_at', 'asc')
      .limit(hole('limit')),
  )
  const selectWaited = prepareText((hole) => sql`select schedule.name from ${waitedTicks} limit ${hole('limit')}`)
  const save = upsert(
    ['name'],
    [
      ...(['cron', 'everyMs', 'timezone', 'overlap', 'catchUp', 'jitterMs', 'drafts', 'paused'] as const),
      ...(['nextTick', 'nextAt', 'queuedTick', 'taskId', 'last', 'updatedAt'] as const),
    ],
  )
  const deleteOne = prepare((db, hole) => db.deleteFrom('schedule').where('name', '=', hole('name')))

  return {
    get: finds('name'),
    list: (after, limit) => schedules.list(selectPage, { after, limit }),
    *due(now, limit) {
      const found = yield* all([column<string>(selectDue, { now, limit }), column<string>(selectWaited, { limit })])
      return [...new Set(found.flat())]
    },
    save: (schedule) => write(save, schedule),
    *remove(name) {
      return (yield* change(deleteOne, { name })) > 0
    },
  }
}
