// What a working engine does for the whole ledger, beside its own runs: it gives signs of life, takes up what lost engines left,
// fires timers, and removes what is older than the retention.
import type { PurgePosition } from '../ledger/ledger.ts'
import { dueAfter } from '../steps/moment.ts'
import { purge } from '../steps/purge.ts'
import { signOfLife } from '../steps/sign-of-life.ts'
import { fireTimers } from '../steps/timers.ts'
import type { EngineHost } from './engine-host.ts'
import { type RecoveryHost, recoverDead } from './recovery.ts'
import type { SlotHost } from './run-slot.ts'

export interface CaretakerHost
  extends Omit<RecoveryHost, 'mayJudgeLeases'>,
    Pick<EngineHost, 'clock' | 'executors' | 'leaseMs' | 'retentionMs' | 'chance' | 'enlisted'>,
    Pick<SlotHost, 'retryOf'> {
  /** Called at each look around: the supervisor reads what is due and what is ready at the latest now. */
  looked(): void
  /** Called when families have left the ledger by the retention: no event tells of it. */
  purged(): void
}

/** How often the dead are looked for, and what is due is read again: so a jump of the clock is noticed at once. */
const lookEveryMs = 200
/** A look that comes later than this was held up, and other engines perhaps too: leases are not judged for a while. */
const heldUpMs = 3 * lookEveryMs
/** How often old families and instances are looked for, at most. */
const purgeEveryMs = 60_000
/** For so long the row of an engine that has ended is kept, for people. */
const instancesKeptMs = 24 * 60 * 60_000

export class Caretaker {
  readonly #host: CaretakerHost
  #working = false
  #timer: unknown
  #firing = false
  #looking: Promise<void> | undefined
  #lookTimer: unknown
  #lookDueAt = 0
  /** Until then engines that were held up with this one (the machine slept, the clock was set) have time for a sign of life. */
  #judgeLeasesFrom = 0
  #ended = false
  #beatTimer: unknown
  #beating = false
  #beatDue = false
  #purgeTimer: unknown

  constructor(host: CaretakerHost) {
    this.#host = host
  }

  /** Takes up what is there, then watches. */
  async begin(): Promise<void> {
    this.#working = true
    // The dead are taken up at once. Who is only silent gets one look's time: perhaps the machine has slept, and all just woke.
    this.#judgeLeasesFrom = this.#host.clock.now() + lookEveryMs
    await this.#look()
    this.#lookAgainLater()
    this.#beatLater()
    this.#purgeLater(0)
  }

