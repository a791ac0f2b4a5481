// The instance table: the engines that have this ledger open, or had it when they died.
import type { InstanceRecord } from '../../entities/instance.ts'
import type { Tx } from '../ledger.ts'
import type { InstanceTableRow } from '../schema.ts'
import { change, prepareText, row, rows, type StatementCompiler, sql } from '../statement.ts'

const toRecord = (stored: InstanceTableRow): InstanceRecord => ({
  id: stored.id,
  pid: stored.pid,
  host: stored.host,
  startedAt: stored.started_at,
  leaseUntil: stored.lease_until,
  endedAt: stored.ended_at,
})

export function createInstanceTable(compiler: StatementCompiler): Tx['instance'] {
  const { prepare } = compiler
  const selectOpen = prepare((db) =>
    db.selectFrom('instance').selectAll().where(sql<boolean>`ended_at is null`).orderBy('started_at', 'asc'),
  )
  const selectOne = prepare((db, hole) => db.selectFrom('instance').selectAll().where('id', '=', hole('id')))
  const updateLease = prepare((db, hole) =>
    db
      .updateTable('instance')
      .set({ lease_until: hole('lease'), ended_at: null })
      .where('id', '=', hole('id')),
  )
  const insertInstance = prepare((db, hole) =>
    db.insertInto('instance').values({
      id: hole('id'),
      pid: hole('pid'),
      host: hole('host'),
      started_at: hole('started'),
      lease_until: hole('lease'),
      ended_at: null,
    }),
  )
  const updateEnded = prepare((db, hole) =>
    db
      .updateTable('instance')
      .set({ ended_at: hole('at') })
      .where('id', '=', hole('id'))
      .where('ended_at', 'is', null),
  )

  const selectNamed = prepareText(
    compiler,
    () => sql`
      select id from instance where ended_at is null
      union select instance_id as id from run where status <> 'closed'
      union select instance_id as id from board_mirror`,
  )
  const deleteEnded = prepareText(
    compiler,
    (hole) => sql`
      delete from instance where ended_at < ${hole('before')}
      and not exists (select 1 from run where run.instance_id = instance.id and run.status <> 'closed')`,
  )

  return {
    *open() {
      return (yield* rows<InstanceTableRow>(selectOpen)).map(toRecord)
    },
    *get(id) {
      const found = yield* row<InstanceTableRow>(selectOne, { id })
      return found && toRecord(found)
    },
    *named() {
      return (yield* rows<{ id: string }>(selectNamed)).map(({ id }) => id)
    },
    *renew(id, lease) {
      return (yield* change(updateLease, { id, lease })) > 0
    },
    *insert(instance) {
      yield* change(insertInstance, {
        id: instance.id,
        pid: instance.pid,
        host: instance.host,
        started: instance.startedAt,
        lease: instance.leaseUntil,
      })
    },
    *end(id, at) {
      yield* change(updateEnded, { id, at })
    },
    *forget(before) {
      return yield* change(deleteEnded, { before })
    },
  }
}
