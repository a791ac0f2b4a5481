// What a working engine does for the whole ledger, beside its own runs: it gives signs of life, takes up what lost engines left,
// fires timers, and removes what is older than the retention.
import type { PurgePosition } from '../ledger/ledger.ts'
import { renewInstance } from '../steps/admit.ts'
import { purge } from '../steps/purge.ts'
import { dueAfter } from '../steps/step-context.ts'
import { fireTimers } from '../steps/timers.ts'
import type { EngineHost } from './engine-host.ts'
import { recoverDead } from './recovery.ts'
import type { SlotHost } from './run-slot.ts'

export interface MaintenanceHost extends EngineHost, Pick<SlotHost, 'retryOf'> {
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

type Chore = 'give signs of life' | 'look around' | 'fire timers' | 'purge'

export class Maintenance {
  readonly #host: MaintenanceHost
  readonly #timers = new Map<Chore, unknown>()
  #working = false
  #ended = false
  #looking: Promise<void> | undefined
  /** Until then engines that were held up with this one (the machine slept, the clock was set) have time for a sign of life. */
  #judgeLeasesFrom = 0
  #beating = false
  #beatDue = false
  #firing = false

  constructor(host: MaintenanceHost) {
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
    this.#released('fire timers')
    if (dueAt === undefined || !this.#working || this.#firing) return
    const leftMs = dueAt - this.#host.clock.now()
    if (leftMs <= 0) void this.#fireTimers()
    else this.#later('fire timers', leftMs, () => void this.#fireTimers())
  }

  /** Stops looking around; the signs of life go on until `end`, because runs may still be open. */
  async stop(): Promise<void> {
    this.#working = false
    this.#released('look around', 'fire timers', 'purge')
    await this.#looking
  }

  /** Nothing more is written. */
  end(): void {
    this.#working = false
    this.#ended = true
    this.#beatDue = false
    this.#released(...this.#timers.keys())
  }

  #later(chore: Chore, inMs: number, work: () => void): void {
    this.#timers.set(chore, this.#host.clock.setTimeout(work, inMs))
  }

  #released(...chores: Chore[]): void {
    for (const chore of chores) this.#host.clock.clearTimeout(this.#timers.get(chore))
  }

  /** What fails is tried again when its time has come again. */
  async #try<R>(work: () => Promise<R>, doing: string, context = {}): Promise<R | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!this.#ended) this.#host.report(error, { doing, ...context })
      return undefined
    }
  }

  // ── signs of life ──

  #beatLater(): void {
    this.#later('give signs of life', this.#host.leaseMs / 3, () => {
      this.#beatLater()
      void this.#beat()
    })
  }

  /** One at a time: what falls due meanwhile is one more sign afterwards, however long the clock was ahead. */
  async #beat(): Promise<void> {
    this.#beatDue = true
    if (this.#beating) return
    this.#beating = true
    const { ledger, instanceId, leaseMs, stepContext, enlisted } = this.#host
    while (this.#beatDue) {
      this.#beatDue = false
      const instance = enlisted(dueAfter(stepContext().at, leaseMs))
      const sign = () => ledger.step({ name: 'sign of life', decide: (tx) => renewInstance(tx, instance) })
      await this.#try(sign, 'give a sign of life', { instance: instanceId })
    }
    this.#beating = false
  }

  // ── recovery ──

  #lookAgainLater(): void {
    const { clock, looked } = this.#host
    const dueAt = clock.now() + lookEveryMs
    this.#later('look around', lookEveryMs, () => {
      if (!this.#working) return
      if (clock.now() - dueAt >= heldUpMs) this.#showUp()
      // A recovery may have to wait for a command to end: timers and admission do not.
      void this.#look()
      looked()
      queueMicrotask(() => {
        if (this.#working) this.#lookAgainLater()
      })
    })
  }

  /** Held up, and awake again: gives a sign of life at once, and the other engines as long as theirs take at most. */
  #showUp(): void {
    const { clock, leaseMs } = this.#host
    this.#judgeLeasesFrom = clock.now() + leaseMs / 3 + lookEveryMs
    void this.#beat()
  }

  #look(): Promise<void> {
    this.#looking ??= this.#try(() => this.#recover(), 'recover').finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #recover(): Promise<void> {
    const { clock, leaseMs } = this.#host
    // A clock that was set forward and back again must not put off the judging of leases until then.
    this.#judgeLeasesFrom = Math.min(this.#judgeLeasesFrom, clock.now() + leaseMs / 3 + lookEveryMs)
    await recoverDead({ ...this.#host, mayJudgeLeases: clock.now() >= this.#judgeLeasesFrom })
  }

  // ── timers ──

  async #fireTimers(): Promise<void> {
    if (!this.#working || this.#firing) return
    const { ledger, stepContext, chance, retryOf, executors, looked } = this.#host
    this.#firing = true
    const stepNow = () => fireTimers({ ...stepContext(), chance: chance(), retryOf, executors: [...executors.keys()] })
    const fired = await this.#try(() => ledger.step(stepNow()), 'fire timers')
    this.#firing = false
    // Where another engine was faster, or the ledger refused, the next look around is soon enough.
    if (fired) looked()
  }

  // ── retention ──

  #purgeLater(inMs: number): void {
    const { retentionMs = purgeEveryMs } = this.#host
    this.#later('purge', inMs, () => {
      void this.#try(() => this.#purgeOld(), 'purge what is older than the retention').then(() => {
        if (this.#working) this.#purgeLater(Math.min(purgeEveryMs, Math.max(lookEveryMs, retentionMs)))
      })
    })
  }

  async #purgeOld(): Promise<void> {
    const { ledger, clock, retentionMs = Infinity } = this.#host
    const before = clock.now() - retentionMs
    const ended = clock.now() - instancesKeptMs
    await ledger.step({ name: 'forget instances', decide: (tx) => tx.instance.forget(ended) })
    let tasks = 0
    for (let after: PurgePosition | undefined; this.#working && before > 0; ) {
      const purged = await ledger.step(purge(before, after))
      tasks += purged.tasks
      if (purged.next === undefined) break
      after = purged.next
    }
    if (tasks > 0) this.#host.purged()
  }
}
