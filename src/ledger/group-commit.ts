// Group commit: steps that arrive in one turn of the event loop share one transaction and one fsync. Each is judged alone: it
// sees the ones before it, and one that is refused leaves nothing behind and rejects alone.
import type { Clock } from '../clock.ts'
import { ErrandError } from '../errors.ts'
import type { AnyStep } from './ledger.ts'

/** A step that waits for its commit. */
export interface QueuedStep {
  readonly step: AnyStep
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** How a step of a group went, before the commit is known. */
export type StepOutcome = { ok: true; value: unknown } | { ok: false; error: unknown }

/** Thrown by `runGroup` when another process holds the write lock: nothing has happened, the same group may be run again. */
export class LedgerBusy extends Error {}

/** Thrown by `runGroup` when the commit itself failed: whether the group is in the ledger is unknown. */
export class CommitFailed extends Error {}

export interface GroupRunner {
  /** Runs the steps in one transaction and commits. One outcome per step. */
  runGroup(group: readonly QueuedStep[]): StepOutcome[] | Promise<StepOutcome[]>
  /** Called after the callers have been answered. */
  committed(): void
}

/** The most steps in one transaction: keeps a single commit, and with it the longest stall, short. */
const largestGroup = 1_000
/** How long a busy ledger is tried again before the steps are refused. */
const busyPatienceMs = 10_000

export class GroupCommit {
  readonly #runner: GroupRunner
  readonly #clock: Clock
  readonly #random: () => number
  #queue: QueuedStep[] = []
  #scheduled = false
  #running: Promise<void> | undefined
  #closed = false

  constructor(runner: GroupRunner, clock: Clock, random: () => number) {
    this.#runner = runner
    this.#clock = clock
    this.#random = random
  }

  add<R>(step: AnyStep<R>): Promise<R> {
    if (this.#closed)
      return Promise.reject(new ErrandError('ENGINE_CLOSED', 'The ledger is closed; open it again to write.'))
    return new Promise<R>((resolve, reject) => {
      this.#queue.push({ step, resolve, reject })
      this.#schedule()
    })
  }

  /** Refuses what comes from now on and resolves when everything before it is done. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#queue.length > 0 || this.#running) {
      if (this.#running) await this.#running
      else await this.#flush()
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#running) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      if (!this.#running && this.#queue.length > 0) void this.#flush()
    })
  }

  #flush(): Promise<void> {
    const group = this.#queue.splice(0, largestGroup)
    const outcomes = this.#attempt(group)
    if (outcomes instanceof Promise) {
      this.#running = outcomes
        .then((settled) => this.#answer(group, settled))
        .catch((error: unknown) => this.#rejectAll(group, error))
        .finally(() => {
          this.#running = undefined
          if (this.#queue.length > 0) this.#schedule()
        })
      return this.#running
    }
    this.#answer(group, outcomes)
    if (this.#queue.length > 0) this.#schedule()
    return Promise.resolve()
  }

  #attempt(group: readonly QueuedStep[]): StepOutcome[] | Promise<StepOutcome[]> {
    try {
      const outcomes = this.#runner.runGroup(group)
      return outcomes instanceof Promise ? outcomes.catch((error: unknown) => this.#whenFailed(group, error)) : outcomes
    } catch (error) {
      return this.#whenFailed(group, error)
    }
  }

  #whenFailed(group: readonly QueuedStep[], error: unknown): StepOutcome[] | Promise<StepOutcome[]> {
    if (error instanceof LedgerBusy) return this.#tryAgain(group)
    const refusal = ErrandError.isInstance(error)
      ? error
      : error instanceof CommitFailed
        ? new ErrandError(
            'OUTCOME_UNKNOWN',
            `The ledger failed while committing (${error.message}). The step may or may not be in it: look, or repeat it with the same key.`,
            {},
            error.cause,
          )
        : new ErrandError(
            'LEDGER_WRITE_FAILED',
            `The ledger could not write (${error instanceof Error ? error.message : String(error)}). Nothing of the step was kept.`,
            {},
            error,
          )
    return group.map(() => ({ ok: false, error: refusal }))
  }

  /** Waits with jitter, so that two processes that collided do not collide again. */
  async #tryAgain(group: readonly QueuedStep[]): Promise<StepOutcome[]> {
    const since = this.#clock.now()
    for (let attempt = 1; ; attempt++) {
      await new Promise<void>((resume) =>
        this.#clock.setTimeout(() => resume(), this.#random() * Math.min(100, 4 * 2 ** attempt)),
      )
      try {
        return await this.#runner.runGroup(group)
      } catch (error) {
        if (!(error instanceof LedgerBusy)) return this.#whenFailed(group, error)
        const waited = this.#clock.now() - since
        if (waited > busyPatienceMs) {
          throw new ErrandError(
            'LEDGER_BUSY',
            `Another process has held the ledger's write lock for ${waited} ms. Nothing of the step was kept; try again.`,
            { waitedMs: waited, attempts: attempt },
          )
        }
      }
    }
  }

  #answer(group: readonly QueuedStep[], outcomes: readonly StepOutcome[]): void {
    for (let index = 0; index < group.length; index++) {
      const queued = group[index] as QueuedStep
      const outcome = outcomes[index] as StepOutcome
      if (outcome.ok) queued.resolve(outcome.value as never)
      else queued.reject(outcome.error)
    }
    this.#runner.committed()
  }

  #rejectAll(group: readonly QueuedStep[], error: unknown): void {
    for (const queued of group) queued.reject(error)
  }
}
