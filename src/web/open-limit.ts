// Things that a surface keeps open for its clients, such as streams: how many one principal may hold, and all together.

/** A place that was taken, or the bound that there is: of one principal, or of all. */
export type Taken = { release: () => void } | { full: 'principal' | 'all' }

export class OpenLimit {
  readonly #most: number
  readonly #maxPerPrincipal: number
  readonly #held = new Map<string, number>()
  #all = 0

  constructor({ most = Infinity, maxPerPrincipal }: { most?: number; maxPerPrincipal: number }) {
    this.#most = most
    this.#maxPerPrincipal = maxPerPrincipal
  }

  /** A place is released once, however often `release` is called. */
  take(principal: string): Taken {
    const held = this.#held.get(principal) ?? 0
    if (held >= this.#maxPerPrincipal) return { full: 'principal' }
    if (this.#all >= this.#most) return { full: 'all' }
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
