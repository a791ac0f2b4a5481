// What earlier runs of a task recorded, found by kind, name and params (or key), n-th among equals; never by position alone.
import type { CallKind, CallRecord } from '../entities/call.ts'
import type { MessageRecord } from '../entities/message.ts'

export class RunJournal {
  readonly #entries = new Map<string, CallRecord>()
  readonly #messages = new Map<string, string>()
  readonly #asked = new Map<string, number>()
  readonly #unasked = new Map<string, CallRecord>()

  /** `attempt` is the present one: what it recorded and the run does not ask for again has diverged. */
  constructor(entries: readonly CallRecord[] = [], messages: readonly MessageRecord[] = [], attempt = 0) {
    for (const entry of entries) {
      const place = placeOf(entry.kind, entry.name, entry.ident, entry.ordinal)
      // Later rows of one place are newer tries of it; the list is in the order of their making.
      this.#entries.set(place, entry)
      if (entry.attempt === attempt) this.#unasked.set(place, entry)
    }
    for (const message of messages) {
      if (message.ident !== null)
        this.#messages.set(placeOf('message', message.role, message.ident, message.ordinal), message.id)
    }
  }

  /** Claims the next ordinal of an identity. Synchronous, so that the order of asking decides and not that of finishing. */
  claim(kind: CallKind | 'message', name: string, ident: string): number {
    const identity = `${kind}\n${name}\n${ident}`
    const ordinal = this.#asked.get(identity) ?? 0
    this.#asked.set(identity, ordinal + 1)
    return ordinal
  }

  /** What this run has recorded ahead of its being asked for. */
  remember(entry: CallRecord): void {
    this.#entries.set(placeOf(entry.kind, entry.name, entry.ident, entry.ordinal), entry)
  }

  /** The run goes on from the ledger itself: nothing of it counts as diverged. */
  takeAll(): void {
    this.#unasked.clear()
  }

  find(kind: CallKind, name: string, ident: string, ordinal: number): CallRecord | undefined {
    const place = placeOf(kind, name, ident, ordinal)
    this.#unasked.delete(place)
    return this.#entries.get(place)
  }

  findMessage(role: string, ident: string, ordinal: number): string | undefined {
    return this.#messages.get(placeOf('message', role, ident, ordinal))
  }

  /** Entries of this attempt that the run has not asked for, for people. */
  get diverged(): string[] {
    return [...this.#unasked.values()].map((entry) => `${entry.kind} ${entry.name}`)
  }
}

function placeOf(kind: string, name: string, ident: string, ordinal: number): string {
  return `${kind}\n${name}\n${ident}\n${ordinal}`
}
