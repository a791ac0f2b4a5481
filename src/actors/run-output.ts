// Stored output: collected for a moment and stored in batches, so that a chatty command costs few commits and `logs -f`
// in another process still follows closely.
import { writeOutput } from '../operations/steps/journal.ts'
import { isRunOver, type RunCore } from './run-core.ts'

const batchMs = 100
const batchCharacters = 16 * 1024

export class RunOutput {
  readonly #core: RunCore
  #text = ''
  #timer: unknown
  #stored: Promise<void> = Promise.resolve()

  constructor(core: RunCore) {
    this.#core = core
  }

  get isEmpty(): boolean {
    return this.#text === ''
  }

  add(text: string): void {
    this.#text += text
    if (this.#text.length >= batchCharacters) void this.flush()
    else this.#timer ??= this.#core.host.clock.setTimeout(() => void this.flush(), batchMs)
  }

  /** Resolves when everything added so far is durable. */
  flush(): Promise<void> {
    this.#core.host.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    const text = this.#text
    this.#text = ''
    if (text === '') return this.#stored
    this.#stored = Promise.all([this.#stored, this.#store(text)]).then(() => {})
    return this.#stored
  }

  async #store(text: string): Promise<void> {
    const { host, ref } = this.#core
    try {
      await this.#core.step(writeOutput(ref, text, host.stepContext()))
    } catch (error) {
      // The run was closed meanwhile: its output is dropped.
      if (isRunOver(error)) return
      host.report(error, { ...ref, doing: 'store output' })
    }
  }
}
