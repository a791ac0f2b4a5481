// The ledger on SQLite: steps run synchronously inside one transaction per group; nothing is ever awaited in between.
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { Reader } from '../../../bus/reader.ts'
import { type Clock, systemClock } from '../../../core/clock.ts'
import { ErrandError } from '../../../core/errors.ts'
import { createRandomIds } from '../../../core/ids.ts'
import { drafted } from '../../draft.ts'
import {
  AppendedEvents,
  CommitFailed,
  type CommittedGroup,
  GroupCommit,
  type GroupRunner,
  LedgerBusy,
  type QueuedStep,
  refusedStep,
  type StepOutcome,
} from '../../group-commit.ts'
import type { Ledger, LedgerObserver, Life, Op, Reads, Step, Tx } from '../../ledger.ts'
import { LedgerObservers } from '../../ledger-observers.ts'
import { noteOpenLedger } from '../../open-files.ts'
import { type Asked, answered, type Request } from '../../statement.ts'
import { tablesOf } from '../../tables/tables.ts'
import { startWorker } from '../start-worker.ts'
import { type Connection, isBusy, sqliteCode, translate, unavailable } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { createInstanceLocks, type InstanceLocks } from './instance-lock.ts'
import { LongReads, readAtOnce } from './long-reads.ts'
import { busyTimeoutMs, openFile } from './open-file.ts'

/** How often commits of other processes are looked for: a pragma that takes two microseconds. */
const watchEveryMs = 20

/**
 * Opens a ledger in a file or in memory.
 * @throws ErrandError LEDGER_FOREIGN, LEDGER_NEWER, LEDGER_CORRUPT, LEDGER_BUSY, LEDGER_UNAVAILABLE, UNSUPPORTED_RUNTIME
 */
export async function openSqliteLedger(path: string, clock: Clock = systemClock): Promise<Ledger> {
  const name = path === ':memory:' ? path : resolve(path)
  const { random } = createRandomIds()
  const { connection, checkLater } = await openFile(name, clock, random)
  try {
    // Two ways to one file (a symbolic link) must lead to the same instance locks.
    const ledger = new SqliteLedger(name === ':memory:' ? name : realpathSync(name), connection, clock, random)
    if (checkLater) ledger.checkInBackground()
    return ledger
  } catch (error) {
    connection.close()
    throw unavailable(error, name, 'opened')
  }
}

class SqliteLedger implements Ledger, GroupRunner {
  readonly name: string
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #tx: Tx
  readonly #commits: GroupCommit
  readonly #locks: InstanceLocks
  /** Undefined for a ledger in memory, which has one connection: there a long read runs to its end at once. */
  readonly #longReads: LongReads | undefined
  readonly #observers = new LedgerObservers()
  /** The version at which observers were last notified of commits of other processes. */
  #dataVersion: unknown
  #watch: unknown
  #checker: Worker | undefined
  readonly #notOpen: () => void
  #failure: unknown
  /** A rollback failed, so its transaction is still open. */
  #leftOpen = false
  #closing: Promise<void> | undefined
  #closed = false

  constructor(name: string, connection: Connection, clock: Clock, random: () => number) {
    this.name = name
    this.#connection = connection
    this.#clock = clock
    this.#tx = tablesOf(sqliteDialect)
    this.#commits = new GroupCommit(this, this.#observers, clock, random)
    this.#locks = createInstanceLocks(name)
    this.#longReads = name === ':memory:' ? undefined : new LongReads(name, busyTimeoutMs, clock)
    this.#dataVersion = connection.dataVersion()
    this.#notOpen = name === ':memory:' ? () => {} : noteOpenLedger(realpathSync.native(name))
  }

