// Runs lines. JavaScript is evaluated by `node:repl`, which supports `await` and lets Ctrl-C interrupt a wait; a command is passed to
// it as a call, so that it can be interrupted as well. A promise that a line returns is awaited.
//
// Node passes an error of a line not to the callback but to the domain of the REPL, which prints a stack. Here the domain passes the
// error to the running line; an error that comes while no line is running is left over from an earlier one, and is printed.
import { create as createDomain } from 'node:domain'
import { type REPLServer, Recoverable, type ReplOptions, start } from 'node:repl'
import { types } from 'node:util'
import { talk } from './change-verbs.ts'
import { errorText, interrupted } from './error-text.ts'
import { namedValues } from './named-values.ts'
import { type Line, readLine } from './read-line.ts'
import type { Session } from './session.ts'
import { isVerb, requireVerb } from './verbs.ts'

export type Outcome =
  | { kind: 'value'; value: unknown }
  /** A command, which has printed its output. */
  | { kind: 'done' }
  | { kind: 'error'; error: unknown }
  /** The statement is incomplete; the error says where it ends. */
  | { kind: 'unfinished'; error: Error }

type Done = (outcome: Outcome) => void

const hook = Symbol.for('errand.repl.pending')
const awaitHook = 'await globalThis[Symbol.for("errand.repl.pending")]()\n'

export class Evaluator {
  readonly server: REPLServer
  readonly close: () => void
  readonly #session: Session
  readonly #native: REPLServer['eval']
  readonly #tasks: unknown
  #onError: ((error: unknown) => void) | undefined
  #pending: () => unknown = () => undefined

  constructor(session: Session, options: ReplOptions, context: Readonly<Record<string, unknown>> = {}) {
    this.#session = session
    const domain = createDomain()
    this.server = start({
      ...options,
      ...({ domain } as object),
      ignoreUndefined: true,
      preview: false,
      useGlobal: false,
    })
    domain.removeAllListeners('error')
    domain.on('error', (error) => this.#strayOrOwn(error))
    this.#native = this.server.eval
    const { values, tasks, close } = namedValues(session)
    this.#tasks = tasks
    this.close = close
    this.#define({ ...values, ...context })
    this.server.on('reset', () => this.#define({ ...values, ...context }))
  }

  /** Runs one line, or a statement of several lines. `done` is called exactly once. */
  evaluate(code: string, done: Done): void {
    const { printer } = this.#session
    printer.begin()
    const finish: Done = (outcome) => {
      printer.endLine()
      done(outcome)
      printer.end()
    }
    const line = readLine(code, isVerb)
    if (line === undefined) this.#evaluateJavaScript(code, finish)
    else this.#carryOut(line, finish)
  }

  /** Interrupts the current wait, like Ctrl-C where Node handles it. */
  interrupt(): void {
    if (this.#onError === undefined) return
    if ((this.server as { breakEvalOnSigint?: boolean }).breakEvalOnSigint === true) this.server.emit('SIGINT')
    else this.#onError(interrupted())
  }

  #carryOut(line: Line, done: Done): void {
    const stop = new AbortController()
    // Never rejects: an error of a command is not an error of the JavaScript that awaits it.
    const carriedOut = async (): Promise<Outcome> => {
      try {
        await this.#command(line, stop.signal)
        return { kind: 'done' }
      } catch (error) {
        return { kind: 'error', error }
      }
    }
    this.#await(carriedOut, (outcome) => {
      if (outcome.kind === 'error') stop.abort()
      done(outcome.kind === 'value' ? (outcome.value as Outcome) : outcome)
    })
  }

  async #command(line: Line, signal: AbortSignal): Promise<void> {
    if (line.kind === 'message') await talk(this.#session, line.ref, line.text, signal)
    else await requireVerb(line.verb).run(this.#session, line.rest, signal)
  }

  #evaluateJavaScript(code: string, done: Done): void {
    this.#run(code, (outcome) => {
      if (outcome.kind !== 'value') done(outcome)
      else if (types.isPromise(outcome.value)) this.#await(() => outcome.value, done)
      else if (outcome.value === this.#tasks) this.#await(() => this.#session.rows(), done)
      else done(outcome)
    })
  }

  /** Waits, so that Ctrl-C can interrupt it. */
  #await(pending: () => unknown, done: Done): void {
    this.#pending = pending
    this.#run(awaitHook, done)
  }

  #run(code: string, done: Done): void {
    let settled = false
    const settle = (outcome: Outcome): void => {
      if (settled) return
      settled = true
      this.#onError = undefined
      done(outcome)
    }
    const fail = (error: unknown): void => {
      if (error instanceof Recoverable) settle({ kind: 'unfinished', error })
      else settle({ kind: 'error', error })
    }
    this.#onError = fail
    this.#native.call(this.server, code, this.server.context, 'repl', (error, value: unknown) =>
      error === null ? settle({ kind: 'value', value }) : fail(error),
    )
  }

  #strayOrOwn(error: unknown): void {
    if (this.#onError === undefined) this.#session.printer.notice(errorText(error))
    else this.#onError(error)
  }

  #define(values: Readonly<Record<string, unknown>>): void {
    const { context } = this.server
    for (const [name, value] of Object.entries(values))
      Object.defineProperty(context, name, { value, configurable: true, enumerable: true, writable: true })
    Object.defineProperty(context, '$', { get: () => this.#session.last, configurable: true, enumerable: true })
    Object.defineProperty(context, hook, { value: () => this.#pending() })
  }
}
