// The ledger on SQLite: steps run synchronously inside one transaction per group; nothing is ever awaited in between.
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
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
import type { AnyStep, Ledger, LedgerObserver, Op, Step, Tx } from '../../ledger.ts'
import type { Request } from '../../statement.ts'
import { createTables } from '../../tables/tables.ts'
import { type Connection, isBusy, sqliteCode, translate } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { createInstanceLocks, type InstanceLocks } from './instance-lock.ts'
import { openFile } from './open-file.ts'

/** How often another process's commit is looked for: one pragma of two microseconds. */
const watchEveryMs = 20

/**
 * Opens a ledger in a file or in memory.
 * @throws ErrandError LEDGER_FOREIGN, LEDGER_NEWER, LEDGER_CORRUPT, LEDGER_BUSY, LEDGER_UNAVAILABLE, UNSUPPORTED_RUNTIME
 */
export async function openSqliteLedger(path: string, clock: Clock = systemClock): Promise<Ledger> {
  const name = path === ':memory:' ? path : resolve(path)
  const { random } = createRandomIds()
  const { connection, checkLater } = await openFile(name, clock, random)
  // Two ways to one file (a symbolic link) must lead to the same instance locks.
  const ledger = new SqliteLedger(name === ':memory:' ? name : realpathSync(name), connection, clock, random)
  if (checkLater) ledger.checkInBackground()
  return ledger
}

class SqliteLedger implements Ledger, GroupRunner {
  readonly name: string
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #tx: Tx
  readonly #commits: GroupCommit
  readonly #locks: InstanceLocks
  readonly #observers = new Map<LedgerObserver, { watchOthers: boolean }>()
  /** Undefined where a set statement wrote events that have not been seen: they are read from the table. */
  #appended: Array<TaskEvent | undefined> = []
  /** A commit failed, so its events may be in the ledger all the same. */
  #inDoubt = false
  #dataVersion: unknown
  #watch: unknown
  #checker: Worker | undefined
  #failure: unknown
  #closed = false

  constructor(name: string, connection: Connection, clock: Clock, random: () => number) {
    this.name = name
    this.#connection = connection
    this.#clock = clock
    this.#tx = createTables(sqliteDialect, (event) => this.#appended.push(event))
    this.#commits = new GroupCommit(this, clock, random)
    this.#locks = createInstanceLocks(name)
    this.#dataVersion = connection.dataVersion()
  }

