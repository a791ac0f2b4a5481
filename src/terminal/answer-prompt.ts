// The line below the live tree in which the user can answer a question of a task. The keyboard is in raw mode only while a
// question is open.

import { emitKeypressEvents, type Key } from 'node:readline'
import { systemClock } from '../core/clock.ts'
import { defined } from '../core/defined.ts'
import { formatDuration } from '../core/duration.ts'
import { ErrandError } from '../core/errors.ts'
import type { Engine } from '../engine-api.ts'
import { answerChoices, parseAnswer } from './answer-text.ts'
import { cliCaller } from './caller.ts'
import { type CommandIo, hasColor, type Keyboard } from './io.ts'
import { LiveScreen } from './live-screen.ts'
import { createPaint } from './paint.ts'
import type { OpenQuestion, RoundView, Row } from './round-view.ts'
import { cleanLine, displayWidth, firstLine, fitWidth } from './terminal-text.ts'

export class AnswerPrompt {
  readonly #keyboard: Keyboard
  readonly #engine: Pick<Engine, 'bus'>
  readonly #interrupt: () => void
  #question: OpenQuestion | undefined
  #typed = ''
  #complaint = ''
  #sent: string | undefined

  /** `interrupt` is called for Ctrl-C, which a keyboard in raw mode does not turn into a signal. */
  constructor(keyboard: Keyboard, engine: Pick<Engine, 'bus'>, interrupt: () => void) {
    this.#keyboard = keyboard
    this.#engine = engine
    this.#interrupt = interrupt
    emitKeypressEvents(keyboard)
  }

  /** The current line; undefined without an open question. */
  draw(rows: readonly Row[], columns: number, now: number): string | undefined {
    this.#turnTo(rows.find((row) => isAsking(row) && row.question?.id !== this.#sent)?.question ?? undefined)
    if (this.#question === undefined) return undefined
    const typed = cleanLine(this.#typed)
    const room = Math.max(0, columns - displayWidth(typed) - 6)
    return fitWidth(` ${fitWidth(this.#complaint || questionText(this.#question, now), room)} › ${typed}▏`, columns - 1)
  }

  /** Releases the keyboard. */
  end(): void {
    this.#turnTo(undefined)
  }

  #turnTo(question: OpenQuestion | undefined): void {
    if (question?.id !== this.#question?.id) {
      this.#typed = ''
      this.#complaint = ''
    }
    const keyboard = this.#keyboard
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
      if (key.name === 'c') this.#interrupt()
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
      const value = typed === '' ? undefined : parseAnswer(typed, question.schema)
      const answer = defined({ taskId: question.taskId, question: question.id, value })
      await this.#engine.bus.call('task:answer', answer, cliCaller)
      this.#sent = question.id
    } catch (error) {
      if (!ErrandError.isInstance(error)) throw error
      this.#complaint = firstLine(error.message)
      this.#typed = ''
    }
  }
}

/** Returns undefined without a keyboard. */
export function promptAt(io: CommandIo, engine: Engine): AnswerPrompt | undefined {
  return io.keyboard && new AnswerPrompt(io.keyboard, engine, () => io.interrupt())
}

/** Whether the run has ended with a question that has no answer yet. */
function isAsking(row: Row): boolean {
  return row.status === 'input_required' && !row.ready && row.question !== null
}

function questionText(question: OpenQuestion, now: number): string {
  const choices = answerChoices(question.schema)
  const offered = choices.length === 0 ? '' : ` [${cleanLine(choices.join('|'))}]`
  const waits = question.dueAt === null ? '' : ` in ${formatDuration(question.dueAt - now)}`
  const otherwise = 'default' in question ? ` (else ${cleanLine(defaultText(question.default))}${waits})` : ''
  return `${firstLine(question.question)}${offered}${otherwise}`
}

function defaultText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const frameMs = 100

/** The line without a tree: drawn while a question is open, and removed before other output. */
export interface QuestionLine {
  /** Removes the line until the next frame, so that other output can be written. */
  clear(): void
  /** Releases the keyboard and removes the line. */
  end(): void
}

/** `isLineFree`: whether the cursor is at the beginning of a line, so that drawing overwrites nothing. */
export function createQuestionLine(
  io: CommandIo,
  view: RoundView,
  prompt: AnswerPrompt,
  isLineFree: () => boolean,
): QuestionLine {
  let screen: LiveScreen | undefined
  let timer: unknown
  const leave = () => {
    screen?.draw([])
    screen?.end()
    screen = undefined
  }
  const turn = () => {
    const line = prompt.draw(view.rows, io.stderr.columns || 80, systemClock.now())
    if (line === undefined) leave()
    else if (isLineFree()) {
      screen ??= new LiveScreen(io.stderr)
      screen.draw([createPaint(hasColor(io)).asking(line)])
    }
    timer = systemClock.setTimeout(turn, frameMs)
  }
  turn()
  return {
    clear: () => screen?.draw([]),
    end() {
      systemClock.clearTimeout(timer)
      prompt.end()
      leave()
    },
  }
}
