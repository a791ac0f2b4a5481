// The abilities with which an agent runs commands: shell:run, shell:background. An engine has them when it is given them: whoever
// does so trusts its models, and whatever they read, with the rights of the process.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import type { Run } from '../../api/executor.ts'
import { type AbilityContext, defineAbility } from '../../bus/ability.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { parse, requireText } from '../../core/parse.ts'
import { abbreviated, type Exit, gateCommand, type StartCommand } from '../../executors/command.ts'
import { commandEnvironment } from '../../executors/command-environment.ts'
import { createCommandOutput, endOfText, type OutputStream } from '../../executors/command-output.ts'
import { markOf } from '../../executors/process-mark.ts'
import { createShell } from '../../executors/shell.ts'

/** What `commandAbilities` takes beside the folder. */
export interface CommandAbilityOptions {
  /** How long a command of `shell:run` may take where the caller does not say, in milliseconds. Default 120,000. */
  timeoutMs?: number
  /** Each command is first put to a person; a text says what to ask. Default false. */
  confirm?: boolean | string
  /**
   * How long a command may take to end when it is asked to (TERM), before it is made to (KILL), in milliseconds. Its run is closed
   * after it has ended, however short `abortGraceMs` is. Default 2000.
   */
  killGraceMs?: number
  /**
   * Commands have the whole environment of the engine's process, but for its secrets. Default false: the usual variables alone, as
   * `createShell` lists them.
   */
  inheritEnv?: boolean
  clock?: Clock
}

/**
 * Abilities that run shell commands in one folder, for `createEngine({ abilities })`. The folder is where commands start, and no
 * fence: they have the rights of the engine's process. `confirm: true` puts each to a person first.
 *
 * `shell:run` waits for the end of a command; one that fails is a result. `shell:background` makes it a subtask with the executor
 * `shell` (the engine's own of that name, if it has one): it is canceled with the task that started it, and tells that task its
 * outcome once, before the next step of its model. A command in the background that a crash breaks off has failed.
 *
 * @example
 * const engine = await createEngine({ model, abilities: commandAbilities('project', { confirm: true }) })
 * @param folder relative to the working directory of the process, or absolute.
 * @throws ErrandError NOT_FOUND { folder } when there is no such folder; UNKNOWN_OPTION, INVALID_INPUT for bad options.
 */
export function commandAbilities(folder: string, options: CommandAbilityOptions = {}) {
  const settings = settingsOf(folder, options)
  return [shellRun(settings), shellBackground(settings)]
}

interface CommandSettings extends Required<CommandAbilityOptions> {
  /** Absolute: it stands in stored tasks. */
  folder: string
}

const timeoutSchema = z.number().positive().max(86_400_000)
const optionsSchema = z.strictObject({
  timeoutMs: timeoutSchema.default(120_000),
  confirm: z.union([z.boolean(), z.string().trim().min(1).max(1000)]).default(false),
  killGraceMs: z.number().min(0).default(2000),
  inheritEnv: z.boolean().default(false),
  clock: z
    .custom<Clock>((value) => typeof (value as Clock | null)?.setTimeout === 'function', 'expected a Clock')
    .default(() => systemClock),
})

const commandSchema = z.string().trim().min(1).max(100_000).describe('For the shell, as on a command line.')

/** @throws ErrandError NOT_FOUND { folder }; UNKNOWN_OPTION, INVALID_INPUT for bad options. */
function settingsOf(folder: string, options: CommandAbilityOptions): CommandSettings {
  const path = resolve(requireText(folder, 'the folder of the commands'))
  if (!isFolder(path)) {
    throw new ErrandError('NOT_FOUND', `There is no folder ${path} for commands to run in. Make it, or name another.`, {
      folder: path,
    })
  }
  return { folder: path, ...(parse(optionsSchema, options, 'commandAbilities') as Required<CommandAbilityOptions>) }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // Whatever keeps it from being looked at keeps commands from starting there.
    return false
  }
}

