// Output that is kept: gathered for a moment and stored in batches, so that a chatty command costs few commits and `logs -f`
// in another process still follows closely.
import type { Clock } from '../clock.ts'

const batchMs = 100
const batchCharacters = 16 * 1024

export class RunOutput {
  readonly #clock: Clock
  readonly #store: (text: string) => Promise<void>
  #text = ''
  #timer: unknown
  #stored: Promise<void> = Promise.resolve()

  /** `store` must not reject. */
  constructor(clock: Clock, store: (text: string) => Promise<void>) {
    this.#clock = clock
    this.#store = store
  }

  get isEmpty(): boolean {
    return this.#text === ''
  }

  add(text: string): void {
    this.#text += text
    if (this.#text.length >= batchCharacters) void this.flush()
    else this.#timer ??= this.#clock.setTimeout(() => void this.flush(), batchMs)
  }

  /** Resolves when everything added so far is durable. */
  flush(): Promise<void> {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    const text = this.#text
    this.#text = ''
    if (text === '') return this.#stored
    this.#stored = Promise.all([this.#stored, this.#store(text)]).then(() => {})
    return this.#stored
  }
}
