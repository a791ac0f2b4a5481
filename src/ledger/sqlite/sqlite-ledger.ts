// The ledger on SQLite, from its opening to its closing: steps are queued for the writer, reads have a snapshot each.
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { Reader } from '../../bus/read-principal.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { createRandomIds } from '../../core/ids.ts'
import { inNextTurn } from '../../core/turns.ts'
import { GroupCommit, LedgerObservers } from '../group-commit.ts'
import type { Ledger, LedgerObserver, Life, Op, Reads, Step, Tx } from '../ledger.ts'
import { noteOpenLedger } from '../open-files.ts'
import { startWorker } from '../start-worker.ts'
import { tablesOf } from '../tables/tables.ts'
import { type Connection, sqliteCode, unavailable } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { FilePlace } from './file-place.ts'
import { createInstanceLocks, type InstanceLocks } from './instance-lock.ts'
import { LongReads, readAtOnce, readWhole } from './long-reads.ts'
import { busyTimeoutMs, openFile } from './open-file.ts'
import { quickCheck } from './quick-check.ts'
import { SqliteWriter } from './writer.ts'

/** How often commits of other processes are looked for: a pragma that takes two microseconds. */
const watchEveryMs = 20

/**
 * Opens a ledger in a file or in memory.
 * @throws ErrandError LEDGER_FOREIGN, LEDGER_VERSION, LEDGER_CORRUPT, LEDGER_BUSY, LEDGER_UNAVAILABLE, UNSUPPORTED_RUNTIME
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

class SqliteLedger implements Ledger {
  readonly name: string
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #tx: Tx
  readonly #commits: GroupCommit
  readonly #locks: InstanceLocks
  /** Undefined for a ledger in memory, which has one connection: there a long read runs to its end at once. */
  readonly #longReads: LongReads | undefined
  readonly #place: FilePlace | undefined
  readonly #observers = new LedgerObservers()
  /** The version at which observers were last notified of commits of other processes. */
  #dataVersion: unknown
  #watch: unknown
  #checker: Worker | undefined
  readonly #notOpen: () => void
  #failure: unknown
  #closing: Promise<void> | undefined
  #closed = false

  constructor(name: string, connection: Connection, clock: Clock, random: () => number) {
    this.name = name
    this.#connection = connection
    this.#clock = clock
    this.#tx = tablesOf(sqliteDialect)
    this.#place = name === ':memory:' ? undefined : new FilePlace(name)
    const writer = new SqliteWriter(name, connection, this.#tx, () => this.#requirePlace())
    this.#commits = new GroupCommit(writer, this.#observers, clock, random)
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
    if (this.#failure !== undefined) throw this.#failure
    reader.signal?.throwIfAborted()
    try {
      // One snapshot for all statements of the query: without a transaction each would see a later state than the one before.
      this.#connection.begin('begin')
      try {
        if (this.#longReads === undefined) return readWhole(this.#connection, query(this.#tx))
        const read = readAtOnce(this.#connection, query(this.#tx), this.#clock)
        if (read !== undefined) return read.value
      } finally {
        this.#connection.rollback()
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
    if (worker === undefined) inNextTurn(() => this.#checkHere())
    this.#checker = worker
    worker?.once('message', (damage: string | null) => {
      if (damage !== null) this.#fail(new ErrandError('LEDGER_CORRUPT', damage, { path: this.name }))
    })
    worker?.once('error', (error) => this.#fail(unavailable(error, this.name, 'read')))
  }

  /** Without the thread, in the bundle of an application: other work waits for it. */
  #checkHere(): void {
    try {
      if (!this.#closed) quickCheck(this.#connection)
    } catch (error) {
      this.#fail(error)
    }
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
      let version: unknown
      try {
        this.#requirePlace()
      } catch {
        // The observers have been notified, and nothing more will be read.
        this.#watch = undefined
        return
      }
      this.#watch = this.#clock.setTimeout(look, watchEveryMs)
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

  #requirePlace(): void {
    try {
      this.#place?.requireUnchanged()
    } catch (error) {
      if (this.#failure === undefined) this.#fail(error)
      throw error
    }
  }

  #fail(error: unknown): void {
    this.#failure = error
    this.#observers.failed(error)
  }
}