// ── shell:run: a command whose end is waited for; one that fails is a result like any other ──

/** Of each stream, in bytes. */
export const maxShownLength = 16 * 1024

const reportSchema = z.object({
  /** 128 and the signal's number for one that a signal ended. */
  exitCode: z.number().nullable().describe('null when it took too long.'),
  signal: z.string().nullable().describe('The signal that ended it, if one did.'),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean().describe('Earlier output was left out.'),
  timedOut: z.boolean(),
})
export type CommandReport = z.output<typeof reportSchema>

/** @throws Failure SPAWN_FAILED when the command cannot be started. */
function shellRun(settings: CommandSettings) {
  return defineAbility({
    id: 'shell:run',
    description: `Runs a shell command and waits until it has ended. Gives its exit code and the last ${maxShownLength / 1024} KiB of each stream of its output. What may take long is better started with shell:background.`,
    input: z.strictObject({
      command: commandSchema,
      timeoutMs: timeoutSchema
        .optional()
        .describe(`How long it may take, in milliseconds; then it is ended. Default ${settings.timeoutMs}.`),
    }),
    output: reportSchema,
    confirm: settings.confirm,
    handle: ({ command, timeoutMs = settings.timeoutMs }, context) =>
      runCommand(command, { ...settings, timeoutMs }, context),
  })
}

/** @throws Failure SPAWN_FAILED; the reason of an aborted signal, when the command has gone. */
async function runCommand(command: string, settings: CommandSettings, context: AbilityContext): Promise<CommandReport> {
  const output = createCommandOutput(() => {})
  const callId = context.callId ?? unjournaledId()
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
  const exit = await untilLate(settings, signal, start)
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
  { clock, timeoutMs }: CommandSettings,
  signal: AbortSignal,
  start: StartCommand,
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
  const text = endOfText(whole, maxShownLength)
  return { text, truncated: stream.truncated || text !== whole }
}

let unjournaled = 0

/** What tells the processes of a command apart that no journal knows of. */
function unjournaledId(): string {
  return `unjournaled-${process.pid}-${++unjournaled}`
}

// ── shell:background: a command that goes on while its agent does ──

/** The executor that runs the commands; the engine's own of this name, if it has one. */
const backgroundExecutor = 'shell'

/** It is a subtask of the one that calls, and tells it how it ended (`steps/notify-parent.ts`). */
function shellBackground({ folder, confirm, killGraceMs, inheritEnv, clock }: CommandSettings) {
  return defineAbility({
    id: 'shell:background',
    description:
      'Starts a shell command in the background, as a subtask, and returns at once. A message tells you when it has ended. With nothing else left to do, wait for it with wait_for_tasks: once you have given your final answer you hear no more.',
    input: z.strictObject({
      command: commandSchema,
      name: z
        .string()
        .trim()
        .min(1)
        .max(500)
        .optional()
        .describe('What to call it in lists and messages. Default: the command.'),
    }),
    output: z.object({ taskId: z.string() }),
    confirm,
    // Made once under the identity of its call, so to make it again does no harm.
    onInterrupt: 'rerun',
    executors: { [backgroundExecutor]: createShell({ killGraceMs, inheritEnv, clock }) },
    async handle({ command, name = abbreviated(command) }, context) {
      const { id } = await requireRun(context).spawn(
        {
          executor: backgroundExecutor,
          name,
          input: { run: command, cwd: folder },
          notifyParent: true,
          // Nobody knows whether a model's command may run twice: one that a crash broke off is told of as failed.
          onInterrupt: 'fail',
        },
        context.identity === undefined ? undefined : { key: context.identity },
      )
      return { taskId: id }
    },
  })
}

/** @throws ErrandError INVALID_INPUT */
function requireRun({ run }: AbilityContext): Run {
  if (run !== undefined) return run
  throw new ErrandError(
    'INVALID_INPUT',
    'Only the run of a task starts commands in the background: its end is told to that task. Create a task with the executor `shell`, or use shell:run.',
    {},
  )
}
