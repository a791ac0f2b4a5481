// Runs lines from a pipe, a file or an argument, one after the other. The first error ends the script.
import type { REPLServer } from 'node:repl'
import { PassThrough, Writable } from 'node:stream'
import { type Clock, systemClock } from '../../core/clock.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { misuse } from '../terminal/arguments.ts'
import { exitCodeOf, exitCodes } from '../terminal/exit-code.ts'
import { cleanText } from '../terminal/terminal-text.ts'
import { errorText, isInterrupt } from './error-text.ts'
import type { Evaluator, Outcome } from './evaluator.ts'
import { noticed } from './named-values.ts'
import { Printer, type PrinterOutput } from './printer.ts'
import { Session } from './session.ts'
import { isVerb } from './verbs.ts'

export interface ScriptIo {
  stdout: PrinterOutput
  stderr: PrinterOutput
  /** Interrupts the running line, and ends the script with 130. */
  signal?: AbortSignal
  /** Additional names for the lines. */
  context?: Readonly<Record<string, unknown>>
  /** The clock for ages and durations. Default: the system clock. */
  clock?: Clock
}

/**
 * Runs lines of the REPL: messages, commands and JavaScript, which may span several lines. Prints the value of each line.
 *
 * Resolves to the exit code: 0, or that of the first error, which is printed on `stderr` with its line number: 2 for a wrong request,
 * 1 for other errors, 130 for an interrupt. Does not close the engine.
 *
 * @example
 * await runScript(engine, ['/create count the lines', 'await $.id', '/pause $'], process)
 */
export async function runScript(engine: Engine, script: string | readonly string[], io: ScriptIo): Promise<number> {
  const { stdout, stderr, signal, context, clock = systemClock } = io
  const printer = new Printer(stdout)
  const session = new Session({ engine, printer, clock, interactive: false })
  const input = new PassThrough()
  const output = new Writable({
    write: (chunk, _encoding, done) => done(void stdout.write(String(chunk)) as undefined),
  })
  // Loaded here, because importing `node:domain` changes the process.
  const { Evaluator } = await import('./evaluator.ts')
  const evaluator = new Evaluator(session, { input, output, prompt: '', terminal: false }, context)
  const interrupt = () => evaluator.interrupt()
  signal?.addEventListener('abort', interrupt)
  const show = (value: unknown) => {
    keepLast(evaluator.server, noticed(session, value))
    // A text is printed unquoted, for programs that read it through a pipe.
    printer.line(typeof value === 'string' ? value : session.shown(value))
  }
  const refuse = (line: number, error: unknown): number => {
    if (isInterrupt(error)) return exitCodes.interrupted
    stderr.write(cleanText(`errand repl: line ${line}: ${errorText(error)}\n`))
    return exitCodeOf(error)
  }
  try {
    let statement = { code: '', line: 0 }
    for (const [index, text] of linesOf(script).entries()) {
      if (signal?.aborted) return exitCodes.interrupted
      if (statement.code === '') statement.line = index + 1
      statement.code += `${text}\n`
      const outcome = await carryOut(evaluator, statement.code)
      if (outcome.kind === 'unfinished') continue
      if (outcome.kind === 'error') return refuse(statement.line, outcome.error)
      if (outcome.kind === 'value' && outcome.value !== undefined) show(outcome.value)
      if (session.over) return exitCodes.done
      statement = { code: '', line: 0 }
    }
    if (statement.code.trim() === '') return exitCodes.done
    return refuse(statement.line, misuse('The script ends within the statement that begins here.'))
  } finally {
    signal?.removeEventListener('abort', interrupt)
    evaluator.close()
    evaluator.server.close()
  }
}

/** Converts commands in the form of `node:repl` (`.pause 12`) into `/pause 12`, and skips `#!` in the first line. */
function linesOf(script: string | readonly string[]): string[] {
  const lines = typeof script === 'string' ? script.split(/\r?\n/) : [...script]
  const isKnown = (word: string | undefined) => word !== undefined && isVerb(word)
  return lines.map((line, index) => {
    if (index === 0 && line.startsWith('#!')) return ''
    return isKnown(/^\.([a-z]+)(?:\s|$)/.exec(line)?.[1]) ? line.replace('.', '/') : line
  })
}

function carryOut(evaluator: Evaluator, code: string): Promise<Outcome> {
  return new Promise((resolve) => evaluator.evaluate(code, resolve))
}

/** `_` is the last value, as at a terminal, until a line assigns it. */
function keepLast(server: REPLServer, value: unknown): void {
  const { underscoreAssigned } = server as { underscoreAssigned?: boolean }
  if (underscoreAssigned !== true) Object.assign(server, { last: value })
}
