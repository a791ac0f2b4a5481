// Stored output: collected for a moment and stored in batches, so that a chatty command costs few commits and `logs -f`
// in another process still follows closely.
import type { OutputStreamName } from '../entities/output.ts'
import { writeOutput } from '../operations/steps/journal.ts'
import { isRunOver, type RunCore } from './run-core.ts'

const batchMs = 100
const batchCharacters = 16 * 1024

export class RunOutput {
  readonly #core: RunCore
  #text = ''
  /** The stream that the collected text is of. */
  #stream: OutputStreamName = 'stdout'
  #timer: unknown
  #stored: Promise<void> = Promise.resolve()

  constructor(core: RunCore) {
    this.#core = core
  }

  get isEmpty(): boolean {
    return this.#text === ''
  }

  add(text: string, stream: OutputStreamName): void {
    if (stream !== this.#stream) {
      void this.flush()
      this.#stream = stream
    }
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
    this.#stored = Promise.all([this.#stored, this.#store(text, this.#stream)]).then(() => {})
    return this.#stored
  }

  async #store(text: string, stream: OutputStreamName): Promise<void> {
    const { host, ref } = this.#core
    try {
      await this.#core.step(writeOutput(ref, { text, stream }, host.stepContext()))
    } catch (error) {
      // The run was closed meanwhile: its output is dropped.
      if (isRunOver(error)) return
      host.report(error, { ...ref, doing: 'store output' })
    }
  }
}
