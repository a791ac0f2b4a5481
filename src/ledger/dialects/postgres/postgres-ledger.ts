// The ledger on PostgreSQL, over one connection: the same steps, statements and migrations as on SQLite, each request awaited. It proves
// the dialect (with PGlite in process) and is not offered to users yet. Missing: `register`, `isAlive` and `unregister` cover this process
// only and report others as `unknown` (advisory locks of sessions would do), and commits of other processes are not watched (NOTIFY would
// do).
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
import { migrate } from './migrate.ts'

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
  return new PostgresLedger(name, client, options.clock ?? systemClock)
}

class PostgresLedger implements Ledger, GroupRunner {
  readonly name: string
  readonly #client: PostgresClient
  readonly #tx: Tx
  readonly #commits: GroupCommit
  readonly #alive = new Set<string>()
  readonly #observers = new LedgerObservers()
  #turn: Promise<unknown> = Promise.resolve()
  /** A rollback failed: unless the connection is closed, its transaction is still open. */
  #leftOpen = false
  #closing: Promise<void> | undefined
  #closed = false

  constructor(name: string, client: PostgresClient, clock: Clock) {
    this.name = name
    this.#client = client
    this.#tx = tablesOf(postgresDialect)
    this.#commits = new GroupCommit(this, this.#observers, clock, createRandomIds().random)
  }

  step<R>(step: Step<R>): Promise<R> {
    return this.#commits.add(step)
  }

  async read<R>(query: (tx: Reads) => Op<R>, { signal }: Reader = {}): Promise<R> {
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'The ledger is closed; open it again to read.')
    return this.#alone(async () => {
      signal?.throwIfAborted()
      try {
        // One snapshot for all statements of the query; by default each would see a later state than the one before.
        await this.#begin('begin isolation level repeatable read read only')
        return await this.#drive(query(this.#tx), (request) => {
          signal?.throwIfAborted()
          return this.#reply(request)
        })
      } catch (error) {
        if (!(error instanceof StatementFailed)) throw error
        throw new ErrandError('LEDGER_UNAVAILABLE', `The ledger could not be read (${error.message}).`, {}, error)
      } finally {
        await this.#rollback()
      }
    })
  }

  async register(instanceId: string): Promise<void> {
    this.#alive.add(instanceId)
  }

  async isAlive(instanceId: string): Promise<Life> {
    return this.#alive.has(instanceId) ? 'alive' : 'unknown'
  }

  unregister(instanceId: string): void {
    this.#alive.delete(instanceId)
  }

  observe(observer: LedgerObserver, options: { watchOthers: boolean }): () => void {
    this.#observers.add(observer, options)
    return () => this.#observers.remove(observer)
  }

  close({ withinMs }: { withinMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(withinMs)
    return this.#closing
  }

  async #close(withinMs: number | undefined): Promise<void> {
    await this.#commits.close(withinMs)
    this.#closed = true
    this.#observers.clear()
    this.#alive.clear()
    await this.#turn
  }

  // ── GroupRunner ──

  runGroup(group: readonly QueuedStep[]): Promise<CommittedGroup> {
    return this.#alone(async () => {
      const events = new AppendedEvents()
      const outcomes: StepOutcome[] = []
      try {
        await this.#begin('begin')
        // Writers take turns, so that the order of event.seq is the order of commits: with a sequence alone, a follower would miss the rows
        // of a transaction that drew its numbers first and committed last. An advisory lock, because a lock on the table would block
        // autovacuum.
        await this.#request('select pg_advisory_xact_lock($1)', [applicationId])
        for (const { step } of group) outcomes.push(await this.#runStep(step, events))
      } catch (error) {
        await this.#rollback()
        throw error instanceof StatementFailed && error.isContention ? new LedgerBusy() : error
      }
      try {
        await this.#request('commit')
      } catch (error) {
        await this.#rollback()
        throw new CommitFailed((error as Error).message, { cause: error })
      }
      return { outcomes, events: events.committed() }
    })
  }

  /** Always inside a savepoint: after a failed statement PostgreSQL refuses the rest of a transaction. */
  async #runStep(step: Step, events: AppendedEvents): Promise<StepOutcome> {
    const before = events.length
    await this.#request('savepoint step')
    try {
      const draft = new Draft()
      const value = await this.#drive(step.decide(this.#tx), (request) => this.#draftedReply(request, draft, events))
      await this.#flush(draft, events)
      await this.#request('release savepoint step')
      return { ok: true, value }
    } catch (error) {
      if (error instanceof StatementFailed && (error.sqlState === undefined || error.isContention)) throw error
      await this.#request('rollback to savepoint step')
      await this.#request('release savepoint step')
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
    const reply = await this.#reply(request)
    events.note(request, reply)
    draft.noteReply(request, reply)
    return reply
  }

  async #drive<R>(op: Op<R>, replyTo = (request: Request): Promise<unknown> => this.#reply(request)): Promise<R> {
    let next = op.next()
    while (!next.done) {
      let reply: unknown
      try {
        reply = await replyTo(next.value as Request)
      } catch (error) {
        next = op.throw(error)
        continue
      }
      next = op.next(reply)
    }
    return next.value
  }

  async #reply({ sql, parameters, want }: Request): Promise<unknown> {
    const { rows, affectedRows } = await this.#request(sql, [...parameters])
    if (want === 'rows') return rows
    return want === 'seq' ? (rows[0] as { seq: number }).seq : (affectedRows ?? 0)
  }

  async #request(sql: string, parameters?: unknown[]): Promise<Awaited<ReturnType<PostgresClient['query']>>> {
    try {
      return await this.#client.query(sql, parameters)
    } catch (error) {
      throw new StatementFailed(error)
    }
  }

  /** First ends a transaction whose rollback failed: its writes would be committed with the next group. */
  async #begin(text: string): Promise<void> {
    if (this.#leftOpen) await this.#request('rollback')
    this.#leftOpen = false
    await this.#request(text)
  }

  /** Ends any open transaction. A closed connection has none. */
  async #rollback(): Promise<void> {
    await this.#client.query('rollback').catch(() => {
      this.#leftOpen = true
    })
  }

  /** One connection, one transaction at a time. */
  #alone<R>(work: () => Promise<R>): Promise<R> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }
}
