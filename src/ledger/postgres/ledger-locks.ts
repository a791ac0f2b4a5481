// The locks of a ledger: the gate, shared by groups of steps that say whose rows they concern, and exclusive for all others; the shared limits;
// the numbering of tasks, shared by all who create some, and exclusive for who numbers those of a board; the search for claimable tasks; keys of
// tasks and names of boards; rows of tasks; and the sequence of events, in the statement that numbers them, so that the order of their numbers
// is that of the commits. Each flight takes its locks in this order; those before keys and rows are taken in the first flight only. Groups that
// meet because they locked keys or rows in different flights lock all of them in the first flight of their next attempt.

import { LedgerBusy } from '../group-commit.ts'
import { applicationId, requireKnownVersion } from '../migrations/migrations.ts'
import type { PostgresClient } from './client.ts'
import { currentTimeline, type ServerHistory } from './server-history.ts'

type Statement = readonly [sql: string, parameters: unknown[]]

/**
 * Locks that only the first flight of a group takes. `limits`: it counts the open runs of all engines; `creation`: it creates tasks;
 * `numbering`: none may be created meanwhile, because tasks whose numbers are lower and not committed would be passed over for good; `claims`:
 * it searches for tasks to claim, which others would find too.
 */
export type WideLock = (typeof wideLocks)[number]
export const wideLocks = ['limits', 'numbering', 'creation', 'claims'] as const

export interface LedgerLocks {
  /** Begins a transaction behind the shared gate. One message to the server; its last rows are for `begun`. */
  readonly beginShared: string
  readonly gateAlone: Statement
  readonly wide: Readonly<Record<WideLock, Statement>>
  /** In order. A key is locked before it is looked for: it may not exist. */
  keys(keys: readonly string[]): Statement
  /** The same without waiting: a row for each, with `taken`. */
  tryKeys(keys: readonly string[]): Statement
  rows(waits: boolean): string
  /** Numbers events under the lock of the sequence. */
  readonly append: string
  appendParameters(rows: string): unknown[]
  /** What a transaction behind the exclusive gate reads first, for `begun`. */
  readonly begunAlone: string
  /**
   * What a transaction has read first.
   * @throws ErrandError LEDGER_VERSION when the ledger was migrated by a newer engine
   * @throws LedgerBusy on a server that has taken over from another one and has not been looked at
   */
  begun(rows: readonly unknown[]): Begun
}

/** A transaction, and the server on which it has begun, from one start to the next: another one may give its id anew. */
export interface Begun {
  readonly xid: string
  readonly incarnation: string | undefined
}

/** Rows are read behind their locks: a snapshot from before would be too old. */
export const beginSteps = 'begin isolation level read committed'

/**
 * Advisory locks belong to a database, which may hold several ledgers: their numbers depend on the schema.
 * @param history absent where no other server can take over
 */
export async function locksOf(
  client: PostgresClient,
  history?: Pick<ServerHistory, 'timeline' | 'incarnation' | 'onUnknownServer'>,
): Promise<LedgerLocks> {
  const { rows } = await client.query(`
    select hashtext(current_schema() || '/gate') as gate, hashtext(current_schema() || '/limits') as limits,
      hashtext(current_schema() || '/sequence') as sequence, hashtext(current_schema() || '/numbers') as numbers,
      hashtext(current_schema() || '/claims') as claims, current_schema() as schema`)
  type Locks = Record<'gate' | 'limits' | 'sequence' | 'numbers' | 'claims', number> & { schema: string }
  const [{ gate, limits, sequence, numbers, claims, schema }] = rows as [Locks]
  const begunOn = `${begun}, ${history?.timeline ? currentTimeline : `''`} as timeline`
  const take = 'select pg_advisory_xact_lock($1::int4, $2::int4)'
  const share = 'select pg_advisory_xact_lock_shared($1::int4, $2::int4)'
  return {
    beginShared: `${beginSteps}; select pg_advisory_xact_lock_shared(${applicationId}, ${gate}); ${begunOn}`,
    gateAlone: [take, [applicationId, gate]],
    wide: {
      limits: [take, [applicationId, limits]],
      creation: [share, [applicationId, numbers]],
      numbering: [take, [applicationId, numbers]],
      claims: [take, [applicationId, claims]],
    },
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
    begunAlone: begunOn,
    begun(rows) {
      const [{ xid, timeline, usable_from }] = rows as [{ xid: string; timeline: string; usable_from: number }]
      requireKnownVersion(Number(usable_from), 'in use', {})
      if (timeline !== (history?.timeline ?? '')) {
        history?.onUnknownServer()
        throw new LedgerBusy(0, new Error('another server has taken over, and what it has is not known yet'))
      }
      return { xid, incarnation: history?.incarnation }
    },
  }
}

const hashes = '(select distinct hashtext($2 || k) as h from unnest($3::text[]) as k order by h) as hashes'

const keyLocks = applicationId + 3

const begun = 'select pg_current_xact_id()::text as xid, (select usable_from from ledger_version) as usable_from'

/** The ways to read tables that are off: on an empty ledger they look best, and stay planned. */
export const scans = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'] as const
