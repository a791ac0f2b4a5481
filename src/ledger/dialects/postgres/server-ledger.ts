// Opens the ledger on a PostgreSQL server: three connections, for steps, for reads, and to watch other engines.
import { type Clock, systemClock } from '../../../core/clock.ts'
import { ErrandError } from '../../../core/errors.ts'
import { createRandomIds } from '../../../core/ids.ts'
import type { Ledger, Tx } from '../../ledger.ts'
import { tablesOf } from '../../tables/tables.ts'
import type { PostgresClient } from './client.ts'
import { wasCommitted } from './commit-outcome.ts'
import { postgresDialect } from './dialect.ts'
import { locksOf, scans } from './ledger-locks.ts'
import { migrate } from './migrate.ts'
import { OneByOne } from './one-by-one.ts'
import { PostgresLedger } from './postgres-ledger.ts'
import { ServerConnection } from './server-connection.ts'
import { ServerHistory } from './server-history.ts'
import { parseServerUrl } from './server-url.ts'
import { ServerWatch } from './server-watch.ts'
import { Session } from './session.ts'
import { SnapshotReads } from './snapshot-reads.ts'
import { Writer } from './writer.ts'

/** The oldest version of PostgreSQL that is tested, as the server numbers it. */
const oldestServer = 150_000

const waits = { lock_timeout: '5s', idle_in_transaction_session_timeout: '2s' }

/**
 * Opens the ledger at a URL like `postgres://user@host/database?schema=errand`, and creates or migrates it.
 * @throws ErrandError INVALID_INPUT, LEDGER_FOREIGN, LEDGER_NEWER, LEDGER_UNAVAILABLE, NOT_OFFERED
 */
export async function openServerLedger(url: string, clock: Clock = systemClock): Promise<Ledger> {
  const target = parseServerUrl(url)
  const connection = (title: string, settings: Record<string, string>) =>
    new ServerConnection(target, { title: `errand ${title}`, settings })
  const writer = connection('writer', {
    ...waits,
    ...Object.fromEntries(scans.map((scan) => [scan, 'off'])),
    statement_timeout: '60s',
    synchronous_commit: 'on',
    // Rows are read behind their locks: a snapshot from before would be too old.
    default_transaction_isolation: 'read committed',
    default_transaction_read_only: 'off',
  })
  const reader = connection('reader', { statement_timeout: '60s', idle_in_transaction_session_timeout: '10s' })
  const watch = connection('watch', { statement_timeout: '10s' })
  const history = new ServerHistory(target.name)
  let ledger: PostgresLedger | undefined
  const look = (of: 'writer' | 'watch') => async (client: PostgresClient) => {
    await history.look(client, of).catch((error: unknown) => {
      if (ErrandError.isInstance(error)) ledger?.fail(error)
      throw error
    })
  }
  writer.onConnected = look('writer')
  watch.onConnected = look('watch')
  try {
    await Promise.all([writer, reader, watch].map((each) => each.ensure()))
    const schema = await requireUsable(writer, target.schema, target.name)
    await migrate(writer, target.name, { createsSchema: target.schema })
    const disconnect = () => Promise.all([writer.close(), reader.close()])
    const life = new ServerWatch(watch, schema ?? (await currentSchema(writer)), clock, {
      othersChanged: () => ledger?.othersChanged(),
      silent() {
        writer.drop()
        reader.drop()
      },
    })
    history.onTakeover = () => life.takenOver()
    await life.open()
    const tx = tablesOf(postgresDialect)
    const locks = await locksOf(writer)
    const session = new Session(writer)
    const oneByOne = new OneByOne(session, locks, tx, (sent, cause) =>
      wasCommitted(writer, history, clock, sent, cause),
    )
    const runner = new Writer(writer, locks, oneByOne, { tx, history, clock, random: createRandomIds().random })
    const parts = {
      writer: session,
      reader: new SnapshotReads(reader, remembering(tx, history)),
      runner,
      life,
      history,
      clock,
      disconnect,
    }
    ledger = new PostgresLedger({ name: target.name, ...parts })
    return ledger
  } catch (error) {
    await Promise.all([writer, reader, watch].map((each) => each.close()))
    if (ErrandError.isInstance(error)) throw error
    throw unusable(error, target.name)
  }
}

/** The same reads, of which those of the feed are remembered. */
function remembering(tx: Tx, history: ServerHistory): Tx {
  return {
    ...tx,
    event: {
      ...tx.event,
      *after(...given) {
        const found = yield* tx.event.after(...given)
        history.seen(found)
        return found
      },
    },
  }
}

interface Facts {
  version: number
  standby: boolean
  encoding: string
  schema: number | null
}

/** The schema of the ledger, if there is one. */
export async function requireUsable(
  writer: ServerConnection,
  named: string | undefined,
  ledger: string,
): Promise<{ oid: number } | undefined> {
  const { rows } = await writer.query(`
    select current_setting('server_version_num')::int as version, pg_is_in_recovery() as standby,
      current_setting('server_encoding') as encoding,
      (select oid::int8 from pg_namespace where nspname = current_schema()) as schema`)
  const [{ version, standby, encoding, schema }] = rows as [Facts]
  const why = [
    version < oldestServer &&
      `it runs PostgreSQL ${Math.floor(version / 10_000)}, and errand needs version 15 or newer`,
    standby && 'it is a standby, which only reads: name the primary server',
    encoding !== 'UTF8' && `the encoding of the database is ${encoding}, and errand needs UTF8`,
    schema === null && named === undefined && 'the role has no schema there: name one with ?schema=errand',
  ].find((each) => typeof each === 'string')
  if (why !== undefined) {
    throw new ErrandError('LEDGER_UNAVAILABLE', `The ledger ${ledger} cannot be used: ${why}.`, { ledger })
  }
  return schema === null ? undefined : { oid: schema }
}

async function currentSchema(writer: ServerConnection): Promise<{ oid: number }> {
  const { rows } = await writer.query('select oid::int8 from pg_namespace where nspname = current_schema()')
  return (rows as [{ oid: number }])[0]
}

export function unusable(error: unknown, ledger: string): ErrandError {
  const { code, message } = error as { code?: string; message: string }
  // insufficient_privilege
  const remedy =
    code === '42501'
      ? ' The ledger must be created or migrated, and this role may not: open it once as the owner of the schema, or let the role create tables in it.'
      : ''
  return new ErrandError(
    'LEDGER_UNAVAILABLE',
    `The ledger ${ledger} cannot be opened: ${message}.${remedy}`,
    { ledger, ...(code === undefined ? {} : { sqlState: code }) },
    error,
  )
}
