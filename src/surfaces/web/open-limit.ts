// Limits how many resources, such as streams, a surface keeps open: per principal and in total.

/** A slot, or the limit that was reached. */
export type SlotResult = { release: () => void } | { full: 'principal' | 'all' }

export class OpenLimit {
  readonly #maxTotal: number
  readonly #maxPerPrincipal: number
  readonly #held = new Map<string, number>()
  #all = 0

  constructor({ maxTotal = Infinity, maxPerPrincipal }: { maxTotal?: number; maxPerPrincipal: number }) {
    this.#maxTotal = maxTotal
    this.#maxPerPrincipal = maxPerPrincipal
  }

  /** Takes a slot. Calling `release` more than once has no further effect. */
  take(principal: string): SlotResult {
    const held = this.#held.get(principal) ?? 0
    if (held >= this.#maxPerPrincipal) return { full: 'principal' }
    if (this.#all >= this.#maxTotal) return { full: 'all' }
    this.#held.set(principal, held + 1)
    this.#all += 1
    let released = false
    return {
      release: () => {
        if (!released) this.#release(principal)
        released = true
      },
    }
  }

  #release(principal: string): void {
    const left = (this.#held.get(principal) ?? 1) - 1
    this.#all -= 1
    if (left === 0) this.#held.delete(principal)
    else this.#held.set(principal, left)
  }
}
