// Carries out lines. JavaScript goes to the evaluation that `node:repl` brings, which knows `await` and lets Ctrl-C break off a wait;
// a command is handed to it as a call, so that it can be broken off as well. What a line gives is waited for, if it is a promise.
//
// Node gives an error of a line not to the callback but to the REPL's domain, which prints a stack. Here the domain hands it to the line
// that is being carried out; an error that comes when there is none was left behind by an earlier one, and is told.
import { create as createDomain } from 'node:domain'
import { type REPLServer, Recoverable, type ReplOptions, start } from 'node:repl'
import { types } from 'node:util'
import { talk } from './change-verbs.ts'
import { errorText, interrupted } from './error-text.ts'
import { namedValues } from './named-values.ts'
import { type Line, readLine } from './read-line.ts'
import type { Session } from './session.ts'
import { isVerb, requireVerb } from './session-verbs.ts'

export type Outcome =
  | { kind: 'value'; value: unknown }
  /** A command: it has printed what it had to say. */
  | { kind: 'done' }
  | { kind: 'error'; error: unknown }
  /** More is needed before it is a statement; the error says where it breaks off. */
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

  /** Carries out one line, or a statement of several. `done` is called exactly once. */
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

  /** Breaks off what is being waited for, as Ctrl-C does where Node listens to it. */
  interrupt(): void {
    if (this.#onError === undefined) return
    if ((this.server as { breakEvalOnSigint?: boolean }).breakEvalOnSigint === true) this.server.emit('SIGINT')
    else this.#onError(interrupted())
  }

  #carryOut(line: Line, done: Done): void {
    const stop = new AbortController()
    // It never rejects: an error of a command is none of the JavaScript around it.
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

  /** Waits, in a way that Ctrl-C breaks off. */
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
