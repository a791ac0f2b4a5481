// The ledger on PostgreSQL, over one connection: the same steps, statements and migrations as on SQLite, each request awaited.
// It proves the dialect (PGlite in process) and is not offered to users yet. Honest for now: `enlist`, `isAlive` and
// `discharge` know only this process (sessions' advisory locks are to come), and other processes' commits are not watched
// (NOTIFY is to come).
import { type Clock, systemClock } from '../../../clock.ts'
import type { TaskEvent } from '../../../entities/event.ts'
import { ErrandError } from '../../../errors.ts'
import { createRandomIds } from '../../../ids.ts'
import {
  CommitFailed,
  GroupCommit,
  type GroupRunner,
  LedgerBusy,
  type QueuedStep,
  type StepOutcome,
} from '../../group-commit.ts'
import type { AnyStep, Ledger, LedgerObserver, Op, Reads, Step, Tx } from '../../ledger.ts'
import { applicationId } from '../../migrations/migrations.ts'
import type { Request } from '../../statement.ts'
import { createTables } from '../../tables/tables.ts'
import { type PostgresClient, StatementFailed } from './client.ts'
import { postgresDialect } from './dialect.ts'
import { migrate } from './migrate.ts'

export type { PostgresClient } from './client.ts'

/**
 * Opens a ledger in the current schema of a connection that stays its owner's: `close` does not close it.
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
  readonly #observers = new Set<LedgerObserver>()
  #appended: Array<TaskEvent | undefined> = []
  /** A commit failed, so its events may be in the ledger all the same. */
  #inDoubt = false
  #turn: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(name: string, client: PostgresClient, clock: Clock) {
    this.name = name
    this.#client = client
    this.#tx = createTables(postgresDialect, (event) => this.#appended.push(event))
    this.#commits = new GroupCommit(this, clock, createRandomIds().random)
  }

  step<L, D, R>(step: Step<L, D, R>): Promise<R> {
    return this.#commits.add(step)
  }

  async read<R>(query: (tx: Reads) => Op<R>): Promise<R> {
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'The ledger is closed; open it again to read.')
    return this.#alone(async () => {
      try {
        // One snapshot for all statements of the query; by default each would see a later state than the one before.
        await this.#request('begin isolation level repeatable read read only')
        return await this.#drive(query(this.#tx))
      } catch (error) {
        if (!(error instanceof StatementFailed)) throw error
        throw new ErrandError('LEDGER_UNAVAILABLE', `The ledger could not be read (${error.message}).`, {}, error)
      } finally {
        await this.#rollback()
      }
    })
  }

  async enlist(instanceId: string): Promise<void> {
    this.#alive.add(instanceId)
  }

  isAlive(instanceId: string): boolean {
    return this.#alive.has(instanceId)
  }

  discharge(instanceId: string): void {
    this.#alive.delete(instanceId)
  }

  observe(observer: LedgerObserver): () => void {
    this.#observers.add(observer)
    return () => {
      this.#observers.delete(observer)
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    await this.#commits.close()
    this.#closed = true
    this.#observers.clear()
    this.#alive.clear()
    await this.#turn
  }

  // ── GroupRunner ──

  runGroup(group: readonly QueuedStep[]): Promise<StepOutcome[]> {
    return this.#alone(async () => {
      this.#appended = []
      const outcomes: StepOutcome[] = []
      try {
        await this.#request('begin')
        // Writers take turns, so that the order of event.seq is the order of commits: with a bare sequence a follower
        // would miss the rows of a transaction that drew its numbers first and committed last. An advisory lock, because a
        // lock on the table would keep autovacuum away for ever.
        await this.#request('select pg_advisory_xact_lock($1)', [applicationId])
        for (const { step } of group) outcomes.push(await this.#runStep(step))
      } catch (error) {
        await this.#rollback()
        throw error instanceof StatementFailed && error.isContention ? new LedgerBusy() : error
      }
      try {
        await this.#request('commit')
      } catch (error) {
        await this.#rollback()
        this.#appended = []
        this.#inDoubt = true
        throw new CommitFailed((error as Error).message, { cause: error })
      }
      return outcomes
    })
  }

  committed(): void {
    if (this.#inDoubt) {
      this.#inDoubt = false
      for (const observer of this.#observers) observer.stirred()
    }
    if (this.#appended.length === 0) return
    const events = this.#appended.filter((event) => event !== undefined)
    const seen = events.length === this.#appended.length
    this.#appended = []
    for (const observer of this.#observers) {
      if (seen) observer.committed(events)
      else observer.stirred()
    }
  }

  /** Always inside a savepoint: after a failed statement PostgreSQL refuses the rest of a transaction. */
  async #runStep(step: AnyStep): Promise<StepOutcome> {
    const before = this.#appended.length
    await this.#request('savepoint step')
    try {
      const decision: unknown = step.judge(await this.#drive(step.load(this.#tx)))
      const value = await this.#drive(step.write(this.#tx, decision))
      await this.#request('release savepoint step')
      return { ok: true, value }
    } catch (error) {
      if (error instanceof StatementFailed && (error.sqlState === undefined || error.isContention)) throw error
      await this.#request('rollback to savepoint step')
      await this.#request('release savepoint step')
      this.#appended.length = before
      return { ok: false, error: error instanceof StatementFailed ? refusal(step, error) : error }
    }
  }

  async #drive<R>(op: Op<R>): Promise<R> {
    let next = op.next()
    while (!next.done) {
      let reply: unknown
      try {
        reply = await this.#reply(next.value as Request)
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

  /** Ends whatever transaction is open. A connection that is gone has none. */
  async #rollback(): Promise<void> {
    await this.#client.query('rollback').catch(() => undefined)
  }

  /** One connection, one transaction at a time. */
  #alone<R>(work: () => Promise<R>): Promise<R> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }
}

function refusal(step: AnyStep, error: StatementFailed): ErrandError {
  return new ErrandError(
    'LEDGER_WRITE_FAILED',
    `The ledger refused the step "${step.name}" (${error.message}). Nothing of it was kept.`,
    { step: step.name, sqlState: error.sqlState },
    error,
  )
}
