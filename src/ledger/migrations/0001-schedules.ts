// Schedules: a row for each, with its place in time.
import { type Compilable, sql } from 'kysely'
import { checked, required, type Spelling } from './migration.ts'

export function scheduleTables({ integer, orderedText, table, index }: Spelling): Compilable[] {
  return [
    table('schedule')
      .addColumn('name', orderedText, (column) => column.notNull().primaryKey())
      .addColumn('cron', 'text')
      .addColumn('every_ms', integer)
      .addColumn('timezone', 'text', required)
      .addColumn('overlap', 'text', checked(`overlap in ('skip', 'queue', 'replace', 'allow')`))
      .addColumn('catch_up', 'text', checked(`catch_up in ('one', 'none')`))
      .addColumn('jitter_ms', integer, required)
      .addColumn('drafts', 'text', required)
      .addColumn('paused', integer, checked('paused in (0, 1)'))
      .addColumn('next_tick', integer)
      .addColumn('next_at', integer)
      .addColumn('queued_tick', integer)
      .addColumn('task_id', 'text')
      .addColumn('last', 'text')
      .addColumn('created_at', integer, required)
      .addColumn('updated_at', integer, required)
      .addCheckConstraint('schedule_has_times', sql`(cron is null) <> (every_ms is null)`),
    index('schedule_due', 'schedule', 'next_at', 'next_at is not null'),
    index('schedule_queued', 'schedule', 'queued_tick', 'queued_tick is not null'),
  ]
}
