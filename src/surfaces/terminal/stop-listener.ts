// Stops a run: the first interrupt releases the running tasks, the second ends the process at once. One press of Ctrl-C may
// arrive twice (from the terminal, and forwarded by npm), so an interrupt shortly after the first is ignored.
import { once } from 'node:events'
import { type Clock, systemClock } from '../../core/clock.ts'
import { waitAtMost } from '../../core/signals.ts'
import { exitCodes } from './exit-code.ts'
import type { CommandIo } from './io.ts'

/** An interrupt within this time after the first is an echo of it. */
const echoMs = 250
/** How long ending the running commands may delay the exit. */
const maxExitMs = 300

export class StopListener {
  /** Restores the terminal before the process ends at once. */
  beforeExit: () => void = () => {}
  /** Ends running commands before the process ends at once. */
  endCommands: () => Promise<void> = async () => {}
  readonly #controller = new AbortController()
  readonly #unlisten: () => void
  readonly #clock: Clock
  #stoppedAt = 0
  #exiting = false

  constructor(io: CommandIo, clock: Clock = systemClock) {
    this.#clock = clock
    this.#unlisten = io.onInterrupt(() => this.#onInterrupt(io))
  }

  /** Aborts at the first interrupt. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(): void {
    this.#unlisten()
  }

  [Symbol.dispose](): void {
    this.end()
  }

  #onInterrupt(io: CommandIo): void {
    if (!this.signal.aborted) {
      this.#stoppedAt = this.#clock.now()
      this.#controller.abort()
    } else if (this.#clock.now() - this.#stoppedAt > echoMs && !this.#exiting) {
      this.#exiting = true
      void this.#exit(io)
    }
  }

  async #exit(io: CommandIo): Promise<void> {
    this.beforeExit()
    try {
      await waitAtMost(this.#clock, maxExitMs, this.endCommands())
    } catch {
      // The process ends even if the ledger cannot be read.
    }
    io.exit(exitCodes.interrupted)
  }
}

/** Runs `work` with a signal that aborts at an interrupt. Further interrupts have no effect. */
export async function untilInterrupted<T>(io: CommandIo, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const unlisten = io.onInterrupt(() => stop.abort())
  try {
    return await work(stop.signal)
  } finally {
    unlisten()
  }
}

/** Resolves when the signal has aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}
