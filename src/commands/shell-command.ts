// The command of a task of the `shell` executor. It starts only after its process group is stored with its call, so that recovery can end
// what a dead engine left running before the command runs again.

import { type Clock, systemClock } from '../core/clock.ts'
import { Failure } from '../core/errors.ts'
import type { CallContext } from '../entities/call-options.ts'
import type { ExecutorTask, Run } from '../entities/executor.ts'
import { type Exit, gateCommand } from './command.ts'
import { commandEnvironment } from './command-environment.ts'
import { abbreviated, type CommandOutput, createCommandOutput, endOfText, maxTailBytes } from './command-output.ts'
import { OutputFile, ResultFiles } from './output-file.ts'
import { markOf } from './process-mark.ts'
import { resolveReferences, type StoredEnvironment } from './secrets.ts'

export interface ShellOptions {
  /**
   * How long a command may take to end after TERM before it gets KILL, in milliseconds. Its run is closed only after
   * the command has ended, however short `abortGraceMs` is. Default 2000.
   */
  killGraceMs?: number
  /** Path or URL of the ledger for commands that use their own engine (`ERRAND_LEDGER`). Default: not set. */
  ledger?: string
  /**
   * Commands inherit the whole environment of the engine's process except its secrets: `ERRAND_TOKEN`,
   * `ERRAND_MCP_TOKEN` and the `*_API_KEY` of known providers. Default false: only PATH, HOME, USER, LOGNAME, SHELL,
   * LANG, LANGUAGE, LC_*, TERM, TMPDIR and TZ.
   */
  inheritEnv?: boolean
  clock?: Clock
}

/** The input of a task, parsed by the schemas of `shell.ts`, which says what each field means. */
interface ShellCommand {
  run: string
  cwd?: string | undefined
  env?: StoredEnvironment | undefined
  stdin?: string | undefined
  shell?: string | undefined
}

interface Ended extends Exit {
  stdout: string
  stderr: string
  truncated: boolean
  stdoutFile?: string | null
}

/** Bytes of each stream in the details of an error, and length and number of the lines quoted in its message. */
const maxErrorTailBytes = 8 * 1024
const maxQuotedLineLength = 300
const maxQuotedLines = 3

/** Runs the command of a task and returns how it ended. */
export async function runShellCommand(
  task: ExecutorTask<ShellCommand>,
  run: Run,
  context: CallContext,
  options: ShellOptions,
): Promise<Ended> {
  const { input } = task
  const identity = { taskId: task.id, callId: context.callId, ledger: options.ledger }
  const refused = new AbortController()
  const signal = AbortSignal.any([context.signal, refused.signal])
  const { variables, secrets } = resolveReferences(input.env ?? {}, process.env)
  const whole = new OutputFile(options.ledger, context.callId, maxTailBytes)
  const results = new ResultFiles()
  const output = createCommandOutput(
    (text, how) => {
      // Output printed while the command is being ended is dropped: its run accepts no more.
      if (signal.aborted) return
      try {
        run.emit(text, how)
      } catch (error) {
        // Thrown in a stream event, the error would crash the process; as an abort reason it ends the command.
        refused.abort(error)
      }
    },
    secrets,
    whole,
  )
  const spec = async () => ({
    command: input.run,
    shell: input.shell ?? (process.env['SHELL'] || '/bin/sh'),
    cwd: input.cwd,
    environment: commandEnvironment({
      inheritEnv: options.inheritEnv ?? false,
      own: variables,
      identity,
      dependencies: await run.dependencies(),
      writeResult: (text) => results.write(text),
    }),
    stdin: input.stdin,
    mark: markOf(context.callId),
    output,
    killGraceMs: options.killGraceMs ?? 2000,
    clock: options.clock ?? systemClock,
  })
  try {
    const start = await gateCommand(await spec(), { signal, note: (processGroup) => context.note({ processGroup }) })
    const result = judge(input.run, await start(signal), output)
    const stdoutFile = whole.keep()
    return stdoutFile === undefined ? result : { ...result, stdoutFile }
  } catch (error) {
    whole.discard()
    throw error
  } finally {
    results.remove()
  }
}

function judge(command: string, exit: Exit, { stdout, stderr }: CommandOutput): Ended {
  const truncated = stdout.truncated || stderr.truncated
  const result = { ...exit, stdout: stdout.text(), stderr: stderr.text(), truncated }
  if (exit.exitCode === 0) return result
  const ended = exit.signal === null ? `exited with code ${exit.exitCode}` : `was ended by ${exit.signal}`
  throw new Failure(`\`${abbreviated(command)}\` ${ended}.${lastLines(result)}`, {
    code: exit.signal === null ? 'EXIT_CODE' : 'SIGNALED',
    details: {
      ...exit,
      stdout: endOfText(result.stdout, maxErrorTailBytes),
      stderr: endOfText(result.stderr, maxErrorTailBytes),
    },
  })
}

/** The last lines of output usually say why a command failed; many tools print them to stdout. */
function lastLines({ stdout, stderr }: Ended): string {
  for (const [name, text] of Object.entries({ stderr, stdout })) {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    if (lines.length === 0) continue
    const quoted = lines.slice(-maxQuotedLines).map((line) => endOfText(line.trimEnd(), maxQuotedLineLength))
    return ` Last on ${name}: ${quoted.join('\n')}`
  }
  return ' It printed nothing.'
}