  step<L, D, R>(step: Step<L, D, R>): Promise<R> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return this.#commits.add(step)
  }

  async read<R>(query: (tx: Tx) => Op<R>): Promise<R> {
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'The ledger is closed; open it again to read.')
    try {
      return this.#drive(query(this.#tx))
    } catch (error) {
      throw translate(error, this.name)
    }
  }

  async enlist(instanceId: string): Promise<void> {
    this.#locks.hold(instanceId)
  }

  isAlive(instanceId: string): boolean {
    return this.#locks.isHeld(instanceId)
  }

  discharge(instanceId: string): void {
    this.#locks.release(instanceId)
  }

  observe(observer: LedgerObserver, options: { watchOthers: boolean }): () => void {
    this.#observers.set(observer, options)
    this.#watchOthers()
    return () => {
      this.#observers.delete(observer)
      this.#watchOthers()
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    await this.#commits.close()
    this.#closed = true
    this.#observers.clear()
    this.#watchOthers()
    await this.#checker?.terminate()
    this.#locks.releaseAll()
    try {
      // Leaves one file behind when nobody else has it open; when somebody has, it is theirs to do.
      if (this.name !== ':memory:') this.#connection.pragma('wal_checkpoint(truncate)')
    } catch (error) {
      if (sqliteCode(error) === undefined) throw error
    }
    this.#connection.close()
  }

  /** A large file is checked beside the work; damage stops everything that is built on it. */
  checkInBackground(): void {
    const file = import.meta.url.endsWith('.ts') ? './quick-check-worker.ts' : './quick-check-worker.js'
    const worker = new Worker(new URL(file, import.meta.url), { workerData: this.name })
    worker.unref()
    this.#checker = worker
    worker.once('message', (damage: string | null) => {
      if (damage !== null) this.#fail(new ErrandError('LEDGER_CORRUPT', damage, { path: this.name }))
    })
    worker.once('error', (error) => this.#fail(error))
  }

  // ── GroupRunner ──

  runGroup(group: readonly QueuedStep[]): StepOutcome[] {
    // Judges are pure, so a group whose writes failed is simply run again, then with a savepoint around each step:
    // the common case pays for none, and a step that the tables refuse still falls alone.
    return this.#tryGroup(group, false) ?? (this.#tryGroup(group, true) as StepOutcome[])
  }

  committed(): void {
    if (this.#inDoubt) {
      this.#inDoubt = false
      for (const observer of this.#observers.keys()) observer.stirred()
    }
    if (this.#appended.length === 0) return
    const events = this.#appended.filter((event) => event !== undefined)
    const seen = events.length === this.#appended.length
    this.#appended = []
    for (const observer of this.#observers.keys()) {
      if (seen) observer.committed(events)
      else observer.stirred()
    }
  }

  #tryGroup(group: readonly QueuedStep[], savepoints: boolean): StepOutcome[] | undefined {
    this.#appended = []
    this.#begin()
    const outcomes: StepOutcome[] = []
    for (const { step } of group) {
      const outcome = savepoints ? this.#runStepApart(step) : this.#runStep(step)
      if (outcome === undefined) {
        this.#rollback()
        return undefined
      }
      outcomes.push(outcome)
    }
    this.#commit()
    return outcomes
  }

  #begin(): void {
    try {
      this.#connection.execute('begin immediate')
    } catch (error) {
      if (isBusy(error)) throw new LedgerBusy()
      throw translate(error, this.name)
    }
  }

  #commit(): void {
    try {
      this.#connection.execute('commit')
    } catch (error) {
      this.#rollback()
      this.#inDoubt = true
      throw new CommitFailed(error instanceof Error ? error.message : String(error), { cause: error })
    }
  }

  #rollback(): void {
    this.#appended = []
    // A full disk or an I/O error has rolled back by itself.
    if (this.#connection.inTransaction) this.#connection.execute('rollback')
  }

  /** Undefined when a write failed: the whole group must be taken back, because the step may have written half. */
  #runStep(step: AnyStep): StepOutcome | undefined {
    let decision: unknown
    try {
      decision = step.judge(this.#drive(step.load(this.#tx)))
    } catch (error) {
      if (sqliteCode(error) !== undefined) return undefined
      return { ok: false, error }
    }
    try {
      return { ok: true, value: this.#drive(step.write(this.#tx, decision)) }
    } catch {
      return undefined
    }
  }

  #runStepApart(step: AnyStep): StepOutcome {
    const before = this.#appended.length
    this.#connection.execute('savepoint step')
    try {
      const decision: unknown = step.judge(this.#drive(step.load(this.#tx)))
      const value = this.#drive(step.write(this.#tx, decision))
      this.#connection.execute('release step')
      return { ok: true, value }
    } catch (error) {
      if (!this.#connection.inTransaction) throw translate(error, this.name)
      this.#connection.execute('rollback to step')
      this.#connection.execute('release step')
      this.#appended.length = before
      return { ok: false, error: this.#refusal(step, error) }
    }
  }

  #refusal(step: AnyStep, error: unknown): unknown {
    const translated = translate(error, this.name)
    const code = sqliteCode(translated)
    if (code === undefined) return translated
    return new ErrandError(
      'LEDGER_WRITE_FAILED',
      `The ledger refused the step "${step.name}" (${(translated as Error).message}). Nothing of it was kept.`,
      { step: step.name, sqlite: code },
      translated,
    )
  }

  #drive<R>(op: Op<R>): R {
    let next = op.next()
    while (!next.done) {
      let reply: unknown
      try {
        reply = this.#connection.run(next.value as Request)
      } catch (error) {
        next = op.throw(error)
        continue
      }
      next = op.next(reply)
    }
    return next.value
  }

  #watchOthers(): void {
    const wanted =
      !this.#closed && this.name !== ':memory:' && [...this.#observers.values()].some((each) => each.watchOthers)
    if (!wanted) {
      if (this.#watch !== undefined) this.#clock.clearTimeout(this.#watch)
      this.#watch = undefined
      return
    }
    if (this.#watch !== undefined) return
    const look = (): void => {
      this.#watch = this.#clock.setTimeout(look, watchEveryMs)
      const version = this.#connection.dataVersion()
      if (version === this.#dataVersion) return
      this.#dataVersion = version
      for (const [observer, { watchOthers }] of this.#observers) if (watchOthers) observer.stirred()
    }
    this.#watch = this.#clock.setTimeout(look, 0)
  }

  #fail(error: unknown): void {
    this.#failure = error
    for (const observer of this.#observers.keys()) observer.failed(error)
  }
}
