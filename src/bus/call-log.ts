// The log of invocations, refused ones included: caller, ability, duration, outcome. It is in memory, for people who inspect recent
// calls; what must survive a crash is in the ledger's journal.
import type { Caller } from './caller.ts'
import { Listeners } from './listeners.ts'

/** An ended invocation. */
export interface CallLogEntry {
  /** When it began, in epoch milliseconds. */
  at: number
  /** As requested; may be unknown. */
  abilityId: string
  /** Without its lists of abilities and its bounds. */
  caller: Omit<Caller, 'abilities' | 'bounds' | 'maxTasksPerCall'>
  durationMs: number
  /** False for a refusal too. A stream that its reader stopped early is a success. */
  ok: boolean
  /** Of the error; only when not ok. */
  code?: string
}

export interface LogOptions {
  /** Number of the newest entries. Default: all. */
  limit?: number
  /** Only those of one ability. */
  abilityId?: string
}

export type CallListener = (entry: CallLogEntry) => void

/** Keeps the last `size` entries; `report` receives the errors of listeners. */
export class CallLog {
  readonly listeners: Listeners<CallLogEntry>
  readonly #size: number
  /** A ring buffer: once full, `#next` is the oldest. */
  readonly #entries: CallLogEntry[] = []
  #next = 0

  constructor(size: number, report: (error: unknown, context: Record<string, unknown>) => void) {
    this.#size = size
    this.listeners = new Listeners((error, { abilityId }) =>
      report(error, { abilityId, doing: 'notify a listener of calls' }),
    )
  }

  add(entry: CallLogEntry): void {
    const kept = Object.freeze(entry)
    if (this.#size > 0) {
      this.#entries[this.#next] = kept
      this.#next = (this.#next + 1) % this.#size
    }
    this.listeners.notify(kept)
  }

  /** Newest last. */
  list({ limit, abilityId }: LogOptions): CallLogEntry[] {
    const inOrder = [...this.#entries.slice(this.#next), ...this.#entries.slice(0, this.#next)]
    const wanted = abilityId === undefined ? inOrder : inOrder.filter((entry) => entry.abilityId === abilityId)
    return limit === undefined ? wanted : wanted.slice(Math.max(0, wanted.length - limit))
  }
}
