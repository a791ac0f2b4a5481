// The input of a coding agent's hook: the session that begins or ends, and the task that it is about.

import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { waitAtMost } from '../../core/signals.ts'
import type { BoardRef } from '../../entities/board.ts'
import { type FlagsOf, texts } from '../terminal/arguments.ts'
import { cliCaller } from '../terminal/caller.ts'
import { exitCodes } from '../terminal/exit-code.ts'
import { type CommandIo, note, printJson } from '../terminal/io.ts'
import { durationOption } from '../terminal/option-values.ts'
import { type BoardAccess, boardOptions, boardRef, withBoard } from './board-target.ts'

export const hookOptions = { ...boardOptions, ...texts('as', 'timeout') }
export const hookOptionsHelp = [
  '  --as NAME           the name of the agent on the board; default: ERRAND_AGENT, else ERRAND_OWNER',
  '  --board NAME        a board other than main',
  '  --timeout DURATION  gives up after this time, and prints and records nothing; default 2s',
]

/** The session of the agent waits for its hook. */
const defaultTimeoutMs = 2_000

/** Variables that may name the task of a session, in order of precedence. */
export const taskVariables = ['ERRAND_TASK_ID', 'BM_TASK_ID', 'DAY1_TASK_ID'] as const

const word = z.string().trim().min(1).max(4_096).optional().catch(undefined)

/** Invalid fields are ignored: a hook never fails because of its input. */
const hookInputSchema = z
  .object({ session_id: word, transcript_path: word, cwd: word, source: word, reason: word })
  .catch({ session_id: undefined, transcript_path: undefined, cwd: undefined, source: undefined, reason: undefined })

export type HookInput = z.output<typeof hookInputSchema>

/** How long a hook waits for its input. */
const maxInputWaitMs = 500

/**
 * Reads the JSON on stdin; nothing at a terminal. Some agents never close stdin: the input ends with its JSON, and where none comes, the hook
 * goes on without it while its agent still waits.
 */
async function readHookInput(io: CommandIo, timeoutMs: number): Promise<HookInput> {
  const input = io.input?.() as Readable | undefined
  if (input === undefined) return hookInputSchema.parse({})
  let given = ''
  let json: unknown
  const read = async (): Promise<void> => {
    for await (const piece of input.setEncoding('utf8')) {
      given += String(piece)
      json = given.trimEnd().endsWith('}') ? jsonIn(given) : undefined
      if (json !== undefined) return
    }
  }
  await waitAtMost(systemClock, Math.min(maxInputWaitMs, timeoutMs / 4), read())
  // An open stdin would keep the process alive.
  input.destroy()
  return hookInputSchema.parse(json)
}

/** Undefined without valid JSON: only the environment counts then. */
function jsonIn(given: string): unknown {
  try {
    return JSON.parse(given) as unknown
  } catch {
    return undefined
  }
}

/** The names that the task of a session may have: the argument of the hook, else those in the environment. */
export function namesOfTask(io: CommandIo, [given]: readonly string[] = []): string[] {
  if (given !== undefined) return [given]
  return taskVariables.flatMap((variable) => io.env[variable]?.trim() || [])
}

/** The first of these tasks that exists. */
export async function findNamed(
  { engine, board }: BoardAccess,
  names: readonly string[],
): Promise<BoardRef | undefined> {
  for (const named of names) {
    try {
      const id = await boardRef(engine, named)
      await engine.bus.call('board:get', { id, board }, cliCaller)
      return id
    } catch (error) {
      // The variable may name a task of another program.
      if (!ErrandError.isInstance(error)) throw error
    }
  }
  return undefined
}

/**
 * Runs a hook and prints the result as JSON. The process exits when the hook takes longer than the timeout.
 */
export async function runHook(io: CommandIo, flags: FlagsOf<typeof hookOptions>, work: HookWork): Promise<number> {
  const timeoutMs = flags.timeout === undefined ? defaultTimeoutMs : durationOption('timeout', flags.timeout)
  const working = workInSession(io, flags, work, timeoutMs)
  // After the timeout the result is not awaited; a rejection must not end the process.
  working.catch(() => {})
  if (!(await waitAtMost(systemClock, timeoutMs, working))) {
    if (io.env['ERRAND_DEBUG'] === '1') note(io, `errand: The hook took longer than ${timeoutMs} ms and was ended.`)
    io.exit(exitCodes.done)
  }
  return exitCodes.done
}

type HookWork = (access: BoardAccess, input: HookInput) => Promise<object | undefined>

/** Finds the ledger from the folder of the session. */
async function workInSession(
  io: CommandIo,
  flags: FlagsOf<typeof hookOptions>,
  work: HookWork,
  timeoutMs: number,
): Promise<void> {
  const input = await readHookInput(io, timeoutMs)
  const session = input.cwd !== undefined && existsSync(input.cwd) ? { ...io, cwd: input.cwd } : io
  const said = await withBoard(session, { ...flags, folders: false }, (access) => work(access, input))
  if (said !== undefined) printJson(io, said)
}
