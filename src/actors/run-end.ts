// The end of a run: that it has ended, and why. Most runs end unobserved, so the signal is made when it is first asked for, and the error,
// whose stack costs more than the rest of an end, when it is first read.
import type { ErrandError } from '../core/errors.ts'
import { type RunRef, runEnded } from '../operations/steps/journal.ts'

export class RunEnd {
  readonly #ref: RunRef
  #isOver = false
  #why: string | undefined
  #reason: ErrandError | undefined
  #controller: AbortController | undefined

  constructor(ref: RunRef) {
    this.#ref = ref
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Why the run has ended; undefined while it is open. */
  get reason(): ErrandError | undefined {
    if (this.#isOver) this.#reason ??= runEnded(this.#ref, this.#why)
    return this.#reason
  }

  /** Aborts when the run ends, with the reason. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isOver) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }

  /** The first reason counts. Given as text: a function that makes the error would keep what it refers to. */
  end(why: string | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#why = why
    this.#controller?.abort(this.reason)
  }
}
