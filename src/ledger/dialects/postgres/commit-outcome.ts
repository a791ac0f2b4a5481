// Finds out what became of a commit whose answer was lost: the server knows it by the id of the transaction.
import type { Clock } from '../../../core/clock.ts'
import { rest } from '../../../core/signals.ts'
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
  /** An event that it appended, if there is one: another server that has taken over gives the ids of transactions anew. */
  readonly event: NewEvent | undefined
}

/** Whether a transaction was committed. @throws CommitFailed if it stays unknown */
export type OutcomeSource = (sent: Sent, cause: unknown) => Promise<boolean>

/**
 * Asks through a connection that looks at each server that it connects to. False: the transaction has left nothing.
 * @throws CommitFailed if no server knows it in time, or if another one has taken over and the transaction had no event
 */
export async function wasCommitted(
  connection: ServerConnection,
  history: ServerHistory,
  clock: Clock,
  { xid, timeline, event }: Sent,
  cause: unknown,
): Promise<boolean> {
  let why = cause
  const until = clock.now() + askedForMs
  while (clock.now() < until) {
    try {
      await connection.ensure()
      if (history.timeline !== timeline) {
        if (event === undefined) break
        return await history.has(connection, event)
      }
      const { rows } = await connection.query('select pg_xact_status($1::xid8) as status', [xid])
      const { status } = rows[0] as { status: string | null }
      if (status === 'committed' || status === 'aborted') return status === 'committed'
      why = new Error(`the server reports the transaction as ${status ?? 'forgotten'}`)
    } catch (error) {
      why = error
    }
    await rest(clock, askAgainMs)
  }
  throw new CommitFailed((why as Error).message, { cause: why })
}
