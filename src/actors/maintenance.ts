// What a working engine does for the whole ledger, beside its own runs: renews its lease, takes over what lost engines
// left, fires timers, and removes what is older than the retention.
import { Rounds } from '../core/turns.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Lease } from '../ledger/ledger.ts'
import { dueAfter } from '../operations/steps/step-context.ts'
import { fireTimers } from '../operations/steps/timers.ts'
import type { EngineHost } from './engine-host.ts'
import { finishPurge, type PurgeHost, purgeFamilies } from './purge-families.ts'
import { recoverDead } from './recovery.ts'
import type { SlotHost } from './run-slot.ts'

export interface MaintenanceHost extends EngineHost, Pick<SlotHost, 'retryOf'> {
  timeoutOf(task: TaskRecord): number | undefined
  /** Called at each check: the supervisor then reads what is due and what is ready. */
  checked(): void
  /** The lease of this engine could not be renewed and is soon over, or it is renewed again. */
  leaseOver(isOver: boolean): void
  /** Called when families have been purged: no event reports it. */
  purged(): void
}

/** Interval at which dead engines are detected and due timers read, so that a jump of the clock is noticed quickly. */
const checkIntervalMs = 200
/** A check later than this was delayed, and other engines perhaps too: leases are not judged for a while. */
const delayedMs = 3 * checkIntervalMs
/** Minimum interval between two purges. */
const purgeIntervalMs = 60_000
/** How long the row of an ended engine is kept, for people. */
const instancesKeptMs = 24 * 60 * 60_000

type Chore = 'heartbeat' | 'check' | 'fire timers' | 'purge'

export class Maintenance {
  readonly #host: MaintenanceHost
  readonly #timers = new Map<Chore, unknown>()
  #working = false
  #ended = false
  #recovering: Promise<void> | undefined
  /**
   * Until then, engines delayed together with this one (the machine slept, the clock was set) have time to renew their
   * leases.
   */
  #judgeLeasesFrom = 0
  /** Where the ledger renews the lease. */
  #lease: Lease | undefined
  /** Renewals that fall due during another become one more afterwards, however far the clock jumped. */
  readonly #beats = new Rounds(() => this.#beat())
  #firing = false

  constructor(host: MaintenanceHost) {
    this.#host = host
  }

