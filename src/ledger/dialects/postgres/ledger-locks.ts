// The locks of a ledger: the gate, shared by groups of steps that say whose rows they concern, and exclusive for all others; the shared limits;
// keys of tasks; rows of tasks; and the sequence of events, in the statement that numbers them, so that the order of their numbers is that of the
// commits. Each flight takes its locks in this order. Groups that meet because they took them in different flights take all of them in the first
// flight of their next attempt.
import { applicationId, ledgerVersion, requireKnownVersion } from '../../migrations/migrations.ts'
import type { PostgresClient } from './client.ts'

type Statement = readonly [sql: string, parameters: unknown[]]

export interface LedgerLocks {
  /** Begins a transaction behind the shared gate. One message to the server; its last rows are for `xidOf`. */
  readonly beginShared: string
  readonly gateAlone: Statement
  readonly limits: Statement
  /** In order. A key is locked before it is looked for: it may not exist. */
  keys(keys: readonly string[]): Statement
  /** The same without waiting: a row for each, with `taken`. */
  tryKeys(keys: readonly string[]): Statement
  rows(waits: boolean): string
  /** Numbers events under the lock of the sequence. */
  readonly append: string
  appendParameters(rows: string): unknown[]
  /** What a transaction behind the exclusive gate reads first, for `xidOf`. It allows all ways to read whole tables. */
  readonly begunAlone: string
}

/** The id of a transaction. @throws ErrandError LEDGER_NEWER when the ledger was migrated by a newer engine */
export function xidOf(rows: readonly unknown[]): string {
  const [{ xid, version }] = rows as [{ xid: string; version: number }]
  if (version !== ledgerVersion) requireKnownVersion(Number(version), 'in use', {})
  return xid
}

/** Advisory locks belong to a database, which may hold several ledgers: their numbers depend on the schema. */
export async function locksOf(client: PostgresClient): Promise<LedgerLocks> {
  const { rows } = await client.query(`
    select hashtext(current_schema() || '/gate') as gate, hashtext(current_schema() || '/limits') as limits,
      hashtext(current_schema() || '/sequence') as sequence, current_schema() as schema`)
  const [{ gate, limits, sequence, schema }] = rows as [
    { gate: number; limits: number; sequence: number; schema: string },
  ]
  const take = 'select pg_advisory_xact_lock($1::int4, $2::int4)'
  return {
    beginShared: `begin; select pg_advisory_xact_lock_shared(${applicationId}, ${gate}); ${begun}`,
    gateAlone: [take, [applicationId, gate]],
    limits: [take, [applicationId, limits]],
    keys: (keys) => [`select pg_advisory_xact_lock($1::int4, h) from ${hashes}`, [keyLocks, `${schema}/`, keys]],
    tryKeys: (keys) => [
      `select pg_try_advisory_xact_lock($1::int4, h) as taken from ${hashes}`,
      [keyLocks, `${schema}/`, keys],
    ],
    rows: (waits) =>
      `select 1 from task where id = any($1::text[]) order by id for no key update${waits ? '' : ' nowait'}`,
    append: `with numbering as materialized (select pg_advisory_xact_lock($2::int4, $3::int4))
      insert into event (type, task_id, at, instance_id, data)
      select e.type, e.task_id, e.at, e.instance_id, e.data
      from numbering, json_populate_recordset(null::event, $1::json) as e returning seq`,
    appendParameters: (events) => [events, applicationId, sequence],
    begunAlone: `${begun}, ${scans.map((scan) => `set_config('${scan}', 'on', true)`).join(', ')}`,
  }
}

const hashes = '(select distinct hashtext($2 || k) as h from unnest($3::text[]) as k order by h) as hashes'

const keyLocks = applicationId + 3

const begun = 'select pg_current_xact_id()::text as xid, (select version from ledger_version) as version'

/** The ways to read tables that are off for steps that read rows by their keys: on an empty ledger they look best, and stay planned. */
export const scans = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'] as const
