// How a run is stopped: the first interrupt asks it to let go of what runs, the second ends the process at once. One
// press of Ctrl-C may arrive twice (from the terminal and, under npm, forwarded by it), so echoes of the first do not
// count.
import { type Clock, systemClock } from '../../clock.ts'
import { exitCodes } from './exit-code.ts'
import type { CommandIo } from './io.ts'

/** A person does not press twice within this time and mean it. */
const echoMs = 250

export class StopListener {
  /** What must be put right before the process ends at once. */
  beforeExit: () => void = () => {}
  readonly #controller = new AbortController()
  readonly #unlisten: () => void
  readonly #clock: Clock
  #askedAt = 0

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

  #onInterrupt(io: CommandIo): void {
    if (!this.signal.aborted) {
      this.#askedAt = this.#clock.now()
      this.#controller.abort()
    } else if (this.#clock.now() - this.#askedAt > echoMs) {
      this.beforeExit()
      io.exit(exitCodes.interrupted)
    }
  }
}
