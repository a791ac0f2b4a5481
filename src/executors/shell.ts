// The `shell` executor: one command, one journaled call. The command starts only after its process group is stored with
// that call, so that recovery can end what a dead engine left running before the command runs again.
import { z } from 'zod'
import { type CallContext, defineExecutor, type Executor, type ExecutorTask, type Run } from '../api/executor.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { Failure } from '../core/errors.ts'
import { abbreviated, type Exit, gateCommand } from './command.ts'
import { commandEnvironment } from './command-environment.ts'
import { type CommandOutput, createCommandOutput, endOfText } from './command-output.ts'
import { markOf } from './process-mark.ts'
import { resolveReferences, secretReferenceSchema } from './secret-reference.ts'

const shellInput = z.strictObject({
  /** The command line for the shell. */
  run: z.string().min(1),
  /** Default: the working directory of the engine's process. */
  cwd: z.string().min(1).optional(),
  /**
   * Added to the variables that the command gets from the engine's process. Stored with the task, so secrets are passed
   * by reference: `{ secret: NAME }` is replaced by the variable NAME of the engine's process when the command starts.
   */
  env: z.record(z.string(), z.union([z.string(), secretReferenceSchema])).optional(),
  /** Input of the command. Default: none. */
  stdin: z.string().optional(),
  /** Program that takes `-c COMMAND`. Default: $SHELL, else /bin/sh. */
  shell: z.string().min(1).optional(),
})

const shellResult = z.strictObject({
  exitCode: z.number(),
  signal: z.string().nullable(),
  /** The last 64 KiB; invalid UTF-8 and NUL are replaced by U+FFFD. */
  stdout: z.string(),
  /** Likewise. */
  stderr: z.string(),
  /** The beginning of stdout or stderr is missing. */
  truncated: z.boolean(),
})

export type ShellInput = z.input<typeof shellInput>
export type ShellResult = z.output<typeof shellResult>

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

/** Bytes of each stream in the details of an error, and length and number of the lines quoted in its message. */
const maxErrorTailBytes = 8 * 1024
const maxQuotedLineLength = 300
const maxQuotedLines = 3

/**
 * Creates an executor whose tasks are shell commands. A command that exits with a code other than 0 fails with
 * `EXIT_CODE`, one ended by a signal with `SIGNALED`, one that cannot be started with `SPAWN_FAILED`, one that refers
 * to an unset secret with `NO_SECRET`. A command interrupted by a crash is run again. In its output, the secrets that
 * `env` refers to are replaced by `[secret NAME]`.
 *
 * @example
 * const engine = await createEngine({ executors: { shell: createShell({ killGraceMs: 10_000 }) } })
 * const task = await engine.create({ executor: 'shell', input: { run: 'git ls-files | wc -l', cwd: '/srv/project' } })
 */
export function createShell(options: ShellOptions = {}): Executor<ShellInput, ShellResult> {
  return defineExecutor({
    input: shellInput,
    result: shellResult,
    onInterrupt: 'rerun',
    runsCommands: true,
    run: (task, run) => {
      // Later runs find the call by these params. `env` is left out because it is already stored with the task.
      const identity = { command: task.input.run, cwd: task.input.cwd ?? null }
      return run.call('shell', identity, (_params, context) => runCommand(task, run, context, options))
    },
  })
}

/** Runs shell commands with the defaults of `createShell`. */
export const shell = createShell()

async function runCommand(
  task: ExecutorTask<z.output<typeof shellInput>>,
  run: Run,
  context: CallContext,
  options: ShellOptions,
): Promise<ShellResult> {
  const { input } = task
  const identity = { taskId: task.id, callId: context.callId, ledger: options.ledger }
  const refused = new AbortController()
  const signal = AbortSignal.any([context.signal, refused.signal])
  const { variables, secrets } = resolveReferences(input.env ?? {}, process.env)
  const output = createCommandOutput((text, how) => {
    // Output printed while the command is being ended is dropped: its run accepts no more.
    if (signal.aborted) return
    try {
      run.emit(text, how)
    } catch (error) {
      // Thrown in a stream event, the error would crash the process; as an abort reason it ends the command.
      refused.abort(error)
    }
  }, secrets)
  const spec = {
    command: input.run,
    shell: input.shell ?? (process.env['SHELL'] || '/bin/sh'),
    cwd: input.cwd,
    environment: commandEnvironment({
      inheritEnv: options.inheritEnv ?? false,
      own: variables,
      identity,
      dependencies: await run.dependencies(),
    }),
    stdin: input.stdin,
    mark: markOf(context.callId),
    output,
    killGraceMs: options.killGraceMs ?? 2000,
    clock: options.clock ?? systemClock,
  }
  const start = await gateCommand(spec, { signal, note: (processGroup) => context.note({ processGroup }) })
  return judge(input.run, await start(signal), output)
}

function judge(command: string, exit: Exit, { stdout, stderr }: CommandOutput): ShellResult {
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
function lastLines({ stdout, stderr }: ShellResult): string {
  for (const [name, text] of Object.entries({ stderr, stdout })) {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    if (lines.length === 0) continue
    const quoted = lines.slice(-maxQuotedLines).map((line) => endOfText(line.trimEnd(), maxQuotedLineLength))
    return ` Last on ${name}: ${quoted.join('\n')}`
  }
  return ' It printed nothing.'
}
