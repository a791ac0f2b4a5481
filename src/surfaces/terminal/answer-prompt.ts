// The lines below the live tree in which the user can answer the questions of tasks, one after the other. The keyboard is in raw mode
// only while a question is open.

import { emitKeypressEvents, type Key } from 'node:readline'
import { systemClock } from '../../core/clock.ts'
import { formatDuration } from '../../core/duration.ts'
import { ErrandError } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'
import { openSubtasks } from '../../plans/idle.ts'
import { answerChoices, answerHint, parseAnswer, refusalText } from './answer-text.ts'
import { cliCaller } from './caller.ts'
import { type CommandIo, hasColor, type Keyboard } from './io.ts'
import { LiveScreen } from './live-screen.ts'
import { createPaint } from './paint.ts'
import type { OpenQuestion, RoundRows, Row } from './round-rows.ts'
import { cleanLine, cleanText, wrapText } from './terminal-text.ts'

export interface PromptOptions {
  /**
   * Milliseconds after which the default answers a question that has no time-out of its own, unless the user has pressed a key.
   * Undefined: never.
   */
  defaultAfterMs?: number | undefined
}

export class AnswerPrompt {
  readonly #keyboard: Keyboard
  readonly #engine: Pick<Engine, 'bus'>
  readonly #interrupt: () => void
  readonly #defaultAfterMs: number | undefined
  #question: OpenQuestion | undefined
  #typed = ''
  #complaint = ''
  /** Pages of a question that is longer than the terminal is high, and the one that is shown. */
  #pages = 1
  #pageAt = 0
  /** When the default answers; undefined after a key, and without such a time. */
  #defaultAt: number | undefined
  #isSending = false
  /** Ids of the answered questions, which are still in the rows until the event arrives. */
  readonly #answered = new Set<string>()

  /** `interrupt` is called for Ctrl-C, which a keyboard in raw mode does not turn into a signal. */
  constructor(
    keyboard: Keyboard,
    engine: Pick<Engine, 'bus'>,
    interrupt: () => void,
    { defaultAfterMs }: PromptOptions = {},
  ) {
    this.#keyboard = keyboard
    this.#engine = engine
    this.#interrupt = interrupt
    this.#defaultAfterMs = defaultAfterMs
    emitKeypressEvents(keyboard)
  }

