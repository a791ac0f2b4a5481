// The line below the live tree in which a question of a task can be answered at once. The keyboard is taken only while
// a question is open; at all other times keys mean what they always mean in a terminal.
import { emitKeypressEvents } from 'node:readline'
import { ErrandError } from '../../errors.ts'
import { answerChoices, parseAnswer } from './answer-text.ts'
import { formatDuration } from './duration.ts'
import type { Keyboard } from './io.ts'
import type { OpenQuestion, Row } from './run-view.ts'
import { cleanLine, displayWidth, firstLine, fitWidth } from './terminal-text.ts'

export interface AnswerPromptOptions {
  keyboard: Keyboard
  /** Without a value: the default. Rejects when the answer does not fit. */
  answer(taskId: string, question: string, value: unknown): Promise<unknown>
  /** Ctrl-C, which a keyboard that is taken no longer turns into a signal. */
  interrupt(): void
}

interface Key {
  name?: string | undefined
  ctrl?: boolean | undefined
  meta?: boolean | undefined
}

export class AnswerPrompt {
  readonly #options: AnswerPromptOptions
  #question: OpenQuestion | undefined
  #typed = ''
  #complaint = ''
  #sent: string | undefined

  constructor(options: AnswerPromptOptions) {
    this.#options = options
    emitKeypressEvents(options.keyboard)
  }

  /** The line as it stands now; undefined when nothing is asked. */
  draw(rows: readonly Row[], columns: number, now: number): string | undefined {
    this.#turnTo(rows.find((row) => isAsking(row) && row.question?.id !== this.#sent)?.question ?? undefined)
    if (this.#question === undefined) return undefined
    const typed = cleanLine(this.#typed)
    const room = Math.max(0, columns - displayWidth(typed) - 6)
    return fitWidth(` ${fitWidth(this.#complaint || words(this.#question, now), room)} › ${typed}▏`, columns - 1)
  }

  /** Gives the keyboard back. */
  end(): void {
    this.#turnTo(undefined)
  }

  #turnTo(question: OpenQuestion | undefined): void {
    if (question?.id !== this.#question?.id) {
      this.#typed = ''
      this.#complaint = ''
    }
    const { keyboard } = this.#options
    if (question !== undefined && this.#question === undefined) {
      keyboard.setRawMode(true)
      keyboard.on('keypress', this.#onKey)
      keyboard.resume()
    } else if (question === undefined && this.#question !== undefined) {
      keyboard.off('keypress', this.#onKey)
      keyboard.setRawMode(false)
      keyboard.pause()
    }
    this.#question = question
  }

  readonly #onKey = (text: string | undefined, key: Key): void => {
    this.#complaint = ''
    if (key.ctrl === true) {
      if (key.name === 'c') this.#options.interrupt()
      if (key.name === 'u') this.#typed = ''
    } else if (key.name === 'return' || key.name === 'enter') void this.#send()
    else if (key.name === 'backspace') this.#typed = Array.from(this.#typed).slice(0, -1).join('')
    else if (key.meta !== true && text !== undefined && cleanLine(text) === text.trim()) this.#typed += text
  }

  async #send(): Promise<void> {
    const question = this.#question
    if (question === undefined) return
    const typed = this.#typed.trim()
    if (typed === '' && !('default' in question)) {
      this.#complaint = 'There is no default; type an answer.'
      return
    }
    try {
      await this.#options.answer(
        question.taskId,
        question.id,
        typed === '' ? undefined : parseAnswer(typed, question.schema),
      )
      this.#sent = question.id
    } catch (error) {
      if (!ErrandError.isInstance(error)) throw error
      this.#complaint = firstLine(error.message)
      this.#typed = ''
    }
  }
}

/** Its run has ended with the question, and nobody has answered yet. */
function isAsking(row: Row): boolean {
  return row.status === 'input_required' && !row.ready && row.question !== null
}

function words(question: OpenQuestion, now: number): string {
  const choices = answerChoices(question.schema)
  const offered = choices.length === 0 ? '' : ` [${cleanLine(choices.join('|'))}]`
  const waits = question.dueAt === null ? '' : ` in ${formatDuration(question.dueAt - now)}`
  const otherwise = 'default' in question ? ` (else ${cleanLine(defaultText(question.default))}${waits})` : ''
  return `${firstLine(question.text)}${offered}${otherwise}`
}

function defaultText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
