// The REPL at a terminal: `node:repl` with commands and messages, TAB completion, and changes of tasks above the line being typed.

import { Console } from 'node:console'
import { writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { AsyncCompleter } from 'node:readline'
import type { REPLServer } from 'node:repl'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { type Clock, systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import { messageOf } from '../../core/stored-error.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { failureText, statusAfter, textOf } from '../terminal/event-fields.ts'
import { taskNumbers } from '../terminal/task-labels.ts'
import { cleanLine, firstLine, fitWidth } from '../terminal/terminal-text.ts'
import { errorText, isInterrupt } from './error-text.ts'
import type { Evaluator, Outcome } from './evaluator.ts'
import { noticed } from './named-values.ts'
import { Printer, type PrinterOutput, type TypedLine } from './printer.ts'
import { runScript } from './run-script.ts'
import { Session } from './session.ts'
import { taskRefs } from './task-refs.ts'
import { replVerbs } from './verbs.ts'

export interface ReplOptions {
  /** Default: `process.stdin`. When it is not a terminal its lines are run as a script (`runScript`). */
  input?: NodeJS.ReadableStream
  /** Default: `process.stdout`. */
  output?: NodeJS.WritableStream
  /** Receives the errors of a script. Default: `process.stderr`. */
  errors?: NodeJS.WritableStream
  /** Default `errand> `. */
  prompt?: string
  /** File of the history, readable by its owner only. Default: ERRAND_HISTORY, else `~/.errand_repl_history`. Empty: none. */
  historyFile?: string
  /** Prints no changes of tasks until `/loud`. Default false. */
  quiet?: boolean
  /** Additional names for the lines. */
  context?: Record<string, unknown>
  /** The clock for ages and durations. Default: the system clock. */
  clock?: Clock
  /** Called with the exit code when the session ends. */
  onExit?: (code: number) => void
}

export interface ErrandRepl {
  /** Resolves to an exit code when the session ends: by `/exit`, Ctrl-D, `close`, or the end of the input. */
  readonly closed: Promise<number>
  /** Ends the session and interrupts the running line. The engine stays open. */
  close(): void
}

const stream = <T>() => z.custom<T>((value) => typeof value === 'object' && value !== null, 'expected a stream')
const optionsSchema = z.strictObject({
  input: stream<NodeJS.ReadableStream & { isTTY?: boolean }>().default(() => process.stdin),
  output: stream<NodeJS.WritableStream & PrinterOutput>().default(() => process.stdout),
  errors: stream<NodeJS.WritableStream>().default(() => process.stderr),
  prompt: z.string().max(100).default('errand> '),
  historyFile: z.string().exactOptional(),
  quiet: z.boolean().default(false),
  context: z.record(z.string(), z.unknown()).default({}),
  clock: z.custom<Clock>((value) => typeof (value as Clock | null)?.now === 'function').default(() => systemClock),
  onExit: z.custom<(code: number) => unknown>((value) => typeof value === 'function').exactOptional(),
})
type Options = z.output<typeof optionsSchema>

/**
 * Starts a session with an engine. Does not close the engine; after the session, nothing keeps the process alive.
 *
 * @example
 * const repl = startRepl(engine)
 * process.exitCode = await repl.closed
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT
 */
export function startRepl(engine: Engine, options: ReplOptions = {}): ErrandRepl {
  const checked = parse(optionsSchema, options, 'startRepl')
  const stop = new AbortController()
  const session = checked.input.isTTY === true ? atTerminal : asScript
  const closed = session(engine, checked, stop.signal).then(async (code) => {
    await checked.onExit?.(code)
    return code
  })
  return { closed, close: () => stop.abort() }
}

async function asScript(engine: Engine, options: Options, signal: AbortSignal): Promise<number> {
  const { input, output, errors, context, clock } = options
  return await runScript(engine, await text(input), { stdout: output, stderr: errors, context, clock, signal })
}

async function atTerminal(engine: Engine, options: Options, signal: AbortSignal): Promise<number> {
  const { input, output, prompt, context, clock } = options
  const printer = new Printer(output)
  const session = new Session({ engine, printer, clock, interactive: true })
  const begunAfter = await session.position()
  if (options.quiet) session.loudness = 'quiet'
  const colors = output.isTTY === true && !process.env['NO_COLOR']
  const writer = (value: unknown) => session.shown(value, colors)
  // Loaded here, because importing `node:domain` changes the process.
  const { Evaluator } = await import('./evaluator.ts')
  const evaluator = new Evaluator(
    session,
    { input, output, prompt, terminal: true, breakEvalOnSigint: true, writer },
    { ...directConsole(output), ...context },
  )
  const { server } = evaluator
  const over = new Promise<void>((resolve) => server.once('exit', resolve))
  takeLines(evaluator, session)
  Object.assign(server, { completer: completerFor(session, server.completer as AsyncCompleter) })
  await keepHistory(
    evaluator,
    options.historyFile ?? process.env['ERRAND_HISTORY'] ?? join(homedir(), '.errand_repl_history'),
  )
  printer.typed = server as TypedLine
  const announcing = new AbortController()
  const announced = announce(session, begunAfter, announcing.signal)
  const end = () => {
    evaluator.interrupt()
    server.close()
  }
  if (signal.aborted) end()
  signal.addEventListener('abort', end)
  await over
  signal.removeEventListener('abort', end)
  printer.typed = undefined
  evaluator.close()
  announcing.abort()
  await announced
  return 0
}

type Callback = (error: Error | null, value?: unknown) => void

/** Evaluates lines with `evaluator`. Commands are also available as `.verb`, and `.help` lists them. */
function takeLines(evaluator: Evaluator, session: Session): void {
  const { server } = evaluator
  Object.assign(server, {
    eval: (code: string, _context: unknown, _file: string, callback: Callback) =>
      evaluator.evaluate(code, (outcome) => answer(server, session, outcome, callback)),
  })
  for (const [name, { summary }] of Object.entries(replVerbs)) {
    if (Object.hasOwn(server.commands, name)) continue
    server.defineCommand(name, { help: summary, action: (rest) => void server.emit('line', `/${name} ${rest}`) })
  }
}

/** Node prints the value that it is called back with; with `null` alone it prints nothing. */
function answer(server: REPLServer, session: Session, outcome: Outcome, callback: Callback): void {
  if (session.over) {
    server.close()
    return
  }
  switch (outcome.kind) {
    case 'value':
      callback(null, noticed(session, outcome.value))
      return
    case 'unfinished':
      callback(outcome.error)
      return
    case 'error':
      Object.assign(server, { lastError: outcome.error })
      if (isInterrupt(outcome.error)) session.printer.wipeLine()
      session.printer.line(errorText(outcome.error))
      callback(null)
      return
    case 'done':
      callback(null)
  }
}

/** If the file cannot be used, Node reports it, and the session continues without a history. */
async function keepHistory({ server }: Evaluator, file: string): Promise<void> {
  if (file === '') return
  await new Promise<void>((resolve) => server.setupHistory(file, () => resolve()))
}

// Prints changes of tasks while the user is at the prompt, one line each. By default only changes of the tasks of this session, and the
// questions of all tasks.

const announcedTypes = [
  'task.created',
  'task.started',
  'task.paused',
  'task.resumed',
  'task.waiting',
  'task.completed',
  'task.failed',
  'task.retried',
  'task.canceled',
  'question.asked',
] as const satisfies ReadonlyArray<TaskEvent['type']>

/** Prints the events after a position of the feed, until the signal aborts or the engine closes. */
async function announce(session: Session, after: number, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of session.stream<TaskEvent>('event:feed', { after, types: announcedTypes }, signal)) {
      if (isAnnounced(session, event)) session.printer.notice(await announcement(session, event))
    }
  } catch (error) {
    if (signal.aborted || (ErrandError.isInstance(error) && error.code === 'ENGINE_CLOSED')) return
    session.printer.notice(`Changes of tasks are no longer shown: ${messageOf(error)}`)
  }
}