  step<R>(step: Step<R>): Promise<R> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return this.#commits.add(step)
  }

  async read<R>(query: (tx: Reads) => Op<R>, reader: Reader = {}): Promise<R> {
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'The ledger is closed; open it again to read.')
    reader.signal?.throwIfAborted()
    try {
      // One snapshot for all statements of the query: without a transaction each would see a later state than the one before.
      this.#begin('begin')
      try {
        if (this.#longReads === undefined) return this.#drive(query(this.#tx))
        const read = readAtOnce(this.#connection, query(this.#tx), this.#clock)
        if (read !== undefined) return read.value
      } finally {
        this.#rollback()
      }
      return await this.#longReads.read(() => query(this.#tx), reader)
    } catch (error) {
      throw sqliteCode(error) === undefined ? error : unavailable(error, this.name, 'read')
    }
  }

  async register(instanceId: string): Promise<void> {
    this.#locks.hold(instanceId)
    try {
      // The files of dead instances that rows still name prove their death; the others are leftovers.
      const named = await this.read((tx) => tx.instance.named())
      this.#locks.sweep(new Set(named))
    } catch (error) {
      this.#locks.release(instanceId)
      throw unavailable(error, this.name, 'read')
    }
  }

  async isAlive(instanceId: string): Promise<Life> {
    return this.#locks.lifeOf(instanceId)
  }

  unregister(instanceId: string, { asDead = false }: { asDead?: boolean } = {}): void {
    this.#locks.release(instanceId, { keepFile: asDead })
  }

  observe(observer: LedgerObserver, options: { watchOthers: boolean }): () => void {
    this.#observers.add(observer, options)
    this.#watchOthers()
    return () => {
      this.#observers.remove(observer)
      this.#watchOthers()
    }
  }

  close({ withinMs }: { withinMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(withinMs)
    return this.#closing
  }

  async #close(withinMs: number | undefined): Promise<void> {
    const reads = this.#longReads?.close()
    await this.#commits.close(withinMs)
    this.#closed = true
    this.#observers.clear()
    this.#watchOthers()
    await reads
    await this.#checker?.terminate()
    this.#locks.releaseAll()
    try {
      // Leaves a single file if no other connection is open; otherwise the last one does this.
      if (this.name !== ':memory:') this.#connection.pragma('wal_checkpoint(truncate)')
    } catch (error) {
      if (sqliteCode(error) === undefined) throw error
    }
    this.#connection.close()
    this.#notOpen()
  }

  /** A large file is checked beside the work; damage stops all that use the ledger. */
  checkInBackground(): void {
    const worker = startWorker('quick-check-worker', import.meta.url, this.name)
    this.#checker = worker
    worker.once('message', (damage: string | null) => {
      if (damage !== null) this.#fail(new ErrandError('LEDGER_CORRUPT', damage, { path: this.name }))
    })
    worker.once('error', (error) => this.#fail(unavailable(error, this.name, 'read')))
  }

  // ── GroupRunner ──

  runGroup(group: readonly QueuedStep[]): CommittedGroup {
    // Steps are pure, so a group in which one failed after a write is run again with a savepoint around each: no savepoint is needed in the
    // common case, and such a step still fails alone.
    return this.#tryGroup(group, false) ?? (this.#tryGroup(group, true) as CommittedGroup)
  }

  #tryGroup(group: readonly QueuedStep[], savepoints: boolean): CommittedGroup | undefined {
    const events = new AppendedEvents()
    const outcomes: StepOutcome[] = []
    try {
      this.#begin('begin immediate')
    } catch (error) {
      throw isBusy(error) ? new LedgerBusy(busyTimeoutMs) : translate(error, this.name)
    }
    try {
      for (const { step } of group) {
        const outcome = savepoints ? this.#runStepApart(step, events) : this.#runStep(step, events)
        if (outcome === undefined) {
          this.#rollback()
          return undefined
        }
        outcomes.push(outcome)
      }
    } catch (error) {
      this.#rollback()
      throw translate(error, this.name)
    }
    this.#commit()
    return { outcomes, events: events.committed() }
  }

  #begin(text: 'begin' | 'begin immediate'): void {
    if (this.#leftOpen && this.#connection.inTransaction) this.#connection.execute('rollback')
    this.#leftOpen = false
    this.#connection.execute(text)
  }

  #commit(): void {
    try {
      this.#connection.execute('commit')
    } catch (error) {
      this.#rollback()
      throw new CommitFailed(error instanceof Error ? error.message : String(error), { cause: error })
    }
  }

  /** Never throws, so that the caller receives the error that made it necessary. */
  #rollback(): void {
    // SQLite rolls back by itself after a full disk or an I/O error.
    if (!this.#connection.inTransaction) return
    try {
      this.#connection.execute('rollback')
    } catch {
      this.#leftOpen = true
    }
  }

  /** Undefined if the step failed after its first write: the whole group must be rolled back. */
  #runStep(step: Step, events: AppendedEvents): StepOutcome | undefined {
    const { writes } = events
    try {
      return { ok: true, value: this.#runDrafted(step, events) }
    } catch (error) {
      return events.writes > writes || sqliteCode(error) !== undefined ? undefined : { ok: false, error }
    }
  }

  /** @throws when SQLite has rolled back the whole transaction by itself */
  #runStepApart(step: Step, events: AppendedEvents): StepOutcome {
    const before = events.length
    this.#connection.execute('savepoint step')
    try {
      const value = this.#runDrafted(step, events)
      this.#connection.execute('release step')
      return { ok: true, value }
    } catch (error) {
      if (!this.#connection.inTransaction) throw error
      this.#connection.execute('rollback to step')
      this.#connection.execute('release step')
      events.truncate(before)
      return { ok: false, error: this.#refusal(step, error) }
    }
  }

  #refusal(step: Step, error: unknown): unknown {
    const translated = translate(error, this.name)
    const code = sqliteCode(translated)
    return code === undefined ? translated : refusedStep(step, translated as Error, { sqlite: code })
  }

  #runDrafted(step: Step, events: AppendedEvents): unknown {
    return this.#drive(drafted(step.decide(this.#tx)), (request) => {
      const reply = this.#connection.run(request)
      events.note(request, reply)
      return reply
    })
  }

  #drive<R>(op: Op<R>, replyTo: (request: Request) => unknown = (request) => this.#connection.run(request)): R {
    let next = op.next()
    while (!next.done) {
      let reply: unknown
      try {
        reply = answered(next.value as Asked, replyTo)
      } catch (error) {
        // SQLite has rolled back by itself: another statement would be a transaction of its own, and durable at once.
        if (!this.#connection.inTransaction) throw error
        next = op.throw(error)
        continue
      }
      next = op.next(reply)
    }
    return next.value
  }

  #watchOthers(): void {
    const wanted = !this.#closed && this.name !== ':memory:' && this.#observers.watchOthers
    if (!wanted) {
      if (this.#watch !== undefined) this.#clock.clearTimeout(this.#watch)
      this.#watch = undefined
      return
    }
    if (this.#watch !== undefined) return
    const look = (): void => {
      this.#watch = this.#clock.setTimeout(look, watchEveryMs)
      let version: unknown
      try {
        version = this.#connection.dataVersion()
      } catch {
        // Observers read by themselves and report their errors; the next notification covers what this one missed.
        this.#observers.othersChanged()
        return
      }
      if (version === this.#dataVersion) return
      this.#observers.othersChanged()
      this.#dataVersion = version
    }
    this.#watch = this.#clock.setTimeout(look, 0)
  }

  #fail(error: unknown): void {
    this.#failure = error
    this.#observers.failed(error)
  }
}