  /**
   * The question and what was typed, as at most `height` lines that fit the columns; none without an open question. A question stays
   * until it is answered, and the others follow in the order of the rows.
   */
  draw(rows: readonly Row[], { columns, height }: { columns: number; height: number }, now: number): string[] {
    const open = rows.flatMap((row) =>
      isAsking(row) && row.question !== null && !this.#answered.has(row.question.id) ? [row.question] : [],
    )
    this.#turnTo(open.find(({ id }) => id === this.#question?.id) ?? open[0], now)
    const question = this.#question
    if (question === undefined) return []
    if (this.#defaultAt !== undefined && now >= this.#defaultAt) void this.#send()
    const wrapped = (texts: readonly string[]) =>
      texts.flatMap((text) => wrapText(text, columns - 2)).map((line) => ` ${line}`)
    const below = wrapped([
      ...(this.#complaint === '' ? [] : [this.#complaint]),
      ...(open.length > 1 ? [`(${open.length - 1} more to answer after this one)`] : []),
      `› ${cleanLine(this.#typed)}▏`,
    ])
    const asked = wrapped([
      questionText(question, this.#defaultAt ?? question.dueAt, this.#defaultAt !== undefined, now),
    ])
    return lastLines([...this.#page(asked, height - below.length), ...below], height)
  }

  /** The part of the question that fits, and which part it is if it does not fit as a whole. */
  #page(lines: readonly string[], height: number): string[] {
    this.#pages = lines.length <= height ? 1 : Math.ceil(lines.length / Math.max(1, height - 1))
    if (this.#pages === 1) return [...lines]
    this.#pageAt = Math.min(this.#pageAt, this.#pages - 1)
    const size = Math.max(1, height - 1)
    const at = this.#pageAt * size
    const hint = ` (page ${this.#pageAt + 1} of ${this.#pages}: Page Down and Page Up turn it)`
    return [...lines.slice(at, at + size), hint]
  }

  /** Releases the keyboard. */
  end(): void {
    this.#turnTo(undefined, 0)
  }

  #turnTo(question: OpenQuestion | undefined, now: number): void {
    const isNew = question?.id !== this.#question?.id
    if (isNew) {
      this.#typed = ''
      this.#complaint = ''
      this.#pageAt = 0
      this.#defaultAt =
        question !== undefined && 'default' in question && question.dueAt === null && this.#defaultAfterMs !== undefined
          ? now + this.#defaultAfterMs
          : undefined
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
    this.#defaultAt = undefined
    if (key.ctrl === true) {
      if (key.name === 'c') this.#interrupt()
      if (key.name === 'u') this.#typed = ''
    } else if (key.name === 'pagedown') this.#pageAt = Math.min(this.#pageAt + 1, this.#pages - 1)
    else if (key.name === 'pageup') this.#pageAt = Math.max(this.#pageAt - 1, 0)
    else if (key.name === 'return' || key.name === 'enter') this.#enter()
    else if (key.name === 'backspace') this.#typed = Array.from(this.#typed).slice(0, -1).join('')
    else if (key.meta !== true && text !== undefined && cleanLine(text) === text.trim()) this.#typed += text
  }

  #enter(): void {
    if (this.#pageAt === this.#pages - 1) void this.#send()
    else this.#complaint = 'The question goes on: Page Down shows the rest, and then Enter sends the answer.'
  }

  async #send(): Promise<void> {
    const question = this.#question
    if (question === undefined || this.#isSending) return
    this.#defaultAt = undefined
    const typed = this.#typed.trim()
    if (typed === '' && !('default' in question)) {
      this.#complaint = `There is no default. ${answerHint(question.schema)}`
      return
    }
    this.#isSending = true
    try {
      const value = typed === '' ? undefined : parseAnswer(typed, question.schema)
      const answer = omitUndefined({ taskId: question.taskId, question: question.id, value })
      await this.#engine.bus.call('task:answer', answer, cliCaller)
      this.#answered.add(question.id)
    } catch (error) {
      if (!ErrandError.isInstance(error)) throw error
      if (this.#question?.id !== question.id) return
      this.#complaint = refusalText(error, typed, question.schema)
      this.#typed = ''
    } finally {
      this.#isSending = false
    }
  }
}

/** Returns undefined without a keyboard. */
export function promptAt(io: CommandIo, engine: Engine, options: PromptOptions = {}): AnswerPrompt | undefined {
  return io.keyboard && new AnswerPrompt(io.keyboard, engine, () => io.interrupt(), options)
}

/**
 * Whether a question of these tasks, or of those that their agents created, is open. Refreshes the rows, because the feed reports each
 * of several questions of a task only once.
 */
export async function hasQuestion(engine: Engine, view: RoundRows, tasks: readonly Task[]): Promise<boolean> {
  view.refresh([...tasks, ...(await openSubtasks(engine, tasks))])
  return view.rows.some((row) => row.question !== null)
}

/** Whether the run has ended with a question that has no answer yet. */
function isAsking(row: Row): boolean {
  return row.status === 'input_required' && !row.ready && row.question !== null
}

function questionText(question: OpenQuestion, answeredAt: number | null, isStoppable: boolean, now: number): string {
  const choices = answerChoices(question.schema)
  const offered = choices.length === 0 ? '' : ` [${cleanLine(choices.join('|'))}]`
  const waits =
    answeredAt === null ? '' : ` in ${formatDuration(answeredAt - now)}${isStoppable ? ' unless you press a key' : ''}`
  const otherwise = 'default' in question ? ` (default: ${cleanLine(defaultText(question.default))}${waits})` : ''
  return `${cleanText(question.question).trim()}${offered}${otherwise}`
}

function defaultText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What is typed, with the lines around it: its end remains on a low terminal. */
function lastLines(lines: string[], height: number): string[] {
  return lines.length <= height ? lines : lines.slice(-height)
}

const frameMs = 100

/** The prompt without a tree: drawn while a question is open, and removed before other output. */
export interface QuestionLine {
  /** Removes the prompt until the next frame, so that other output can be written. */
  clear(): void
  /** Releases the keyboard and removes the prompt. */
  end(): void
}

/** `isLineFree`: whether the cursor is at the beginning of a line, so that drawing overwrites nothing. */
export function createQuestionLine(
  io: CommandIo,
  view: RoundRows,
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
    const size = { columns: io.stderr.columns || 80, height: (io.stderr.rows || 24) - 1 }
    const lines = prompt.draw(view.rows, size, systemClock.now())
    if (lines.length === 0) leave()
    else if (isLineFree()) {
      screen ??= new LiveScreen(io.stderr)
      screen.draw(lines.map(createPaint(hasColor(io)).asking))
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
