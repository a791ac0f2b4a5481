// What is to be looked at, in turn.

/** Ids, each taken up in its turn; one that waits already does not wait twice. */
export class Turns {
  readonly #ids: string[]
  readonly #waiting: Set<string>
  // By position: to shift a hundred thousand entries one by one would be quadratic.
  #at = 0

  constructor(ids: Iterable<string> = []) {
    this.#waiting = new Set(ids)
    this.#ids = [...this.#waiting]
  }

  add(id: string): void {
    if (this.#waiting.has(id)) return
    this.#waiting.add(id)
    this.#ids.push(id)
  }

  next(): string | undefined {
    const id = this.#ids[this.#at]
    if (id === undefined) return undefined
    this.#at++
    this.#waiting.delete(id)
    return id
  }
}
