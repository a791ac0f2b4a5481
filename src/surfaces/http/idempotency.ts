// Stores the first answer under each idempotency key for a while and repeats it for repeated requests. Answers are stored in this
// process only; creations use the key of the ledger, which is permanent.
import type { Clock } from '../../core/clock.ts'
import { canonicalJson } from '../../core/json.ts'
import { sha256 } from '../../core/sha256.ts'
import type { Answer } from '../../web/answer.ts'
import { Refusal } from '../../web/problem.ts'

interface StoredAnswer {
  fingerprint: string
  /** Absent while the first request is in progress. */
  answer?: Answer
  at: number
}

const maxKeys = 1_000
/** Limit for all stored answers together, in characters. */
const maxStored = 16 * 1024 * 1024
const retentionMs = 24 * 60 * 60_000

export class StoredAnswers {
  readonly #clock: Clock
  /** Oldest first. */
  readonly #stored = new Map<string, StoredAnswer>()
  #size = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Returns the stored answer of this key, or the result of `answer`, which is then stored. Server errors are not stored, so that the
   * request can be retried.
   * @throws Refusal 422 if the key was used for another request, 409 while the first request is in progress.
   */
  async once(key: string, fingerprint: string, answer: () => Promise<Answer>): Promise<Answer> {
    this.#forgetOld()
    const stored = this.#stored.get(key)
    if (stored !== undefined) return repeated(stored, fingerprint)
    const entry: StoredAnswer = { fingerprint, at: this.#clock.now() }
    this.#stored.set(key, entry)
    try {
      const given = await answer()
      if (isStorable(given.status)) this.#store(entry, { ...given, headers: { ...given.headers } })
      else this.#forget(key, entry)
      return given
    } catch (error) {
      this.#forget(key, entry)
      throw error
    }
  }

  #store(entry: StoredAnswer, answer: Answer): void {
    entry.answer = answer
    this.#size += sizeOf(answer)
    this.#forgetOld()
  }

  #forgetOld(): void {
    const since = this.#clock.now() - retentionMs
    for (const [key, entry] of this.#stored) {
      const isOld = entry.at <= since || this.#stored.size > maxKeys || this.#size > maxStored
      if (!isOld) return
      // An entry in progress is kept: without it, a repeated request would run twice.
      if (entry.answer !== undefined) this.#forget(key, entry)
    }
  }

  #forget(key: string, entry: StoredAnswer): void {
    if (this.#stored.get(key) !== entry) return
    this.#stored.delete(key)
    if (entry.answer !== undefined) this.#size -= sizeOf(entry.answer)
  }
}

/** In characters. Answers are stored of abilities with one result, whose bodies are texts. */
function sizeOf({ body }: Answer): number {
  return typeof body === 'string' ? body.length : 0
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
