// Stores the first answer under each idempotency key for a while and repeats it for repeated requests. Answers are stored in this
// process only; creations use the key of the ledger, which is permanent. Each principal has limits of its own, so no client can make the
// server forget the answers of another.
import type { Clock } from '../../core/clock.ts'
import { canonicalJson } from '../../core/json.ts'
import { sha256 } from '../../core/sha256.ts'
import type { Answer } from '../web/answer.ts'
import { Refusal } from '../web/problem.ts'

interface StoredAnswer {
  fingerprint: string
  /** Absent while the first request is in progress. */
  answer?: Answer
  at: number
}

/** The answers to one principal. */
interface Held {
  /** Oldest first. */
  entries: Map<string, StoredAnswer>
  size: number
  usedAt: number
}

/** Limits of one principal. */
const maxKeys = 1_000
const maxStored = 16 * 1024 * 1024
/** Limit for the answers to all principals together: beyond it, the principal that has most loses the oldest of its own. */
const maxStoredOfAll = 64 * 1024 * 1024
const retentionMs = 24 * 60 * 60_000

export class StoredAnswers {
  readonly #clock: Clock
  /** Least recently used first. */
  readonly #principals = new Map<string, Held>()
  #size = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Returns the stored answer to the principal under this key, or the result of `answer`, which is then stored. Server errors are not
   * stored, so that the request can be retried.
   * @throws Refusal 422 if the key was used for another request, 409 while the first request is in progress; what `answer` throws.
   */
  async once(principal: string, key: string, fingerprint: string, answer: () => Promise<Answer>): Promise<Answer> {
    const held = this.#heldBy(principal)
    const stored = held.entries.get(key)
    if (stored !== undefined) return repeated(stored, fingerprint)
    const entry: StoredAnswer = { fingerprint, at: this.#clock.now() }
    held.entries.set(key, entry)
    try {
      const given = await answer()
      if (isStorable(given.status)) this.#store(held, entry, { ...given, headers: { ...given.headers } })
      else this.#forget(held, key, entry)
      return given
    } catch (error) {
      this.#forget(held, key, entry)
      throw error
    }
  }

  #heldBy(principal: string): Held {
    const now = this.#clock.now()
    const held = this.#principals.get(principal) ?? { entries: new Map(), size: 0, usedAt: now }
    held.usedAt = now
    this.#principals.delete(principal)
    this.#principals.set(principal, held)
    for (const [name, other] of this.#principals) {
      if (other.usedAt > now - retentionMs) break
      this.#forgetOld(other)
      if (other.entries.size === 0) this.#principals.delete(name)
    }
    this.#forgetOld(held)
    return held
  }

  #store(held: Held, entry: StoredAnswer, answer: Answer): void {
    entry.answer = answer
    held.size += sizeOf(answer)
    this.#size += sizeOf(answer)
    this.#forgetOld(held)
    while (this.#size > maxStoredOfAll) this.#forgetOldest(this.#largest())
  }

  #forgetOld(held: Held): void {
    const since = this.#clock.now() - retentionMs
    for (const [key, entry] of held.entries) {
      const isOld = entry.at <= since || held.entries.size > maxKeys || held.size > maxStored
      if (!isOld) break
      // An entry in progress is kept: without it, a repeated request would run twice.
      if (entry.answer !== undefined) this.#forget(held, key, entry)
    }
  }

  #forgetOldest(held: Held): void {
    const oldest = [...held.entries].find(([, { answer }]) => answer !== undefined)
    if (oldest !== undefined) this.#forget(held, ...oldest)
  }

  /** Found by looking at all: this many answers are rare. */
  #largest(): Held {
    return [...this.#principals.values()].reduce((largest, held) => (held.size > largest.size ? held : largest))
  }

  #forget(held: Held, key: string, entry: StoredAnswer): void {
    if (held.entries.get(key) !== entry) return
    held.entries.delete(key)
    if (entry.answer === undefined) return
    held.size -= sizeOf(entry.answer)
    this.#size -= sizeOf(entry.answer)
  }
}

/** What an entry takes besides the body of its answer, so that empty answers count too. */
const entrySize = 500

/** In characters. Answers are stored of abilities with one result, whose bodies are texts. */
function sizeOf({ body }: Answer): number {
  return entrySize + (typeof body === 'string' ? body.length : 0)
}

/** Identifies a request by method, path and body. */
export function fingerprintOf(method: string, path: string, body: unknown): string {
  return sha256(canonicalJson([method, path, body]))
}

/** The refusal of a key that was used for another request. */
export function otherRequest(): Refusal {
  return new Refusal('KEY_CONFLICT', 'This Idempotency-Key was used for another request. Use a new one.', {
    status: 422,
    details: { header: 'idempotency-key' },
  })
}

function repeated({ fingerprint, answer }: StoredAnswer, expected: string): Answer {
  if (fingerprint !== expected) throw otherRequest()
  if (answer === undefined) {
    throw new Refusal('KEY_IN_USE', 'The first request under this Idempotency-Key is still in progress.', {
      details: { header: 'idempotency-key' },
    })
  }
  return { ...answer, headers: { ...answer.headers, 'idempotency-replayed': 'true' } }
}

/** Refusals are stored. Rate limits and server errors are not, since they do not depend on the request. */
function isStorable(status: number): boolean {
  return status < 500 && status !== 429
}
