// The end of a run: that it has ended, and why. Most runs end unobserved, so the signal is made when it is first asked for, and the error,
// whose stack costs more than the rest of an end, when it is first read.
import type { ErrandError } from '../core/errors.ts'

export class RunEnd {
  #why: (() => ErrandError) | undefined
  #reason: ErrandError | undefined
  #controller: AbortController | undefined

  get isOver(): boolean {
    return this.#why !== undefined
  }

  /** Why the run has ended; undefined while it is open. */
  get reason(): ErrandError | undefined {
    this.#reason ??= this.#why?.()
    return this.#reason
  }

  /** Aborts when the run ends, with the reason. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.isOver) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }

  /** The first reason counts. */
  end(why: () => ErrandError): void {
    if (this.isOver) return
    this.#why = why
    this.#controller?.abort(this.reason)
  }
}
