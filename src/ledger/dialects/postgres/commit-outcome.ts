// Finds out what became of a commit whose answer was lost: the server knows it by the id of the transaction.
import type { Clock } from '../../../core/clock.ts'
import { rest } from '../../../core/signals.ts'
import { CommitFailed } from '../../group-commit.ts'
import type { ServerConnection } from './server-connection.ts'

/** How long the server is asked, and how often. */
const askedForMs = 10_000
const askAgainMs = 50

/**
 * Connects again. False: the transaction has left nothing.
 * @throws CommitFailed if no server knows it in time
 */
export async function wasCommitted(
  connection: ServerConnection,
  clock: Clock,
  xid: string,
  cause: unknown,
): Promise<boolean> {
  let why = cause
  const until = clock.now() + askedForMs
  for (;;) {
    try {
      await connection.ensure()
      const { rows } = await connection.query('select pg_xact_status($1::xid8) as status', [xid])
      const { status } = rows[0] as { status: string | null }
      if (status === 'committed' || status === 'aborted') return status === 'committed'
      why = new Error(`the server reports the transaction as ${status ?? 'forgotten'}`)
    } catch (error) {
      why = error
    }
    if (clock.now() >= until) throw new CommitFailed((why as Error).message, { cause: why })
    await rest(clock, askAgainMs)
  }
}