function isAnnounced(session: Session, event: TaskEvent): boolean {
  if (session.loudness === 'quiet' || session.followed === event.taskId) return false
  if (event.type === 'question.asked') return true
  if (session.loudness === 'own' && !session.owns(event.taskId)) return false
  return session.isChange(event.taskId, statusAfter(event))
}

async function announcement({ engine }: Session, event: TaskEvent): Promise<string> {
  const numberOf = await taskNumbers(engine, [event.taskId])
  const label = `${numberOf(event.taskId)} ${fitWidth(cleanLine(textOf(event, 'name')), 60)}`
  if (event.type === 'question.asked') return `${label} asks: ${firstLine(textOf(event, 'question'))}`
  return `${label} ${event.type === 'task.failed' ? failureText(event) : event.type.replace('task.', '')}`
}

// TAB completion: tasks after `@`, commands after `/`, the arguments of a command after it, and JavaScript elsewhere.

type Completion = [candidates: string[], completed: string]

/** Returns undefined for JavaScript. */
async function completeLine(session: Session, line: string): Promise<Completion | undefined> {
  if (line.startsWith('@')) return await completeRef(session, line)
  const [, mark, verb, gap, typed = ''] = /^([/.])([a-z-]*)(\s*)([\s\S]*)$/.exec(line) ?? []
  if (mark === undefined || verb === undefined || (mark === '.' && gap === '')) return undefined
  if (gap === '' && typed === '')
    return fitting(
      Object.keys(replVerbs).map((name) => `/${name}`),
      line,
      ' ',
    )
  const complete = Object.hasOwn(replVerbs, verb) ? replVerbs[verb]?.complete : undefined
  if (complete === undefined) return gap === '' ? undefined : [[], line]
  return fitting(await complete(session, typed), /\S*$/.exec(typed)?.[0] ?? '')
}

