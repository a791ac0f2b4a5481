// Stores the first response under each idempotency key for a while and repeats it for repeated requests. Responses are stored in this
// process only; creations use the key of the ledger, which is permanent.
import { hash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { canonicalJson } from '../../core/json.ts'
import { Refusal } from '../../web/problem.ts'

interface StoredResponse {
  fingerprint: string
  /** Absent while the first request is in progress. */
  answer?: { status: number; headers: Array<[string, string]>; body: string }
  at: number
}

const maxKeys = 1_000
/** Limit for all stored responses together, in characters. */
const maxStored = 16 * 1024 * 1024
const retentionMs = 24 * 60 * 60_000

export class StoredResponses {
  readonly #clock: Clock
  /** Oldest first. */
  readonly #stored = new Map<string, StoredResponse>()
  #size = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Returns the stored response of this key, or the result of `answer`, which is then stored. Server errors are not stored, so that the
   * request can be retried.
   * @throws Refusal 422 if the key was used for another request, 409 while the first request is in progress.
   */
  async once(key: string, fingerprint: string, answer: () => Promise<Response>): Promise<Response> {
    this.#forgetOld()
    const stored = this.#stored.get(key)
    if (stored !== undefined) return repeated(stored, fingerprint)
    const entry: StoredResponse = { fingerprint, at: this.#clock.now() }
    this.#stored.set(key, entry)
    try {
      const response = await answer()
      const body = await response.text()
      const headers = [...response.headers]
      if (isStorable(response.status)) this.#store(entry, { status: response.status, headers, body })
      else this.#forget(key, entry)
      return new Response(body, { status: response.status, headers })
    } catch (error) {
      this.#forget(key, entry)
      throw error
    }
  }

  #store(entry: StoredResponse, answer: NonNullable<StoredResponse['answer']>): void {
    entry.answer = answer
    this.#size += answer.body.length
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

  #forget(key: string, entry: StoredResponse): void {
    if (this.#stored.get(key) !== entry) return
    this.#stored.delete(key)
    this.#size -= entry.answer?.body.length ?? 0
  }
}

/** Identifies a request by method, path and body. */
export function fingerprintOf(method: string, path: string, body: unknown): string {
  return hash('sha256', canonicalJson([method, path, body]))
}

/** The refusal of a key that was used for another request. */
export function otherRequest(): Refusal {
  return new Refusal('KEY_CONFLICT', 'This Idempotency-Key was used for another request. Use a new one.', {
    status: 422,
    details: { header: 'idempotency-key' },
  })
}

function repeated({ fingerprint, answer }: StoredResponse, expected: string): Response {
  if (fingerprint !== expected) throw otherRequest()
  if (answer === undefined) {
    throw new Refusal('KEY_IN_USE', 'The first request under this Idempotency-Key is still in progress.', {
      details: { header: 'idempotency-key' },
    })
  }
  const { status, headers, body } = answer
  return new Response(body, { status, headers: [...headers, ['idempotency-replayed', 'true']] })
}

/** Refusals are stored. Rate limits and server errors are not, since they do not depend on the request. */
function isStorable(status: number): boolean {
  return status < 500 && status !== 429
}
