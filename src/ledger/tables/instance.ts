// The instance table: the engines that have this ledger open, or had it open when they died.

import type { Tx } from '../ledger.ts'
import { change, column, type StatementCompiler, sql, write } from '../statement.ts'
import { defineTable, plain, statementsOf } from '../table-mapping.ts'

const instances = defineTable('instance', {
  id: plain,
  pid: plain,
  host: plain,
  startedAt: plain,
  leaseUntil: plain,
  endedAt: plain,
})

export function createInstanceTable(compiler: StatementCompiler): Tx['instance'] {
  const { prepare, prepareText } = compiler
  const { select, finds, inserts, upsert } = statementsOf(compiler, instances)
  const selectOpen = select((instance) => instance.where(sql<boolean>`ended_at is null`).orderBy('started_at', 'asc'))
  const selectLatest = select((instance, hole) => instance.orderBy('started_at', 'desc').limit(hole('limit')))
  const upsertLease = upsert(['id'], ['leaseUntil', 'endedAt'], 'unshared')
  const updateEnded = prepare((db, hole) =>
    db
      .updateTable('instance')
      .set({ ended_at: hole('at') })
      .where('id', '=', hole('id'))
      .where('ended_at', 'is', null),
  )

  const selectNamed = prepareText(
    () => sql`
      select id from instance where ended_at is null
      union select instance_id as id from run where status <> 'closed'
      union select instance_id as id from board_mirror`,
  )
  const deleteEnded = prepareText(
    { changes: 'instance' },
    (hole) => sql`
      delete from instance where ended_at < ${hole('before')}
      and not exists (select 1 from run where run.instance_id = instance.id and run.status <> 'closed')`,
  )

  return {
    open: () => instances.list(selectOpen),
    latest: (limit) => instances.list(selectLatest, { limit }),
    get: finds('id'),
    named: () => column(selectNamed),
    renew: (instance) => write(upsertLease, instance),
    insert: inserts(),
    end: (id, at) => write(updateEnded, { id, at }),
    forget: (before) => change(deleteEnded, { before }),
  }
}
