// Runs `errand` in a pseudo-terminal with its own process, and emulates the screen.
import { type IPty, spawn } from '@lydell/node-pty'
import { onTestFailed, onTestFinished } from 'vitest'
import { binFile } from '../cli/workplace.ts'
import { TerminalScreen } from './terminal-screen.ts'

export const keys = {
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  tab: '\t',
  enter: '\r',
  left: '\u001b[D',
  up: '\u001b[A',
} as const

export interface TerminalOptions {
  folder: string
  args?: string[]
  columns?: number
  rows?: number
  env?: Record<string, string>
}

export class ErrandTerminal implements AsyncDisposable {
  readonly screen: TerminalScreen
  /** Everything that was written, in order. */
  raw = ''
  /** The exit code. */
  readonly ended: Promise<number>
  readonly #process: IPty
  #over: number | undefined
  #wake: () => void = () => {}

  constructor({ folder, args = [], columns = 80, rows = 50, env = {} }: TerminalOptions) {
    const { NO_COLOR: _noColor, ...inherited } = process.env as Record<string, string>
    this.screen = new TerminalScreen(columns)
    this.#process = spawn(process.execPath, [binFile, ...args, '--ledger', `${folder}/ledger.db`], {
      name: 'xterm-256color',
      cols: columns,
      rows,
      cwd: folder,
      env: { ...inherited, NO_COLOR: '1', ERRAND_HISTORY: `${folder}/history`, SHELL: '/bin/sh', ...env },
    })
    this.#process.onData((text) => {
      this.raw += text
      this.screen.write(text)
      this.#wake()
    })
    this.ended = new Promise((resolve) => {
      this.#process.onExit(({ exitCode }) => {
        this.#over = exitCode
        this.#wake()
        resolve(exitCode)
      })
    })
    // A test that times out never reaches the end of its `await using`, and the process would stay, spinning if it hangs.
    onTestFinished(() => this[Symbol.asyncDispose]())
    onTestFailed(() =>
      console.error(
        `The screen was:\n${this.screen.lines.join('\n')}\nWritten last: ${JSON.stringify(this.raw.slice(-500))}`,
      ),
    )
  }

  /** Types without waiting. */
  type(text: string): void {
    this.#process.write(text)
  }

  /** Resolves when the screen matches. */
  async until(isSo: (screen: TerminalScreen) => boolean): Promise<void> {
    while (!isSo(this.screen)) {
      if (this.#over !== undefined) throw new Error(`It ended with ${this.#over}:\n${this.screen.lines.join('\n')}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Resolves when a line of the screen matches. */
  async shows(pattern: RegExp): Promise<void> {
    await this.until((screen) => screen.lines.some((line) => pattern.test(line)))
  }

  terminate(): void {
    this.#process.kill('SIGTERM')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#over === undefined) this.#process.kill('SIGKILL')
    await this.ended
  }
}
