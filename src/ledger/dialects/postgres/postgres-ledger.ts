// The ledger on PostgreSQL: the same steps, statements and migrations as on SQLite, each request awaited.
import type { Reader } from '../../../bus/reader.ts'
import { type Clock, systemClock } from '../../../core/clock.ts'
import { ErrandError } from '../../../core/errors.ts'
import { createRandomIds } from '../../../core/ids.ts'
import { Draft } from '../../draft.ts'
import {
  AppendedEvents,
  CommitFailed,
  type CommittedGroup,
  GroupCommit,
  type GroupRunner,
  LedgerBusy,
  LedgerObservers,
  type QueuedStep,
  refusedStep,
  type StepOutcome,
} from '../../group-commit.ts'
import type { Ledger, LedgerObserver, Life, Op, Reads, Step, Tx } from '../../ledger.ts'
import { applicationId } from '../../migrations/migrations.ts'
import type { Request } from '../../statement.ts'
import { tablesOf } from '../../tables/tables.ts'
import { type PostgresClient, StatementFailed } from './client.ts'
import { postgresDialect } from './dialect.ts'
import { type LedgerLife, lifeInProcess } from './life.ts'
import { migrate } from './migrate.ts'
import { drive, Session } from './session.ts'

export type { PostgresClient } from './client.ts'

/**
 * Opens a ledger in the current schema of a connection. `close` does not close the connection.
 * @throws ErrandError LEDGER_NEWER, LEDGER_FOREIGN
 */
export async function openPostgresLedger(
  client: PostgresClient,
  options: { name?: string; clock?: Clock } = {},
): Promise<Ledger> {
  const name = options.name ?? 'postgres'
  await migrate(client, name)
  const clock = options.clock ?? systemClock
  return new PostgresLedger({ name, writer: client, reader: client, life: lifeInProcess(), clock })
}

/** What a ledger is made of. */
export interface PostgresParts {
  readonly name: string
  readonly writer: PostgresClient
  /** Another connection, for reads that do not wait for steps; or the same. */
  readonly reader: PostgresClient
  readonly life: LedgerLife
  readonly clock: Clock
  /** Ends the connections, when the ledger is closed. Absent where they belong to the caller. */
  readonly disconnect?: () => Promise<unknown>
}

/** An attempt waits at most this long, for a connection or for a lock. More means that the clock was set. */
const maxWaitMs = 5_000

export class PostgresLedger implements Ledger, GroupRunner {
  readonly name: string
  readonly #writer: Session
  readonly #reader: Session
  readonly #life: LedgerLife
  readonly #clock: Clock
  readonly #disconnect: PostgresParts['disconnect']
  readonly #tx: Tx
  readonly #commits: GroupCommit
  readonly #observers = new LedgerObservers()
  /** The time of the server, where it may be another than that of this host. */
  readonly now?: () => number
  #closing: Promise<void> | undefined
  #closed = false

  constructor({ name, writer, reader, life, clock, disconnect }: PostgresParts) {
    this.#disconnect = disconnect
    this.name = name
    this.#writer = new Session(writer)
    this.#reader = reader === writer ? this.#writer : new Session(reader)
    this.#life = life
    this.#clock = clock
    if (life.now !== undefined) this.now = () => life.now?.() as number
    this.#tx = tablesOf(postgresDialect)
    this.#commits = new GroupCommit(this, this.#observers, clock, createRandomIds().random)
  }

  step<R>(step: Step<R>): Promise<R> {
    return this.#commits.add(step)
  }

  async read<R>(query: (tx: Reads) => Op<R>, { signal }: Reader = {}): Promise<R> {
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'The ledger is closed; open it again to read.')
    const session = this.#reader
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

  async runGroup(group: readonly QueuedStep[]): Promise<CommittedGroup> {
    const committed = await this.#writer.alone(() => this.#runGroup(group))
    this.#life.committed()
    return committed
  }

  async #runGroup(group: readonly QueuedStep[]): Promise<CommittedGroup> {
    const session = this.#writer
    const events = new AppendedEvents()
    const outcomes: StepOutcome[] = []
    const since = this.#clock.now()
    try {
      await session.begin('begin')
      // Writers take turns, so that the order of event.seq is the order of commits: with a sequence alone, a follower would miss the rows
      // of a transaction that drew its numbers first and committed last. An advisory lock, because a lock on the table would block
      // autovacuum.
      await session.request('select pg_advisory_xact_lock($1)', [applicationId])
      for (const { step } of group) outcomes.push(await this.#runStep(step, events))
    } catch (error) {
      await session.rollback()
      const waitedMs = Math.min(Math.max(0, this.#clock.now() - since), maxWaitMs)
      throw session.isRetried(error) ? new LedgerBusy(waitedMs, error) : error
    }
    try {
      await session.request('commit')
    } catch (error) {
      await session.rollback()
      throw new CommitFailed((error as Error).message, { cause: error })
    }
    return { outcomes, events: events.committed() }
  }

  /** Always inside a savepoint: after a failed statement PostgreSQL refuses the rest of a transaction. */
  async #runStep(step: Step, events: AppendedEvents): Promise<StepOutcome> {
    const session = this.#writer
    const before = events.length
    await session.request('savepoint step')
    try {
      const draft = new Draft()
      const value = await drive(step.decide(this.#tx), (request) => this.#draftedReply(request, draft, events))
      await this.#flush(draft, events)
      await session.request('release savepoint step')
      return { ok: true, value }
    } catch (error) {
      if (error instanceof StatementFailed && (error.isLost || error.isContention)) throw error
      await session.request('rollback to savepoint step')
      await session.request('release savepoint step')
      events.truncate(before)
      return {
        ok: false,
        error: error instanceof StatementFailed ? refusedStep(step, error, { sqlState: error.sqlState }) : error,
      }
    }
  }

  async #draftedReply(request: Request, draft: Draft, events: AppendedEvents): Promise<unknown> {
    if (request.deferred) return draft.add(request)
    const known = draft.answer(request)
    if (known !== undefined) return known
    await this.#flush(draft, events)
    return draft.answer(request) ?? (await this.#run(request, draft, events))
  }

  async #flush(draft: Draft, events: AppendedEvents): Promise<void> {
    for (const write of draft.take()) await this.#run(write, draft, events)
  }

  async #run(request: Request, draft: Draft, events: AppendedEvents): Promise<unknown> {
    const reply = await this.#writer.reply(request)
    events.note(request, reply)
    draft.noteReply(request, reply)
    return reply
  }
}