  /** When the next timer is due, as the ledger says now; undefined without one. */
  arm(dueAt: number | undefined): void {
    const { clock } = this.#host
    clock.clearTimeout(this.#timer)
    this.#timer = undefined
    if (dueAt === undefined || !this.#working || this.#firing) return
    const leftMs = dueAt - clock.now()
    if (leftMs <= 0) void this.#fireTimers()
    else this.#timer = clock.setTimeout(() => void this.#fireTimers(), leftMs)
  }

  /** Stops looking around; the signs of life go on until `end`, because runs may still be open. */
  async stop(): Promise<void> {
    this.#working = false
    for (const timer of [this.#timer, this.#lookTimer, this.#purgeTimer]) this.#host.clock.clearTimeout(timer)
    await this.#looking
  }

  /** Nothing more is written. */
  end(): void {
    this.#working = false
    this.#ended = true
    this.#beatDue = false
    const timers = [this.#timer, this.#lookTimer, this.#beatTimer, this.#purgeTimer]
    for (const timer of timers) this.#host.clock.clearTimeout(timer)
  }

  // ── signs of life ──

  #beatLater(): void {
    const { clock, leaseMs } = this.#host
    this.#beatTimer = clock.setTimeout(() => {
      this.#beatLater()
      void this.#beat()
    }, leaseMs / 3)
  }

  /** One at a time: what falls due meanwhile is one more sign afterwards, however long the clock was ahead. */
  async #beat(): Promise<void> {
    this.#beatDue = true
    if (this.#beating) return
    this.#beating = true
    const { ledger, instanceId, leaseMs, moment, enlisted, report } = this.#host
    while (this.#beatDue) {
      this.#beatDue = false
      const instance = enlisted(dueAfter(moment().at, leaseMs))
      try {
        await ledger.step({ name: 'sign of life', decide: (tx) => signOfLife(tx, instance) })
      } catch (error) {
        if (!this.#ended) report(error, { doing: 'give a sign of life', instance: instanceId })
      }
    }
    this.#beating = false
  }

  // ── recovery ──

  #lookAgainLater(): void {
    const { clock, looked } = this.#host
    this.#lookDueAt = clock.now() + lookEveryMs
    this.#lookTimer = clock.setTimeout(() => {
      if (!this.#working) return
      if (clock.now() - this.#lookDueAt >= heldUpMs) this.#showUp()
      // A recovery may have to wait for a command to end: timers and admission do not.
      void this.#look()
      looked()
      queueMicrotask(() => {
        if (this.#working) this.#lookAgainLater()
      })
    }, lookEveryMs)
  }

  /** Held up, and awake again: gives a sign of life at once, and the other engines as long as theirs take at most. */
  #showUp(): void {
    const { clock, leaseMs } = this.#host
    this.#judgeLeasesFrom = clock.now() + leaseMs / 3 + lookEveryMs
    void this.#beat()
  }

  #look(): Promise<void> {
    this.#looking ??= this.#recover().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #recover(): Promise<void> {
    const { clock, leaseMs, report } = this.#host
    // A clock that was set forward and back again must not put off the judging of leases until then.
    this.#judgeLeasesFrom = Math.min(this.#judgeLeasesFrom, clock.now() + leaseMs / 3 + lookEveryMs)
    try {
      await recoverDead({ ...this.#host, mayJudgeLeases: clock.now() >= this.#judgeLeasesFrom })
    } catch (error) {
      if (!this.#ended) report(error, { doing: 'recover' })
    }
  }

  // ── timers ──

  async #fireTimers(): Promise<void> {
    if (!this.#working || this.#firing) return
    const { ledger, moment, chance, retryOf, executors, report, looked } = this.#host
    this.#firing = true
    let fired = 0
    try {
      fired = await ledger.step(
        fireTimers({ ...moment(), chance: chance(), retryOf, executors: [...executors.keys()] }),
      )
    } catch (error) {
      if (!this.#ended) report(error, { doing: 'fire timers' })
    }
    this.#firing = false
    // Where another engine was faster, or the ledger refused, the next look around is soon enough.
    if (fired > 0) looked()
  }

  // ── retention ──

  #purgeLater(inMs: number): void {
    const { clock, retentionMs = purgeEveryMs } = this.#host
    this.#purgeTimer = clock.setTimeout(() => {
      void this.#purgeOld().then(() => {
        if (this.#working) this.#purgeLater(Math.min(purgeEveryMs, Math.max(lookEveryMs, retentionMs)))
      })
    }, inMs)
  }

  async #purgeOld(): Promise<void> {
    const { ledger, clock, retentionMs = Infinity, report } = this.#host
    const before = clock.now() - retentionMs
    let tasks = 0
    try {
      const ended = clock.now() - instancesKeptMs
      await ledger.step({ name: 'forget instances', decide: (tx) => tx.instance.forget(ended) })
      for (let after: PurgePosition | undefined; this.#working && before > 0; ) {
        const purged = await ledger.step(purge(before, after))
        tasks += purged.tasks
        if (purged.next === undefined) break
        after = purged.next
      }
      if (tasks > 0) this.#host.purged()
    } catch (error) {
      if (!this.#ended) report(error, { doing: 'purge what is older than the retention' })
    }
  }
}
