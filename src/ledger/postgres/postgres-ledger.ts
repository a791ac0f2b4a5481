// The ledger on PostgreSQL: the same steps, statements and migrations as on SQLite, each request awaited.
import type { Reader } from '../../bus/read-principal.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { createRandomIds } from '../../core/ids.ts'
import {
  type CommittedGroup,
  GroupCommit,
  type GroupRunner,
  LedgerBusy,
  LedgerObservers,
  type QueuedStep,
  type StartTimer,
} from '../group-commit.ts'
import type { Ledger, LedgerObserver, Life, Op, Reads, Step, Tx } from '../ledger.ts'
import { tablesOf } from '../tables/tables.ts'
import { type PostgresClient, StatementFailed } from './client.ts'
import { postgresDialect } from './dialect.ts'
import { type LedgerLife, lifeInProcess } from './instance-liveness.ts'
import { locksOf } from './ledger-locks.ts'
import { migrate } from './migrate.ts'
import { OneByOne } from './one-by-one.ts'
import type { ServerHistory } from './server-history.ts'
import { drive, Session } from './session.ts'

export type { PostgresClient } from './client.ts'

/**
 * Opens a ledger in the current schema of a connection. `close` does not close the connection.
 * @throws ErrandError LEDGER_VERSION, LEDGER_FOREIGN
 */
export async function openPostgresLedger(
  client: PostgresClient,
  options: { name?: string; clock?: Clock } = {},
): Promise<Ledger> {
  const name = options.name ?? 'postgres'
  await migrate(client, name)
  const session = new Session(client)
  const tx = tablesOf(postgresDialect)
  const runner = new OneByOne(session, await locksOf(client), tx)
  return new PostgresLedger({
    name,
    writer: session,
    reader: new SessionReads(session, tx),
    runner,
    life: lifeInProcess(),
    clock: options.clock ?? systemClock,
  })
}

interface LedgerReads {
  read<R>(query: (tx: Reads) => Op<R>, signal: AbortSignal | undefined): Promise<R>
  settled(): Promise<void>
  /** Refuses the reads that are under way, with this reason. Absent where each ends soon by itself. */
  fail?(reason: ErrandError): void
}

/** What a ledger is made of. */
export interface PostgresParts {
  readonly name: string
  readonly writer: Session
  readonly reader: LedgerReads
  /** Runs steps on the writer. */
  readonly runner: GroupRunner
  readonly life: LedgerLife
  /** Absent where no other server can take over. */
  readonly history?: Pick<ServerHistory, 'acknowledged'>
  readonly clock: Clock
  /** Ends the connections, when the ledger is closed. Absent where they belong to the caller. */
  readonly disconnect?: () => Promise<unknown>
}

/** An attempt waits at most this long, for connections and for locks. More means that the clock was set. */
const maxWaitMs = 30_000

export class PostgresLedger implements Ledger, GroupRunner {
  readonly name: string
  readonly #writer: Session
  readonly #reader: LedgerReads
  readonly #runner: GroupRunner
  readonly #life: LedgerLife
  readonly #history: PostgresParts['history']
  readonly #clock: Clock
  readonly #disconnect: PostgresParts['disconnect']
  readonly #commits: GroupCommit
  readonly #observers = new LedgerObservers()
  /** The time of the server, where it may be another than that of this host. */
  readonly now?: () => number
  readonly keepLease?: NonNullable<Ledger['keepLease']>
  #closing: Promise<void> | undefined
  #closed = false
  #failure: unknown

  constructor({ name, writer, reader, runner, life, history, clock, disconnect }: PostgresParts) {
    this.#disconnect = disconnect
    this.name = name
    this.#writer = writer
    this.#reader = reader
    this.#runner = runner
    this.#life = life
    this.#history = history
    this.#clock = clock
    if (life.now !== undefined) this.now = life.now
    if (life.keepLease !== undefined) this.keepLease = life.keepLease
    this.#commits = new GroupCommit(this, this.#observers, clock, createRandomIds().random)
  }

  step<R>(step: Step<R>): Promise<R> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return this.#commits.add(step)
  }

  async read<R>(query: (tx: Reads) => Op<R>, { signal }: Reader = {}): Promise<R> {
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'The ledger is closed; open it again to read.')
    if (this.#failure !== undefined) throw this.#failure
    return await this.#reader.read(query, signal)
  }

  register(instanceId: string): Promise<void> {
    return this.#life.register(instanceId)
  }

  async isAlive(instanceId: string): Promise<Life> {
    return this.#life.isAlive(instanceId)
  }

  unregister(instanceId: string): void {
    this.#life.unregister(instanceId)
  }

  observe(observer: LedgerObserver, options: { watchOthers: boolean }): () => void {
    this.#observers.add(observer, options)
    return () => this.#observers.remove(observer)
  }

  /**
   * Nothing more is written, nor read from a server: what was acknowledged is not there any more, or the ledger has become one of a newer
   * version.
   */
  fail(error: ErrandError): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#reader.fail?.(error)
    this.#observers.failed(error)
    // Other engines take over.
    void this.#life.close()
  }

  /** Another process may have committed. */
  othersChanged(): void {
    this.#observers.othersChanged()
  }

  close({ withinMs }: { withinMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(withinMs)
    return this.#closing
  }

  async #close(withinMs: number | undefined): Promise<void> {
    await this.#commits.close(withinMs)
    this.#closed = true
    this.#observers.clear()
    await Promise.all([this.#writer.settled(), this.#reader.settled()])
    await Promise.all([this.#life.close(), this.#disconnect?.()])
  }

  // ── GroupRunner ──

  async runGroup(group: readonly QueuedStep[], startTimer: StartTimer): Promise<CommittedGroup> {
    const committed = await this.#writer
      .alone(() => this.#runTimed(group, startTimer))
      .catch((error: unknown) => {
        if (ErrandError.isInstance(error) && error.code === 'LEDGER_VERSION') this.fail(error)
        throw this.#failure ?? error
      })
    this.#life.committed()
    const { events, numbered = [] } = committed
    this.#history?.acknowledged(events === 'unseen' ? numbered : events)
    return committed
  }

  async #runTimed(group: readonly QueuedStep[], startTimer: StartTimer): Promise<CommittedGroup> {
    const since = this.#clock.now()
    try {
      return await this.#runner.runGroup(group, startTimer)
    } catch (error) {
      if (!(error instanceof LedgerBusy)) throw error
      const waitedMs = Math.min(Math.max(0, this.#clock.now() - since), maxWaitMs)
      throw new LedgerBusy(waitedMs, error.cause)
    }
  }
}

// Reads over a connection that answers one request at a time: each has a snapshot of its own.

class SessionReads {
  readonly #session: Session
  readonly #tx: Tx

  constructor(session: Session, tx: Tx) {
    this.#session = session
    this.#tx = tx
  }

  read<R>(query: (tx: Reads) => Op<R>, signal: AbortSignal | undefined): Promise<R> {
    const session = this.#session
    return session.alone(async () => {
      signal?.throwIfAborted()
      try {
        // One snapshot for all statements of the query; by default each would see a later state than the one before.
        await session.begin('begin isolation level repeatable read read only')
        return await drive(query(this.#tx), (request) => {
          signal?.throwIfAborted()
          return session.reply(request)
        })
      } catch (error) {
        if (!(error instanceof StatementFailed)) throw error
        throw new ErrandError('LEDGER_UNAVAILABLE', `The ledger could not be read (${error.message}).`, {}, error)
      } finally {
        await session.rollback()
      }
    })
  }

  settled(): Promise<void> {
    return this.#session.settled()
  }
}
