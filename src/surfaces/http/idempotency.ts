// Requests that are answered once: the first answer under a key is kept for a while, and given again to whoever repeats the request.
// It is kept in this process and no longer than it lives; what must be made once for ever has a key in the ledger.
import { hash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { canonicalJson } from '../../core/json.ts'
import { Refusal } from '../../web/problem.ts'

interface Kept {
  fingerprint: string
  /** Absent while the first request is on its way. */
  answer?: { status: number; headers: Array<[string, string]>; body: string }
  at: number
}

const maxKeys = 1_000
/** Of all kept answers together, in characters. */
const maxKept = 16 * 1024 * 1024
const keptMs = 24 * 60 * 60_000

export class KeptAnswers {
  readonly #clock: Clock
  /** The oldest first. */
  readonly #kept = new Map<string, Kept>()
  #size = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * The answer to a request: that of the first under this key, or what `answer` makes. What went wrong inside is not kept, so that it
   * can be tried again.
   * @throws Refusal 422 for another request under the key, 409 while the first is on its way.
   */
  async once(key: string, fingerprint: string, answer: () => Promise<Response>): Promise<Response> {
    this.#forgetOld()
    const kept = this.#kept.get(key)
    if (kept !== undefined) return repeated(kept, fingerprint)
    const entry: Kept = { fingerprint, at: this.#clock.now() }
    this.#kept.set(key, entry)
    try {
      const response = await answer()
      const body = await response.text()
      const headers = [...response.headers]
      if (isKept(response.status)) this.#keep(entry, { status: response.status, headers, body })
      else this.#forget(key, entry)
      return new Response(body, { status: response.status, headers })
    } catch (error) {
      this.#forget(key, entry)
      throw error
    }
  }

  #keep(entry: Kept, answer: NonNullable<Kept['answer']>): void {
    entry.answer = answer
    this.#size += answer.body.length
    this.#forgetOld()
  }

  #forgetOld(): void {
    const since = this.#clock.now() - keptMs
    for (const [key, entry] of this.#kept) {
      const isOld = entry.at <= since || this.#kept.size > maxKeys || this.#size > maxKept
      if (!isOld) return
      // One that is on its way is not forgotten: repeated meanwhile it would be done twice.
      if (entry.answer !== undefined) this.#forget(key, entry)
    }
  }

  #forget(key: string, entry: Kept): void {
    if (this.#kept.get(key) !== entry) return
    this.#kept.delete(key)
    this.#size -= entry.answer?.body.length ?? 0
  }
}

/** What tells one request from another. */
export function fingerprintOf(method: string, path: string, body: unknown): string {
  return hash('sha256', canonicalJson([method, path, body]))
}

/** A key that was used for something else. */
export function otherRequest(): Refusal {
  return new Refusal('KEY_CONFLICT', 'This Idempotency-Key was used for another request. Use a new one.', {
    status: 422,
    details: { header: 'idempotency-key' },
  })
}

function repeated({ fingerprint, answer }: Kept, wanted: string): Response {
  if (fingerprint !== wanted) throw otherRequest()
  if (answer === undefined) {
    throw new Refusal('KEY_IN_USE', 'The first request under this Idempotency-Key is still on its way.', {
      details: { header: 'idempotency-key' },
    })
  }
  const { status, headers, body } = answer
  return new Response(body, { status, headers: [...headers, ['idempotency-replayed', 'true']] })
}

/** Refusals are answers too; that it was too much, or broke, says nothing of the request. */
function isKept(status: number): boolean {
  return status < 500 && status !== 429
}
