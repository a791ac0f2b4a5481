// The id by which a ledger file is known to the user whose errand made it (ledger/trust-record.ts). It is a setting of the ledger, so it
// survives copies and a vacuum.
import type { Environment } from '../home.ts'
import {
  areRecordsKept,
  isFoundBySearch,
  knownRecord,
  logNow,
  logToWrite,
  newTrustId,
  placesNow,
  saveRecord,
} from '../trust-record.ts'
import { type Connection, connect } from './connection.ts'

const busyTimeoutMs = 2_000
const setting = 'trustId'

/**
 * The id in a file whose log and journal were judged before: opening it recovers them. Undefined for none, `unreadable` for a damaged file,
 * `empty` for a ledger that is being created. The schema of a foreign file could run code of its own for a view, so only a table is read.
 */
export function trustIdIn(path: string): string | undefined {
  try {
    const connection = connect(path, { busyTimeoutMs, mustExist: true })
    try {
      connection.pragma('query_only = on')
      connection.pragma('trusted_schema = off')
      const tables = connection.run({ sql: 'select 1 from sqlite_schema limit 1', parameters: [], want: 'rows' })
      return (tables as unknown[]).length === 0 ? 'empty' : storedId(connection)
    } finally {
      connection.close()
    }
  } catch {
    return 'unreadable'
  }
}

function storedId(connection: Connection): string | undefined {
  const isTable = `select 1 from sqlite_schema where name = 'setting' and type = 'table'`
  if ((connection.run({ sql: isTable, parameters: [], want: 'rows' }) as unknown[]).length === 0) return undefined
  const sql = 'select value from setting where name = ?'
  const [row] = connection.run({ sql, parameters: [setting], want: 'rows' }) as Array<{ value: string }>
  // An id that is no JSON was not written by errand, and is no record's.
  return row && (row.value.startsWith('"') ? row.value.slice(1, -1) : row.value)
}

/** Inside of a transaction of its caller. */
export function storeTrustId(connection: Connection, id: string): void {
  const sql = 'insert into setting (name, value) values (?, ?) on conflict (name) do update set value = excluded.value'
  connection.run({ sql, parameters: [setting, JSON.stringify(id)], want: 'changes' })
}

/** Records the log of a ledger of this user before anything is written to it: a process that is killed leaves it. */
export function noteLog(connection: Connection, path: string, env: Environment = process.env): void {
  if (!isFoundBySearch(path)) return
  const record = knownRecord(path, env)
  // A read, with which the log is made.
  const isNew = Number(connection.pragma('user_version')) === 0
  const log = logToWrite(path)
  if (record === undefined || record.log === log) return
  if (!isNew && (placesNow(path).join() !== record.places.join() || storedId(connection) !== record.id)) return
  saveRecord(path, { ...record, log }, env)
}

/** Gives the ledger of a connection an id of its own, and records it: this user says that they trust it. False if that cannot be recorded. */
export function claim(connection: Connection, path: string, env: Environment): boolean {
  if (!areRecordsKept(env)) return false
  const id = newTrustId()
  connection.execute('begin immediate')
  storeTrustId(connection, id)
  connection.execute('commit')
  return saveRecord(path, { id, isConfirmed: true, log: logNow(path) }, env)
}
