// The divergence guard of a live run (the verdicts are in machines/divergence.ts). A call that is not in the journal is
// held while completed entries have not been requested again. A held call is not in flight: the run can be suspended,
// paused or closed.
import type { Clock } from '../core/clock.ts'
import type { ErrandError } from '../core/errors.ts'
import type { CallRecord } from '../entities/call.ts'
import type { OnInterrupt } from '../entities/task-fields.ts'
import {
  callDiverged,
  type Divergence,
  defaultDivergenceWaitMs,
  divergenceTicks,
  quietTicksAfter,
  verdictOn,
} from '../machines/divergence.ts'
import type { RunJournal } from '../machines/run-journal.ts'
import type { RunRef } from '../operations/steps/journal.ts'
import { type CallScope, type EntryDescription, executing } from './call-scope.ts'

/** What the guard reads of its run. */
interface GuardedRun {
  readonly ref: RunRef
  readonly host: { readonly clock: Clock }
  readonly journal: RunJournal
  readonly ended: ErrandError | undefined
  /** Amount of work in flight; held calls do not count. */
  readonly inFlight: number
  readonly isWaiting: boolean
}

interface HeldCall {
  entry: EntryDescription
  release(): void
  reject(reason: ErrandError): void
}

export class DivergenceGuard {
  readonly #run: GuardedRun
  readonly #allowed: Divergence | undefined
  readonly #tickMs: number
  readonly #held = new Set<HeldCall>()
  #timer: unknown
  #quietTicks = 0
  #asked = false
  #busy = false

  constructor(run: GuardedRun, divergence: Divergence | undefined, waitMs: number = defaultDivergenceWaitMs) {
    this.#run = run
    this.#allowed = divergence
    this.#tickMs = waitMs / divergenceTicks
  }

  /**
   * Resolves when a call or a spawn that is not in the journal may be made: to the entries that it leaves behind, which
   * an event reports. @throws ErrandError CALL_DIVERGED, RUN_ENDED
   */
  async pass(
    entry: EntryDescription,
    onInterrupt: OnInterrupt,
    divergence: Divergence | undefined = this.#allowed,
  ): Promise<CallRecord[]> {
    for (;;) {
      const { journal } = this.#run
      const left = [...journal.excused, ...journal.equalsInside(entry.kind, entry.name, entry.ident)]
      const { isStanding: standing } = journal
      switch (verdictOn({ known: false, onInterrupt, divergence, standing, excused: left.length > 0 })) {
        case 'make':
          return []
        case 'report':
          return [...journal.standing, ...left]
        case 'hold':
          await this.#hold(entry)
      }
    }
  }

  /** The calls from which held calls were made; null for the executor itself. */
  get heldIn(): Array<CallScope | null> {
    return Array.from(this.#held, ({ entry }) => entry.scope)
  }

  /** The run requests something. */
  asked(): void {
    this.#asked = true
  }

  /** Work of the run has just ended. */
  settled(): void {
    this.#busy = true
  }

  /** Fewer completed entries are outstanding: releases the held calls when none is left. */
  releaseIfDone(): void {
    if (this.#held.size === 0 || this.#run.journal.isStanding) return
    for (const held of this.#take()) held.release()
  }

  /** The run has ended: rejects the held calls. */
  end(): void {
    if (this.#held.size === 0) return
    for (const held of this.#take()) held.reject(this.#run.ended as ErrandError)
  }

  #hold(entry: EntryDescription): Promise<void> {
    return new Promise<void>((release, reject) => {
      const { ended } = this.#run
      if (ended) return reject(ended)
      this.#held.add({ entry, release, reject })
      if (this.#held.size > 1) return
      this.#quietTicks = 0
      this.#asked = false
      this.#await()
    })
  }

  /** Removes and returns all held calls. */
  #take(): HeldCall[] {
    const held = [...this.#held]
    this.#held.clear()
    this.#run.host.clock.clearTimeout(this.#timer)
    return held
  }

  #await(): void {
    this.#timer = this.#run.host.clock.setTimeout(() => this.#tick(), this.#tickMs)
  }

  #tick(): void {
    this.#quietTicks = quietTicksAfter(this.#quietTicks, { asked: this.#asked, busy: this.#busy || this.#isBusy })
    this.#asked = false
    this.#busy = false
    if (this.#quietTicks < divergenceTicks) this.#await()
    else this.#refuse()
  }

  #refuse(): void {
    const { ref, journal } = this.#run
    const { standing } = journal
    for (const { entry, reject } of this.#take()) {
      reject(callDiverged({ ...ref, ...entry, kind: entry.kind as 'call' | 'spawn' }, standing))
    }
  }

  /** Whether the run does work that may lead to more requests; a call that waits for a held one does not count. */
  get #isBusy(): boolean {
    const waiting = executing(this.heldIn)
    // An open wait ends the run as soon as nothing is in flight; a waiting call is in flight, and would keep the run
    // open.
    return this.#run.inFlight > waiting.size || (waiting.size === 0 && this.#run.isWaiting)
  }
}
