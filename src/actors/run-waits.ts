// The waits of a live run: questions, other tasks, time. When nothing of the run is in flight and it only waits, it ends; a
// later run goes on from the journal. A wait that is over while the run still lives goes on in place.
import type { CallKind, CallRecord } from '../entities/call.ts'
import type { NewCall } from '../ledger/ledger.ts'
import { replayedError, replayOf } from '../machines/replay.ts'
import { beginEntry } from '../steps/journal.ts'
import { suspend } from '../steps/suspend.ts'
import { takeWait, type WaitState } from '../steps/wait.ts'
import type { EntryDescription } from './call-scope.ts'
import type { RunCore } from './run-core.ts'
import type { RunOutput } from './run-output.ts'

interface PendingWait {
  kind: CallKind
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** When the ledger refused to suspend a run or to say whether a wait is over, it is asked again after so many milliseconds. */
const againMs = 200

export class RunWaits {
  readonly #core: RunCore
  readonly #output: RunOutput
  readonly #open = new Map<string, PendingWait>()
  #isSuspending = false

  constructor(core: RunCore, output: RunOutput) {
    this.#core = core
    this.#output = output
    core.onIdle = () => this.#checkQuiet()
    core.isWaiting = () => this.#open.size > 0
  }

  /** The run has ended: it rejects what is pending itself. */
  end(): void {
    this.#open.clear()
  }

  /** A wait may be over while the run is still alive: it goes on in place. */
  poke(callId: string): void {
    const wait = this.#open.get(callId)
    if (wait === undefined || this.#core.ended) return
    void this.#core
      .busy(() => this.#settle(callId, wait))
      .catch((error: unknown) => {
        const { ended, host, ref } = this.#core
        if (ended) return
        host.report(error, { ...ref, doing: 'look whether a wait is over' })
        host.clock.setTimeout(() => this.poke(callId), againMs)
      })
  }

  /** Finds or records a wait and resolves when it is over; `begin` records it, a plain entry where it is left out. */
  async wait(
    entry: EntryDescription,
    dueInMs: number | undefined,
    begin: (record: NewCall) => Promise<WaitState> = (record) => this.#begin(record),
  ): Promise<unknown> {
    const found = this.#core.find(entry)
    switch (replayOf(found, this.#core.attempt, 'fail')) {
      case 'result':
        return (found as CallRecord).result
      case 'error':
        throw replayedError(found as CallRecord)
      case 'resume': {
        const { id } = found as CallRecord
        const over = this.#register(id, entry.kind)
        this.poke(id)
        return over
      }
      case 'anew':
      case 'ask':
      case 'begin':
    }
    if (found !== undefined) this.#core.journal.remade(found)
    const record = this.#core.entryOf(entry, dueInMs)
    // Registered first: what it waits for may end in the very commit that records it.
    const over = this.#register(record.id, entry.kind)
    await this.#core.busy(async () => {
      try {
        const begun = await begin(record)
        if (record.dueAt !== null) this.#core.host.timerSet()
        if (!begun.open) this.#resolve(record.id, (wait) => wait.resolve(begun.outcomes))
      } catch (error) {
        this.#resolve(record.id, (wait) => wait.reject(error))
      }
    })
    return over
  }

  async #begin(record: NewCall): Promise<WaitState> {
    await this.#core.step(beginEntry(record, this.#core.host.moment()))
    return { open: true }
  }

  #register(callId: string, kind: CallKind): Promise<unknown> {
    const promise = new Promise<unknown>((resolve, reject) => {
      const { ended } = this.#core
      if (ended) reject(ended)
      else this.#open.set(callId, { kind, resolve, reject })
    })
    promise.catch(() => {})
    return promise
  }

  async #settle(callId: string, wait: PendingWait): Promise<void> {
    const { host, ref } = this.#core
    const call = await host.read((tx) => tx.call.get(callId))
    if (call?.status === 'completed') this.#resolve(callId, (each) => each.resolve(call.result))
    else if (call?.status === 'failed') this.#resolve(callId, (each) => each.reject(replayedError(call)))
    else if (wait.kind === 'wait') {
      const state = await this.#core.step(takeWait(ref, callId, host.moment()))
      if (!state.open) this.#resolve(callId, (each) => each.resolve(state.outcomes))
    }
  }

  #resolve(callId: string, settle: (wait: PendingWait) => void): void {
    const wait = this.#open.get(callId)
    if (wait === undefined) return
    this.#open.delete(callId)
    settle(wait)
  }

  /** Quiet: it waits, and nothing of it is in flight. Looked at after the executor has had its turn. */
  #checkQuiet(): void {
    if (this.#isSuspending || !this.#isQuiet) return
    this.#isSuspending = true
    setImmediate(() => void this.#suspend())
  }

  get #isQuiet(): boolean {
    return this.#open.size > 0 && this.#core.isIdle
  }

  async #suspend(): Promise<void> {
    const { host, ref } = this.#core
    try {
      if (this.#isQuiet && !this.#output.isEmpty) await this.#output.flush()
      if (!this.#isQuiet) return
      const waits = [...this.#open.keys()]
      const suspended = await this.#core.step(suspend({ ...ref, ...host.moment(), waits }))
      // The feed tells of the end, in its order; a run that could not be suspended has something to take up.
      if (!suspended) for (const callId of waits) this.poke(callId)
    } catch (error) {
      host.report(error, { ...ref, doing: 'suspend' })
      host.clock.setTimeout(() => this.#checkQuiet(), againMs)
    } finally {
      this.#isSuspending = false
    }
  }
}
