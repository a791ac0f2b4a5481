// Runs `errand repl` in a pseudo-terminal with its own process, and emulates the screen.
import { ErrandTerminal, keys, type TerminalOptions } from './errand-terminal.ts'
import type { TerminalScreen } from './terminal-screen.ts'

export { keys } from './errand-terminal.ts'

export class ReplTerminal extends ErrandTerminal {
  readonly #columns: number

  constructor(options: TerminalOptions) {
    super({ ...options, args: ['repl', ...(options.args ?? [])] })
    this.#columns = options.columns ?? 80
  }

  /** Types a line, ends it, and waits until the next one can be typed. */
  async enter(line: string): Promise<string> {
    const before = this.screen.lines.length
    // Notices above the line move it down, so its output begins below its current row.
    const echo = `${prompt}${line}`.trimEnd()
    const begins = ({ lines }: TerminalScreen): number => {
      if (echo.length >= this.#columns) return before
      const at = lines.lastIndexOf(echo)
      return at < before - 1 ? Number.POSITIVE_INFINITY : at + 1
    }
    this.type(`${line}${keys.enter}`)
    await this.until((screen) => screen.lines.length > begins(screen) && screen.line === prompt.trimEnd())
    return this.screen.lines.slice(begins(this.screen), -1).join('\n')
  }

  /** Resolves when a line can be typed. */
  async ready(): Promise<void> {
    await this.until((screen) => screen.line === prompt.trimEnd())
  }
}

export const prompt = 'errand> '
