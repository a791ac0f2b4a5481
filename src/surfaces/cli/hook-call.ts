// What a coding agent's hook hands over, and what is made of it: the session that begins or ends, and the task that it is about.

import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { waitAtMost } from '../../core/signals.ts'
import type { BoardRef } from '../../entities/board.ts'
import { type FlagsOf, texts } from '../../terminal/arguments.ts'
import { cliCaller } from '../../terminal/caller.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, note, printJson } from '../../terminal/io.ts'
import { durationOption } from '../../terminal/option-values.ts'
import { type BoardAccess, boardOptions, boardRef, withBoard } from './board-target.ts'

export const hookOptions = { ...boardOptions, ...texts('as', 'timeout') }
export const hookOptionsHelp = [
  '  --as NAME           who the agent is on the board; default: ERRAND_AGENT, else ERRAND_OWNER',
  '  --board NAME        another board than main',
  '  --timeout DURATION  after so long nothing is said, or kept; default 2s',
]

/** An agent does not wait any longer for its hooks, in milliseconds. */
const defaultTimeoutMs = 2_000

/** Variables that may name the task of a session, in the order in which they count. */
export const taskVariables = ['ERRAND_TASK_ID', 'BM_TASK_ID', 'DAY1_TASK_ID'] as const

const word = z.string().trim().min(1).max(4_096).optional().catch(undefined)

/** Whatever does not fit is as good as not said: a hook never fails because of how it was called. */
const hookInputSchema = z
  .object({ session_id: word, transcript_path: word, cwd: word, source: word, reason: word })
  .catch({ session_id: undefined, transcript_path: undefined, cwd: undefined, source: undefined, reason: undefined })

export type HookInput = z.output<typeof hookInputSchema>

/** The JSON on standard input; nothing at a terminal. */
async function readHookInput(io: CommandIo): Promise<HookInput> {
  const input = io.input?.()
  if (input === undefined) return hookInputSchema.parse({})
  const given = await text(input)
  try {
    return hookInputSchema.parse(JSON.parse(given))
  } catch {
    // No JSON: then it is said in no words that we know, and the environment alone counts.
    return hookInputSchema.parse({})
  }
}

/** What may name the task of a session: what its hook was called with, else the environment. */
export function namesOfTask(io: CommandIo, [given]: readonly string[] = []): string[] {
  if (given !== undefined) return [given]
  return taskVariables.flatMap((variable) => io.env[variable]?.trim() || [])
}

/** The first of these tasks that there is. */
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
      // Another program's task, perhaps: its variables are not ours.
      if (!ErrandError.isInstance(error)) throw error
    }
  }
  return undefined
}

/**
 * Does the work of a hook, but not for longer than an agent waits; beyond that the process ends where it stands. What the work resolves
 * to is printed as JSON.
 */
export async function runHook(io: CommandIo, flags: FlagsOf<typeof hookOptions>, work: HookWork): Promise<number> {
  const timeoutMs = flags.timeout === undefined ? defaultTimeoutMs : durationOption('timeout', flags.timeout)
  const working = workInSession(io, flags, work)
  // What it still throws when nobody waits for it any more is nobody's business.
  working.catch(() => {})
  if (!(await waitAtMost(systemClock, timeoutMs, working))) {
    if (io.env['ERRAND_DEBUG'] === '1') note(io, `errand: The hook took longer than ${timeoutMs} ms and was given up.`)
    io.exit(exitCodes.done)
  }
  return exitCodes.done
}

type HookWork = (place: BoardAccess, input: HookInput) => Promise<object | undefined>

/** The folder of the session decides which ledger is meant. */
async function workInSession(io: CommandIo, flags: FlagsOf<typeof hookOptions>, work: HookWork): Promise<void> {
  const input = await readHookInput(io)
  const session = input.cwd !== undefined && existsSync(input.cwd) ? { ...io, cwd: input.cwd } : io
  const said = await withBoard(session, { ...flags, folders: false }, (place) => work(place, input))
  if (said !== undefined) printJson(io, said)
}
