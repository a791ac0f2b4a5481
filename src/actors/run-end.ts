// The end of a run: that it has ended, how, and why. Most runs end unobserved, so the signal is made when it is first asked for, and the error,
// whose stack costs more than the rest of an end, when it is first read.
import type { ErrandError } from '../core/errors.ts'
import { type RunRef, runEnded } from '../operations/steps/journal.ts'

export class RunEnd {
  readonly #ref: RunRef
  #isOver = false
  #isSuspended = false
  #why: string | undefined
  #reason: ErrandError | undefined
  #controller: AbortController | undefined
  /** Called at a suspension. In objects, because one function may be registered twice. */
  #releases: Set<{ release: () => unknown }> | undefined

  constructor(ref: RunRef) {
    this.#ref = ref
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get isSuspended(): boolean {
    return this.#isSuspended
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
    this.#releases = undefined
    this.#controller?.abort(this.reason)
  }

  /** Ends the run because it only waits. Calls what is registered, the last first; resolves when the promises of these calls have settled. */
  async suspend(report: (error: unknown) => void): Promise<void> {
    const releases = [...(this.#releases ?? [])].reverse()
    this.#isSuspended = true
    this.end(undefined)
    await Promise.all(releases.map(({ release }) => attempt(release, report)))
  }

  /** Registers what a suspension calls; of a run that is suspended already it is called at once. Returns what unregisters it. */
  onSuspend(release: () => unknown, report: (error: unknown) => void): () => void {
    if (this.#isSuspended) void attempt(release, report)
    if (this.#isOver) return () => {}
    const entry = { release }
    this.#releases ??= new Set()
    this.#releases.add(entry)
    return () => this.#releases?.delete(entry)
  }

  /** The function of the run has ended, and has released what it held. */
  released(): void {
    this.#releases = undefined
  }
}

async function attempt(release: () => unknown, report: (error: unknown) => void): Promise<void> {
  try {
    await release()
  } catch (error) {
    report(error)
  }
}
