// How a run is stopped: the first interrupt asks it to let go of what runs, the second ends it and the process at once. One
// press of Ctrl-C may arrive twice (from the terminal and, under npm, forwarded by it), so echoes of the first do not
// count.
import { once } from 'node:events'
import { type Clock, systemClock } from '../core/clock.ts'
import { waitAtMost } from '../core/signals.ts'
import { exitCodes } from './exit-code.ts'
import type { CommandIo } from './io.ts'

/** A person does not press twice within this time and mean it. */
const echoMs = 250
/** "At once" may take this long: to end what runs. */
const maxExitMs = 300

export class StopListener {
  /** What must be put right before the process ends at once. */
  beforeExit: () => void = () => {}
  /** Ends what runs, before the process ends at once. */
  endCommands: () => Promise<void> = async () => {}
  readonly #controller = new AbortController()
  readonly #unlisten: () => void
  readonly #clock: Clock
  #askedAt = 0
  #exiting = false

  constructor(io: CommandIo, clock: Clock = systemClock) {
    this.#clock = clock
    this.#unlisten = io.onInterrupt(() => this.#onInterrupt(io))
  }

  /** Aborts when the user wants to stop. */
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
      this.#askedAt = this.#clock.now()
      this.#controller.abort()
    } else if (this.#clock.now() - this.#askedAt > echoMs && !this.#exiting) {
      this.#exiting = true
      void this.#exit(io)
    }
  }

  async #exit(io: CommandIo): Promise<void> {
    this.beforeExit()
    try {
      await waitAtMost(this.#clock, maxExitMs, this.endCommands())
    } catch {
      // A ledger that cannot be read tells no more than one that takes too long: the process ends all the same.
    }
    io.exit(exitCodes.interrupted)
  }
}

/** Does what an interrupt ends in good order: the signal aborts when the user wants to stop, and nothing ends at once. */
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
