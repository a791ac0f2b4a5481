// Runs the command of shell:run and waits for its end. Apart from the abilities, so that what starts commands is loaded with the first one.
import type { AbilityContext } from '../../bus/ability-context.ts'
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { createRandomIds } from '../../core/ids.ts'
import { type Exit, gateCommand, type StartCommand } from '../command.ts'
import { commandEnvironment } from '../command-environment.ts'
import { createCommandOutput, endOfText, type OutputStream } from '../command-output.ts'
import { markOf } from '../process-mark.ts'

export interface CommandSettings {
  /** Absolute. */
  folder: string
  timeoutMs: number
  killGraceMs: number
  inheritEnv: boolean
  /** Limit for what is shown of each stream, in bytes. */
  maxShownLength: number
  clock: Clock
}

interface Report {
  exitCode: number | null
  signal: string | null
  stdout: string
  stderr: string
  truncated: boolean
  timedOut: boolean
}

/** @throws Failure SPAWN_FAILED; the reason of an aborted signal, once the command has ended. */
export async function runCommand(command: string, settings: CommandSettings, context: AbilityContext): Promise<Report> {
  const output = createCommandOutput(() => {})
  // Without a journal entry. A process id would not do: another container may have the same, and commands that are seen from here.
  const callId = context.callId ?? createRandomIds().next('unjournaled')
  const { signal } = context
  const spec = {
    command,
    shell: process.env['SHELL'] || '/bin/sh',
    cwd: settings.folder,
    environment: commandEnvironment({
      inheritEnv: settings.inheritEnv,
      identity: { taskId: context.caller.taskId ?? '', callId, ledger: undefined },
    }),
    stdin: undefined,
    mark: markOf(callId),
    output,
    killGraceMs: settings.killGraceMs,
    clock: settings.clock,
  }
  const start = await gateCommand(spec, { signal, note: (processGroup) => context.note?.({ processGroup }) })
  const exit = await withTimeout(settings, signal, start)
  const stdout = shown(output.stdout, settings.maxShownLength)
  const stderr = shown(output.stderr, settings.maxShownLength)
  return {
    ...(exit === 'timed-out' ? { exitCode: null, signal: null } : exit),
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: stdout.truncated || stderr.truncated,
    timedOut: exit === 'timed-out',
  }
}

/** The exit of a command, or a time-out; in both cases the command has ended. */
async function withTimeout(
  { clock, timeoutMs }: CommandSettings,
  signal: AbortSignal,
  start: StartCommand,
): Promise<Exit | 'timed-out'> {
  const own = new AbortController()
  const timeout = new ErrandError('TIMEOUT', `The command took longer than ${timeoutMs} ms.`, { timeoutMs })
  const timer = clock.setTimeout(() => own.abort(timeout), timeoutMs)
  try {
    return await start(AbortSignal.any([signal, own.signal]))
  } catch (error) {
    if (error === timeout) return 'timed-out'
    throw error
  } finally {
    clock.clearTimeout(timer)
  }
}

function shown(stream: OutputStream, maxShownLength: number): { text: string; truncated: boolean } {
  const whole = stream.text()
  const text = endOfText(whole, maxShownLength)
  return { text, truncated: stream.truncated || text !== whole }
}
