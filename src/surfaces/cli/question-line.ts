// The line on which the questions of an agent are answered while its text stands above: drawn while a question is open, gone
// before anything else is written.
import { type Clock, systemClock } from '../../clock.ts'
import type { AnswerPrompt } from './answer-prompt.ts'
import { type CommandIo, hasColor } from './io.ts'
import { LiveScreen } from './live-screen.ts'
import { createPaint } from './paint.ts'
import type { RunView } from './run-view.ts'

const frameMs = 100

export class QuestionLine {
  readonly #io: CommandIo
  readonly #view: RunView
  readonly #prompt: AnswerPrompt
  readonly #isLineFree: () => boolean
  readonly #clock: Clock
  #screen: LiveScreen | undefined
  #timer: unknown

  /** `isLineFree`: the cursor stands at the beginning of a line, so that drawing there destroys nothing. */
  constructor(
    io: CommandIo,
    view: RunView,
    prompt: AnswerPrompt,
    isLineFree: () => boolean,
    clock: Clock = systemClock,
  ) {
    this.#io = io
    this.#view = view
    this.#prompt = prompt
    this.#isLineFree = isLineFree
    this.#clock = clock
    this.#turn()
  }

  /** Takes the line away for a moment, so that something else can be written. */
  clear(): void {
    this.#screen?.draw([])
  }

  /** Gives the keyboard and the line back. */
  end(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#prompt.end()
    this.#leave()
  }

  #turn(): void {
    const columns = this.#io.stderr.columns || 80
    const line = this.#prompt.draw(this.#view.rows, columns, this.#clock.now())
    if (line === undefined) this.#leave()
    else if (this.#isLineFree()) {
      this.#screen ??= new LiveScreen(this.#io.stderr)
      this.#screen.draw([createPaint(hasColor(this.#io)).asking(line)])
    }
    this.#timer = this.#clock.setTimeout(() => this.#turn(), frameMs)
  }

  #leave(): void {
    this.#screen?.draw([])
    this.#screen?.end()
    this.#screen = undefined
  }
}
