// One command inside a call: behind its gate until its process group is noted with the call, so that recovery can end what a
// dead engine left running. However it ends, that is a result: whoever asked for it reads what happened.
import type { AbilityContext } from '../../bus/ability.ts'
import type { Clock } from '../../clock.ts'
import { ErrandError } from '../../errors.ts'
import { type Exit, gateCommand } from '../../executors/command.ts'
import { commandEnvironment } from '../../executors/command-environment.ts'
import { createCommandOutput, endOfText, type OutputStream } from '../../executors/command-output.ts'
import { markOf } from '../../executors/process-mark.ts'

/** Of each stream, in bytes. */
export const longestShown = 16 * 1024

export interface CommandOrder {
  command: string
  /** The folder it runs in. */
  folder: string
  /** How long it may take, in milliseconds. */
  timeoutMs: number
  /** How long it may take to end when it is asked to, in milliseconds. */
  killGraceMs: number
  clock: Clock
}

/** What came of a command. */
export interface CommandReport {
  /** 128 and the signal's number for one that a signal ended; null for one that took too long and was ended. */
  exitCode: number | null
  signal: string | null
  stdout: string
  stderr: string
  /** The beginning of one of them is missing. */
  truncated: boolean
  timedOut: boolean
}

/** @throws Failure SPAWN_FAILED; the reason of an aborted signal, when the command has gone. */
export async function runCommand(order: CommandOrder, context: AbilityContext): Promise<CommandReport> {
  const output = createCommandOutput(() => {})
  const callId = context.callId ?? unjournaledId()
  const command = await gateCommand({
    command: order.command,
    shell: process.env['SHELL'] || '/bin/sh',
    cwd: order.folder,
    environment: commandEnvironment({}, { taskId: context.caller.taskId ?? '', callId, ledger: undefined }, []),
    stdin: undefined,
    mark: markOf(callId),
    output,
    killGraceMs: order.killGraceMs,
    clock: order.clock,
  })
  try {
    await context.note?.({ processGroup: command.group })
    context.signal.throwIfAborted()
  } catch (error) {
    await command.abandon()
    throw error
  }
  const exit = await untilLate(order, context.signal, (signal) => command.start(signal))
  const stdout = shown(output.stdout)
  const stderr = shown(output.stderr)
  return {
    ...(exit === 'late' ? { exitCode: null, signal: null } : exit),
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: stdout.truncated || stderr.truncated,
    timedOut: exit === 'late',
  }
}

/** The exit of a command, or that it took too long; by then it has ended, too. */
async function untilLate(
  { clock, timeoutMs }: CommandOrder,
  signal: AbortSignal,
  start: (signal: AbortSignal) => Promise<Exit>,
): Promise<Exit | 'late'> {
  const own = new AbortController()
  const late = new ErrandError('TIMEOUT', `The command took longer than ${timeoutMs} ms.`, { timeoutMs })
  const timer = clock.setTimeout(() => own.abort(late), timeoutMs)
  try {
    return await start(AbortSignal.any([signal, own.signal]))
  } catch (error) {
    if (error === late) return 'late'
    throw error
  } finally {
    clock.clearTimeout(timer)
  }
}

function shown(stream: OutputStream): { text: string; truncated: boolean } {
  const whole = stream.text()
  const text = endOfText(whole, longestShown)
  return { text, truncated: stream.truncated || text !== whole }
}

let unjournaled = 0

/** What tells the processes of a command apart that no journal knows of. */
function unjournaledId(): string {
  return `unjournaled-${process.pid}-${++unjournaled}`
}
