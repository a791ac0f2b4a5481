// The setting table: settings of the ledger, for every engine that opens it.
import { fromJson } from '../../core/json.ts'
import type { Tx } from '../ledger.ts'
import { row, type StatementCompiler, write } from '../statement.ts'

export function createSettingTable(compiler: StatementCompiler): Tx['setting'] {
  const { prepare } = compiler
  const selectOne = prepare('unshared', (db, hole) =>
    db.selectFrom('setting').selectAll().where('name', '=', hole('name')),
  )
  const upsert = prepare((db, hole) =>
    db
      .insertInto('setting')
      .values({ name: hole('name'), value: hole('value') })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: (query) => query.ref('excluded.value') })),
  )
  return {
    *get(name) {
      const found = yield* row<{ value: string }>(selectOne, { name })
      return found === undefined ? undefined : fromJson(found.value)
    },
    put: (name, value) => write(upsert, { name, value: JSON.stringify(value) }),
  }
}
