// What `run.call` takes: its options, and what the function of a call gets.
import type { Duration } from '../core/duration.ts'
import type { OnInterrupt, RetryOptions, RetryPolicy } from './task-fields.ts'

/** Options of `run.call`. */
export interface CallOptions {
  /** Identifies the call in place of its params, for params that change between runs. */
  key?: string
  /** What the next run does when a crash interrupts this call. Default: the task's, the executor's, the engine's. */
  onInterrupt?: OnInterrupt
  /** Attempts of this call inside one run. Default: one. */
  retry?: number | RetryOptions
  /** Milliseconds after which the call fails with `TIMEOUT`. Default: none. */
  timeoutMs?: Duration
  /**
   * `allow`: a call that is not in the journal is made although completed calls have not been replayed, and the event `task.diverged`
   * records it. Default: it is held back until they have been replayed, and fails with `CALL_DIVERGED` if they never are.
   */
  divergence?: 'allow'
}

/** Options that were parsed: their durations are milliseconds. */
export type Parsed<T> = {
  [K in keyof T]: K extends 'timeoutMs' ? Exclude<T[K], string> : K extends 'retry' ? Partial<RetryPolicy> : T[K]
}

/** The second argument of the function of a call. */
export interface CallContext {
  /** The id of this execution; a repetition has another one. */
  callId: string
  /**
   * The same for every repetition of this call, after a crash or in another attempt: pass it to external services as the idempotency key, and use it to
   * create something only once.
   */
  identity: string
  /** Aborts when the run ends or the call times out. */
  signal: AbortSignal
  /** Stores details of the call in progress; resolves when they are durable. */
  note: (details: unknown) => Promise<void>
}