  /** Recovers first, then starts the timers. */
  async begin(): Promise<void> {
    this.#working = true
    // Dead engines are recovered at once. Silent ones get one interval: perhaps the machine has slept, and all have
    // just woken.
    this.#judgeLeasesFrom = this.#host.clock.now() + checkIntervalMs
    this.#lease = this.#keptByLedger()
    await this.#startRecovery()
    if (this.#ended) return
    this.#checkLater()
    if (this.#lease === undefined) this.#beatLater()
    this.#purgeLater(0)
  }

  /** Arms the timer for the next due time in the ledger; undefined: none. */
  arm(dueAt: number | undefined): void {
    this.#clear('fire timers')
    if (dueAt === undefined || !this.#working || this.#firing) return
    const leftMs = dueAt - this.#host.clock.now()
    if (leftMs <= 0) void this.#fireTimers()
    else this.#later('fire timers', leftMs, () => void this.#fireTimers())
  }

  /** Stops the checks; heartbeats go on until `end`, because runs may still be open. */
  async stop(): Promise<void> {
    this.#working = false
    this.#clear('check', 'fire timers', 'purge')
    await this.#recovering
  }

  /** Stops everything. Resolves when nothing more is written. */
  async end(): Promise<void> {
    this.#working = false
    this.#ended = true
    this.#clear(...this.#timers.keys())
    await this.#lease?.end()
  }

  /** Whether others take this engine for alive without a step that renews its lease. */
  get isLeaseCertain(): boolean {
    return this.#lease?.isCertain ?? false
  }

  #later(chore: Chore, inMs: number, work: () => void): void {
    this.#timers.set(chore, this.#host.clock.setTimeout(work, inMs, chore !== 'fire timers'))
  }

  #clear(...chores: Chore[]): void {
    for (const chore of chores) this.#host.clock.clearTimeout(this.#timers.get(chore))
  }

  /** Reports an error; the next interval retries. */
  async #try<R>(work: () => Promise<R>, doing: string, context = {}): Promise<R | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!this.#ended) this.#host.report(error, { doing, ...context })
      return undefined
    }
  }

  // ── heartbeats ──

  #keptByLedger(): Lease | undefined {
    const { ledger, instanceId, leaseMs, stepContext, instanceRow, leaseOver, report } = this.#host
    return ledger.keepLease?.(instanceRow(dueAfter(stepContext().at, leaseMs)), leaseMs, {
      lapsed: () => leaseOver(true),
      renewed: () => leaseOver(false),
      report: (error) => report(error, { doing: 'renew the lease', instance: instanceId }),
    })
  }

  #beatLater(): void {
    this.#later('heartbeat', this.#host.leaseMs / 3, () => {
      this.#beatLater()
      void this.#beats.ask()
    })
  }

  async #beat(): Promise<void> {
    if (this.#ended) return
    const { ledger, instanceId, leaseMs, stepContext, instanceRow } = this.#host
    const instance = instanceRow(dueAfter(stepContext().at, leaseMs))
    const renew = () => ledger.step({ name: 'renew instance', decide: (tx) => tx.instance.renew(instance) })
    await this.#try(renew, 'renew the lease', { instance: instanceId })
  }

  // ── recovery ──

  #checkLater(): void {
    const { clock, checked } = this.#host
    const dueAt = clock.now() + checkIntervalMs
    this.#later('check', checkIntervalMs, () => {
      if (!this.#working) return
      if (clock.now() - dueAt >= delayedMs) this.#renewAfterDelay()
      // A recovery may wait for a command to end; timers and admission do not.
      void this.#startRecovery()
      checked()
      queueMicrotask(() => {
        if (this.#working) this.#checkLater()
      })
    })
  }

  /** After a delay: renews the own lease at once, and gives the other engines the time of one renewal. */
  #renewAfterDelay(): void {
    const { clock, leaseMs } = this.#host
    this.#judgeLeasesFrom = clock.now() + leaseMs / 3 + checkIntervalMs
    if (this.#lease === undefined) void this.#beats.ask()
  }

  #startRecovery(): Promise<void> {
    this.#recovering ??= this.#try(() => this.#recover(), 'recover').finally(() => {
      this.#recovering = undefined
    })
    return this.#recovering
  }

  async #recover(): Promise<void> {
    const { clock, leaseMs } = this.#host
    // A clock that was set forward and back again must not put off the judging of leases.
    this.#judgeLeasesFrom = Math.min(this.#judgeLeasesFrom, clock.now() + leaseMs / 3 + checkIntervalMs)
    await recoverDead({ ...this.#host, mayJudgeLeases: clock.now() >= this.#judgeLeasesFrom })
  }

  // ── timers ──

  async #fireTimers(): Promise<void> {
    if (!this.#working || this.#firing) return
    const { ledger, stepContext, chance, retryOf, timeoutOf, executors, checked, fireSchedules } = this.#host
    this.#firing = true
    const stepNow = () =>
      fireTimers({ ...stepContext(), chance: chance(), retryOf, timeoutOf, executors: [...executors.keys()] })
    const fired = await Promise.all([
      this.#try(() => ledger.step(stepNow()), 'fire timers'),
      this.#try(fireSchedules, 'fire schedules'),
    ])
    this.#firing = false
    // If another engine was faster or the ledger refused, the next check is soon enough.
    if (fired.some(Boolean)) checked()
  }

  // ── retention ──

  #purgeLater(inMs: number): void {
    const { retentionMs = purgeIntervalMs } = this.#host
    this.#later('purge', inMs, () => {
      void this.#try(() => this.#purgeOld(), 'purge what is older than the retention').then(() => {
        if (this.#working) this.#purgeLater(Math.min(purgeIntervalMs, Math.max(checkIntervalMs, retentionMs)))
      })
    })
  }

  async #purgeOld(): Promise<void> {
    const { ledger, clock, retentionMs = Infinity } = this.#host
    const before = clock.now() - retentionMs
    const ended = clock.now() - instancesKeptMs
    await ledger.step({ name: 'forget instances', decide: (tx) => tx.instance.forget(ended) })
    const purgeHost: PurgeHost = {
      clock,
      read: (query) => ledger.read(query),
      step: (step) => ledger.step(step),
      mayGoOn: () => this.#working,
    }
    // Without a retention too: another engine may have left a purge unfinished.
    const finished = await finishPurge(purgeHost)
    const { tasks } = before > 0 ? await purgeFamilies(purgeHost, before) : { tasks: 0 }
    if (finished || tasks > 0) this.#host.purged()
  }
}
