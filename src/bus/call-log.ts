// The memory of what was called: who, what, how long, with what end. Refused calls stand in it too. It is for people who want
// to know what happened lately; what must survive a crash stands in the ledger's journal.
import type { Caller } from './caller.ts'
import { Listeners } from './listeners.ts'

/** One invocation, when it is over. */
export interface CallLogEntry {
  /** When it began, in epoch milliseconds. */
  at: number
  /** As it was asked for, known or not. */
  abilityId: string
  /** Without its lists of abilities and its bounds. */
  caller: Omit<Caller, 'abilities' | 'bounds' | 'maxTasksPerCall'>
  durationMs: number
  /** False for a refusal, too. A stream that its reader left early is a success. */
  ok: boolean
  /** Of the error; only when not ok. */
  code?: string
}

export interface LogOptions {
  /** How many of the newest. Default: all that are kept. */
  limit?: number
  /** Only those of one ability. */
  abilityId?: string
}

export type CallListener = (entry: CallLogEntry) => void

/** The last so many entries; `report` hears of listeners that throw. */
export class CallLog {
  readonly listeners: Listeners<CallLogEntry>
  readonly #size: number
  /** A ring: once full, `#next` is the oldest. */
  readonly #entries: CallLogEntry[] = []
  #next = 0

  constructor(size: number, report: (error: unknown, context: Record<string, unknown>) => void) {
    this.#size = size
    this.listeners = new Listeners((error, { abilityId }) =>
      report(error, { abilityId, doing: 'tell a listener of calls' }),
    )
  }

  add(entry: CallLogEntry): void {
    const kept = Object.freeze(entry)
    if (this.#size > 0) {
      this.#entries[this.#next] = kept
      this.#next = (this.#next + 1) % this.#size
    }
    this.listeners.tell(kept)
  }

  /** Newest last. */
  list({ limit, abilityId }: LogOptions): CallLogEntry[] {
    const inOrder = [...this.#entries.slice(this.#next), ...this.#entries.slice(0, this.#next)]
    const wanted = abilityId === undefined ? inOrder : inOrder.filter((entry) => entry.abilityId === abilityId)
    return limit === undefined ? wanted : wanted.slice(Math.max(0, wanted.length - limit))
  }
}
