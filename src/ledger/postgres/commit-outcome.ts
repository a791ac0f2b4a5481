// Finds out what became of a commit whose answer was lost: the server knows it by the id of the transaction, and by its events.
import type { Clock } from '../../core/clock.ts'
import { sleep, waitAtMost } from '../../core/signals.ts'
import { CommitFailed } from '../group-commit.ts'
import type { NewEvent } from '../ledger.ts'
import type { Begun } from './ledger-locks.ts'
import { ServerConnection } from './server-connection.ts'
import { currentTimeline, type ServerHistory } from './server-history.ts'
import type { ServerHost, ServerTarget } from './server-url.ts'

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

/** What is asked about a commit. */
export interface Witnesses {
  /** Looks at each server that it connects to. */
  readonly connection: ServerConnection
  readonly history: ServerHistory
  /** Resolves when what was committed until now is as durable as any commit. */
  readonly confirm: () => Promise<void>
  readonly clock: Clock
}

/**
 * False: the transaction has left nothing.
 * @throws CommitFailed if no server knows it in time, or if the server has crashed or another one has taken over, and the transaction
 * had no event
 */
export async function wasCommitted(
  { connection, history, confirm, clock }: Witnesses,
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
      const status = await statusOf(connection, xid)
      if (isSame && status === 'aborted') return false
      if (status !== 'in progress') {
        const found = event === undefined ? undefined : await history.find(connection, event)
        if (found === undefined && !(isSame && status === 'committed')) return false
        if (!(await waitAtMost(clock, until - clock.now(), confirm())))
          throw new Error('the server does not confirm the commit: it may wait for a standby')
        if (found !== undefined) history.acknowledged([found])
        return true
      }
      why = new Error('the transaction is in progress')
    } catch (error) {
      why = error
    }
    await sleep(clock, askAgainMs)
  }
  throw new CommitFailed((why as Error).message, { cause: why })
}

/** Undefined for an id that the server has yet to give: it has crashed since. */
async function statusOf(connection: ServerConnection, xid: string): Promise<string | undefined> {
  try {
    const { rows } = await connection.query('select pg_xact_status($1::xid8) as status', [xid])
    const [{ status }] = rows as [{ status: string | null }]
    if (status === null) throw new Error('the server has forgotten the transaction')
    return status
  } catch (error) {
    // invalid_parameter_value
    if ((error as { code?: string }).code === '22023') return undefined
    throw error
  }
}

/**
 * A commit that was waiting for a standby when its session ended is visible, and a failover may still lose it; one that comes after it waits
 * for the standby too, if it writes to the log. It has a connection of its own, because it may wait for long.
 */
export async function confirmOn(
  target: ServerTarget,
  history: ServerHistory,
  firstHost: () => ServerHost | undefined,
): Promise<void> {
  const settings = { synchronous_commit: 'on' }
  const connection = new ServerConnection(target, {
    title: 'errand commit',
    settings,
    answeredWithinMs: askedForMs,
  })
  connection.firstHost = firstHost
  try {
    await connection.ensure()
    const { rows } = await connection.query(
      `select ${history.timeline ? currentTimeline : `''`} as timeline, pg_logical_emit_message(true, 'errand', '')`,
      [],
    )
    const [{ timeline }] = rows as [{ timeline: string }]
    if (timeline !== history.timeline) throw new Error('another server has taken over')
  } finally {
    void connection.close()
  }
}
