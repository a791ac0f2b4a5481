// Opens the ledger on a PostgreSQL server: three connections, for steps, for reads, and to watch other engines. A working
// engine has a fourth one (heartbeat-worker.ts).
import { type Clock, steadyClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { createRandomIds } from '../../core/ids.ts'
import type { Ledger, Tx } from '../ledger.ts'
import { tablesOf } from '../tables/tables.ts'
import { currentSchema, requirePrivileges, requireSameLedger, requireUsable, unusable } from './check-server.ts'
import { confirmOn, type OutcomeSource, wasCommitted } from './commit-outcome.ts'
import { postgresDialect } from './dialect.ts'
import { locksOf, scans } from './ledger-locks.ts'
import { migrate } from './migrate.ts'
import { OneByOne } from './one-by-one.ts'
import { PostgresLedger } from './postgres-ledger.ts'
import type { Purpose } from './server-client.ts'
import { ServerConnection } from './server-connection.ts'
import { ServerHistory } from './server-history.ts'
import { parseServerUrl, type ServerTarget } from './server-url.ts'
import { ServerWatch } from './server-watch.ts'
import { Session } from './session.ts'
import { SnapshotReads } from './snapshot-reads.ts'
import { Writer } from './writer.ts'

/**
 * Opens the ledger at a URL like `postgres://user@host/database?schema=errand`, and creates or migrates it.
 * @throws ErrandError INVALID_INPUT, LEDGER_FOREIGN, LEDGER_VERSION, LEDGER_UNAVAILABLE, NOT_OFFERED
 */
export async function openServerLedger(url: string, clock: Clock = steadyClock): Promise<Ledger> {
  const target = parseServerUrl(url)
  const { name } = target
  const { writer, reader, watch } = connectionsTo(target)
  const history = new ServerHistory(name)
  let ledger: PostgresLedger | undefined
  let life: ServerWatch | undefined
  watch.onConnected = async (client) => {
    await history.look(client).catch((error: unknown) => {
      if (ErrandError.isInstance(error)) ledger?.fail(error)
      throw error
    })
  }
  try {
    await Promise.all([writer, reader, watch].map((each) => each.ensure()))
    const schema = await requireUsable(watch, target)
    // The owner of a schema need not have the right to create one.
    await migrate(watch, name, schema === undefined ? { createsSchema: target.schema } : {})
    await requirePrivileges(watch, name)
    if (writer.isPooled) await requireSameLedger(watch, writer, name)
    const disconnect = () => Promise.all([writer.close(), reader.close()])
    const reconnect = () => {
      writer.drop()
      reader.drop()
    }
    const of = { target, clock, schema: schema ?? (await currentSchema(watch)) }
    life = new ServerWatch(watch, of, {
      othersChanged: () => ledger?.othersChanged(),
      silent() {
        reconnect()
        life?.reconnectHeartbeats()
      },
    })
    history.onRestart = () => life?.restarted()
    history.onTakeover = () => {
      // The previous server may still answer on these connections.
      reconnect()
      life?.reconnectHeartbeats()
    }
    history.onUnknownServer = () => writer.drop()
    history.onGrown = () => {
      for (const each of [writer, reader]) each.planAnew()
    }
    await life.open()
    const tx = tablesOf(postgresDialect)
    const locks = await locksOf(watch, history)
    const session = new Session(writer)
    const confirm = () => confirmOn(target, history, () => watch.host)
    const outcome: OutcomeSource = (sent, cause) =>
      wasCommitted({ connection: watch, history, confirm, clock }, sent, cause)
    const oneByOne = new OneByOne(session, locks, tx, outcome)
    const random = createRandomIds().random
    const parts = {
      writer: session,
      reader: new SnapshotReads(reader, remembering(tx, history), { clock, history }),
      runner: new Writer(writer, locks, oneByOne, { tx, wasCommitted: outcome, clock, random }),
      life,
      history,
      clock,
      disconnect,
    }
    ledger = new PostgresLedger({ name, ...parts })
    return ledger
  } catch (error) {
    await life?.close()
    await Promise.all([writer, reader, watch].map((each) => each.close()))
    if (ErrandError.isInstance(error)) throw error
    throw unusable(error, name)
  }
}

/**
 * When the server ends a transaction that waits for its process, and so frees its locks. Work that keeps the event loop busy leaves it
 * waiting, for as long as it takes; beginning again would meet the same.
 */
const maxIdle = '15s'

/** Only the watch needs a session of its own; the others may share those of a connection pool. */
function connectionsTo(target: ServerTarget): Record<'writer' | 'reader' | 'watch', ServerConnection> {
  const byIndex = Object.fromEntries(scans.map((scan) => [scan, 'off']))
  const forSteps = { ...byIndex, statement_timeout: '60s' }
  const connection = (title: string, settings: Record<string, string>, rest: Partial<Purpose>) =>
    new ServerConnection(target, { title: `errand ${title}`, settings, ...rest })
  const steps = { mayBePooled: true, answeredWithinMs: 70_000 }
  const watch = connection('watch', { statement_timeout: '10s' }, {})
  const writerSettings = {
    lock_timeout: '5s',
    idle_in_transaction_session_timeout: maxIdle,
    ...forSteps,
    synchronous_commit: 'on',
  }
  const writer = connection('writer', writerSettings, steps)
  const reader = connection('reader', { ...forSteps, idle_in_transaction_session_timeout: maxIdle }, steps)
  // After a takeover the previous server may still accept connections.
  for (const each of [writer, reader]) if (!each.isPooled) each.firstHost = () => watch.host
  return { writer, reader, watch }
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