async function completeRef(session: Session, line: string): Promise<Completion> {
  const typed = line.slice(1)
  if (/\s/.test(typed)) return [[], line]
  return fitting(
    (await taskRefs(session, typed)).map((ref) => `@${ref}`),
    line,
    ' ',
  )
}

/** `end` is appended to a single candidate. */
function fitting(candidates: readonly string[], typed: string, end = ''): Completion {
  const fit = candidates.filter((candidate) => candidate.startsWith(typed)).sort()
  return [fit.length === 1 ? [`${fit[0]}${end}`] : fit, typed]
}

/** Wraps the completer of `node:repl`. */
function completerFor(session: Session, native: AsyncCompleter): AsyncCompleter {
  return (line, callback) => {
    void completeLine(session, line).then(
      (completion) => (completion === undefined ? native(line, callback) : callback(null, completion)),
      // Offers nothing if the ledger cannot be read; the command itself will report the error.
      () => callback(null, [[], line]),
    )
  }
}

// The `console` for lines at a terminal. Ctrl-C can interrupt a loop in the middle of a write to a stream, and the stream would then
// wait for the write forever and print nothing more. This console writes to the file descriptor directly.

/** Returns no console if the output is not a terminal of the process; lines then use the console of `node:repl`. */
function directConsole(output: NodeJS.WritableStream & { fd?: unknown; isTTY?: unknown }): {
  console?: Console
} {
  const { fd } = output
  if (typeof fd !== 'number' || output.isTTY !== true) return {}
  const stdout = Object.create(output, { write: { value: (text: string) => writeAll(fd, text) } }) as typeof output
  return { console: new Console({ stdout, ignoreErrors: false }) }
}

function writeAll(fd: number, text: string): void {
  let left = Buffer.from(text)
  while (left.length > 0) left = left.subarray(writeSome(fd, left))
}

/** Returns 0 if the terminal is busy, so that the caller repeats the write. */
function writeSome(fd: number, bytes: Buffer): number {
  try {
    return writeSync(fd, bytes)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
    throw error
  }
}
