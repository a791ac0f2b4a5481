// What a coding agent's hook hands over, and what is made of it: the session that begins or ends, and the task that it is about.
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { systemClock } from '../../clock.ts'
import type { BoardRef } from '../../entities/board.ts'
import { ErrandError } from '../../errors.ts'
import { waitAtMost } from '../../signals.ts'
import { texts } from './arguments.ts'
import { type BoardAccess, boardOptions, boardRef, fromHere } from './board-place.ts'
import { exitCodes } from './exit-code.ts'
import { type CommandIo, note } from './io.ts'
import { durationOption } from './time-options.ts'

export const hookOptions = { ...boardOptions, ...texts('as', 'timeout') }
export const hookOptionsHelp = [
  '  --as NAME           who the agent is on the board; default: ERRAND_AGENT, else ERRAND_OWNER',
  '  --board NAME        another board than main',
  '  --timeout DURATION  after so long nothing is said, or kept; default 2s',
]

/** An agent does not wait any longer for its hooks, in milliseconds. */
const usualTimeoutMs = 2_000

export function hookTimeout({ timeout }: { timeout?: string | undefined }): number {
  return timeout === undefined ? usualTimeoutMs : durationOption('timeout', timeout)
}

/** Variables that may name the task of a session, in the order in which they count. */
export const taskVariables = ['ERRAND_TASK_ID', 'BM_TASK_ID', 'DAY1_TASK_ID'] as const

const word = z.string().trim().min(1).max(4_096).optional().catch(undefined)

/** Whatever does not fit is as good as not said: a hook never fails because of how it was called. */
const hookInputSchema = z
  .object({ session_id: word, transcript_path: word, cwd: word, source: word, reason: word })
  .catch({ session_id: undefined, transcript_path: undefined, cwd: undefined, source: undefined, reason: undefined })

export type HookInput = z.output<typeof hookInputSchema>

/** The JSON on standard input; nothing at a terminal. */
export async function readHookInput(io: CommandIo): Promise<HookInput> {
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

/** The world as the session sees it: its folder decides which ledger is meant. */
export function inSession(io: CommandIo, { cwd }: HookInput): CommandIo {
  return cwd !== undefined && existsSync(cwd) ? { ...io, cwd } : io
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
      await engine.bus.call('board:get', { id, board }, fromHere)
      return id
    } catch (error) {
      // Another program's task, perhaps: its variables are not ours.
      if (!ErrandError.isInstance(error)) throw error
    }
  }
  return undefined
}

/** Does the work of a hook, but not for longer than an agent waits. Beyond that the process ends where it stands. */
export async function inTime(io: CommandIo, timeoutMs: number, work: () => Promise<void>): Promise<number> {
  const working = work()
  // What it still throws when nobody waits for it any more is nobody's business.
  working.catch(() => {})
  if (!(await waitAtMost(systemClock, timeoutMs, working))) {
    if (io.env['ERRAND_DEBUG'] === '1') note(io, `errand: The hook took longer than ${timeoutMs} ms and was given up.`)
    io.exit(exitCodes.done)
  }
  return exitCodes.done
}
