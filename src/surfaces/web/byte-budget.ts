// Limits the bytes that a principal may have in flight: those that are read for it, and those of answers that it has not received yet. A
// client that asks for many pages at once gets them one after another, and one that does not read what it asked for holds up only itself.

/** Bytes in flight that belong to one answer. */
export interface BytesInFlight {
  /** Replaces the expected number by the real one. */
  set(bytes: number): void
  /** The client has received them, or is gone. */
  release(): void
}

interface Waiting {
  bytes: number
  proceed: () => void
}

interface Budget {
  inFlight: number
  /** How many answers are in flight. */
  answers: number
  /** Oldest first. */
  waiting: Set<Waiting>
}

export class ByteBudget {
  readonly #maxBytes: number
  readonly #budgets = new Map<string, Budget>()

  /** @param maxBytes per principal. An answer that is larger waits until it is alone. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Counts an answer at once, without a wait. */
  add(principal: string): BytesInFlight {
    const budget = this.#budgetOf(principal)
    count(budget, 0)
    return this.#inFlight(principal, budget, 0)
  }

  /**
   * Resolves once the bytes fit beside those in flight, in the order of the calls.
   * @param bytes how many the answer is expected to have
   * @throws the reason of the signal if it aborts meanwhile.
   */
  async take(principal: string, bytes: number, signal: AbortSignal): Promise<BytesInFlight> {
    const budget = this.#budgetOf(principal)
    if (budget.waiting.size > 0 || !this.#fits(budget, bytes)) await this.#turn(budget, bytes, signal)
    else count(budget, bytes)
    return this.#inFlight(principal, budget, bytes)
  }

  #budgetOf(principal: string): Budget {
    const budget = this.#budgets.get(principal) ?? { inFlight: 0, answers: 0, waiting: new Set() }
    this.#budgets.set(principal, budget)
    return budget
  }

  #inFlight(principal: string, budget: Budget, bytes: number): BytesInFlight {
    let held = bytes
    let isReleased = false
    const set = (now: number): void => {
      budget.inFlight += now - held
      held = now
      this.#grant(budget)
    }
    const release = (): void => {
      if (isReleased) return
      isReleased = true
      budget.answers -= 1
      set(0)
      if (budget.answers === 0) this.#budgets.delete(principal)
    }
    return { set, release }
  }

  /** Resolves when the bytes have been added to those in flight. */
  #turn(budget: Budget, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const abort = (): void => {
        budget.waiting.delete(entry)
        this.#grant(budget)
        reject(signal.reason as Error)
      }
      const proceed = (): void => {
        signal.removeEventListener('abort', abort)
        resolve()
      }
      const entry = { bytes, proceed }
      budget.waiting.add(entry)
      signal.addEventListener('abort', abort, { once: true })
    })
  }

  #grant(budget: Budget): void {
    for (const waiting of budget.waiting) {
      if (!this.#fits(budget, waiting.bytes)) return
      budget.waiting.delete(waiting)
      count(budget, waiting.bytes)
      waiting.proceed()
    }
  }

  #fits({ inFlight }: Budget, bytes: number): boolean {
    return inFlight === 0 || inFlight + bytes <= this.#maxBytes
  }
}

function count(budget: Budget, bytes: number): void {
  budget.inFlight += bytes
  budget.answers += 1
}
