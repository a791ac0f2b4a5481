// What an engine counts of its own work since it was created. Numbers alone, kept in memory: they cost less than a microsecond a run.
import type { CommitTimes, RunEndKind, RunTotals } from '../entities/metrics.ts'

/** The upper limits of the buckets of commits, in milliseconds. */
const commitBoundsMs = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000]

export class Metrics {
  /** By executor, then by how runs ended. */
  readonly #runs = new Map<string, Map<RunEndKind, { count: number; durationMs: number }>>()
  readonly #commits = { count: 0, durationMs: 0, upTo: commitBoundsMs.map((boundMs) => ({ boundMs, count: 0 })) }
  #takeovers = 0

  runEnded(executor: string, outcome: RunEndKind, durationMs: number): void {
    const ofExecutor = this.#runs.get(executor) ?? new Map<RunEndKind, { count: number; durationMs: number }>()
    this.#runs.set(executor, ofExecutor)
    const total = ofExecutor.get(outcome)
    if (total === undefined) ofExecutor.set(outcome, { count: 1, durationMs })
    else {
      total.count += 1
      total.durationMs += durationMs
    }
  }

  tookOver(): void {
    this.#takeovers += 1
  }

  committed(durationMs: number): void {
    this.#commits.count += 1
    this.#commits.durationMs += durationMs
    for (const bucket of this.#commits.upTo) if (durationMs <= bucket.boundMs) bucket.count += 1
  }

  get runs(): RunTotals[] {
    return [...this.#runs].flatMap(([executor, byOutcome]) =>
      Array.from(byOutcome, ([outcome, total]) => ({ executor, outcome, ...total })),
    )
  }

  get takeovers(): number {
    return this.#takeovers
  }

  get commits(): CommitTimes {
    return structuredClone(this.#commits)
  }
}
