// Finds out what became of a commit whose answer was lost: the server knows it by the id of the transaction, and by its events.
import type { Clock } from '../../../core/clock.ts'
import { rest, waitAtMost } from '../../../core/signals.ts'
import { CommitFailed } from '../../group-commit.ts'
import type { NewEvent } from '../../ledger.ts'
import type { Begun } from './ledger-locks.ts'
import type { ServerConnection } from './server-connection.ts'
import type { ServerHistory } from './server-history.ts'

/** How long the server is asked, and how often. */
const askedForMs = 10_000
const askAgainMs = 50

/** A transaction whose commit was sent. */
export interface Sent extends Begun {
  /** An event that it appended, if there is one: after a crash or a takeover the server may give the ids of transactions anew. */
  readonly event: NewEvent | undefined
}

/** Whether a transaction was committed. @throws CommitFailed if it stays unknown */
export type OutcomeSource = (sent: Sent, cause: unknown) => Promise<boolean>

/**
 * Asks through a connection that looks at each server that it connects to. False: the transaction has left nothing.
 * @throws CommitFailed if no server knows it in time, or if the server has crashed or another one has taken over, and the transaction
 * had no event
 */
export async function wasCommitted(
  connection: ServerConnection,
  history: ServerHistory,
  clock: Clock,
  { xid, incarnation, event }: Sent,
  cause: unknown,
): Promise<boolean> {
  let why = cause
  const until = clock.now() + askedForMs
  while (clock.now() < until) {
    try {
      await connection.ensure()
      const isSame = history.incarnation === incarnation
      if (!isSame && event === undefined) break
      const status = isSame ? await statusOf(connection, xid) : undefined
      if (status !== 'in progress') {
        const isFound = event !== undefined && (await history.find(connection, event))
        if (!isFound && status !== 'committed') return false
        if (await waitAtMost(clock, until - clock.now(), confirm(connection))) return true
        connection.drop()
        throw new Error('the server does not confirm the commit: it may wait for a standby')
      }
      why = new Error('the transaction is in progress')
    } catch (error) {
      why = error
    }
    await rest(clock, askAgainMs)
  }
  throw new CommitFailed((why as Error).message, { cause: why })
}

async function statusOf(connection: ServerConnection, xid: string): Promise<string | null> {
  const { rows } = await connection.query('select pg_xact_status($1::xid8) as status', [xid])
  const [{ status }] = rows as [{ status: string | null }]
  if (status === null) throw new Error('the server has forgotten the transaction')
  return status
}

/**
 * Resolves when what was committed until now is as durable as any commit. One that was waiting for a standby when its session ended is in
 * sight, and a failover may still lose it; one that comes after it waits for the standby too, if it writes to the log.
 */
async function confirm(connection: ServerConnection): Promise<void> {
  await connection.query(`select pg_logical_emit_message(true, 'errand', '')`)
}
