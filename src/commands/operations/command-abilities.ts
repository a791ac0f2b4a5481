// The abilities shell:run and shell:background, with which an agent runs commands. An engine has them only if it is given them: its
// models, and any text that they read, then act with the rights of the process.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityContext } from '../../bus/ability-context.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import type { Duration } from '../../core/duration.ts'
import { durationSchema } from '../../core/duration-schema.ts'
import { ErrandError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import { parse, requireText } from '../../core/parse.ts'
import type { Run } from '../../entities/executor.ts'
import { abbreviated } from '../command-output.ts'
import { createShell } from '../shell.ts'

/** Options of `commandAbilities`. */
export interface CommandAbilityOptions {
  /** Default time-out of a command of `shell:run`, in milliseconds. Default 120,000. */
  timeoutMs?: Duration
  /** Each command must be confirmed by a person; a text is used as the question. Default false. */
  confirm?: boolean | string
  /**
   * How long a command may take to end after SIGTERM before it gets SIGKILL, in milliseconds. Its run is closed after the command has
   * ended, even if `abortGraceMs` is shorter. Default 2000.
   */
  killGraceMs?: Duration
  /**
   * Commands inherit the environment of the engine's process except for secrets. Default false: only the variables that `createShell`
   * lists.
   */
  inheritEnv?: boolean
  clock?: Clock
}

/**
 * Abilities that run shell commands in one folder, for `createEngine({ abilities })`. The folder is the working directory and not a
 * sandbox: commands have the rights of the engine's process. With `confirm: true` a person confirms each command.
 *
 * `shell:run` waits for the end of a command; one that fails is a result. `shell:background` runs the command as a subtask with the
 * executor `shell` (the engine's own of that name, if it has one). The subtask is canceled with its parent and sends it one message with
 * the outcome, before the next step of its model. A background command that a crash interrupts has failed.
 *
 * @example
 * const engine = await createEngine({ model, abilities: commandAbilities('project', { confirm: true }) })
 * @param folder relative to the working directory of the process, or absolute.
 * @throws ErrandError NOT_FOUND { folder } if the folder does not exist; UNKNOWN_OPTION, INVALID_INPUT for invalid options.
 */
export function commandAbilities(folder: string, options: CommandAbilityOptions = {}) {
  const settings = settingsOf(folder, options)
  return [shellRun(settings), shellBackground(settings)]
}

type Settings = z.output<ReturnType<typeof optionsSchema>>

interface CommandSettings extends Settings {
  /** Absolute, because it is stored with tasks. */
  folder: string
}

const timeoutSchema = durationSchema({ min: 1, max: 86_400_000 })
const optionsSchema = once(() =>
  z.strictObject({
    timeoutMs: timeoutSchema.default(120_000),
    confirm: z.union([z.boolean(), z.string().trim().min(1).max(1000)]).default(false),
    killGraceMs: durationSchema().default(2000),
    inheritEnv: z.boolean().default(false),
    clock: z
      .custom<Clock>((value) => typeof (value as Clock | null)?.setTimeout === 'function', 'expected a Clock')
      .default(() => systemClock),
  }),
)

const commandSchema = once(() => z.string().trim().min(1).max(100_000).describe('The command line for the shell.'))

/** @throws ErrandError NOT_FOUND { folder }; UNKNOWN_OPTION, INVALID_INPUT for invalid options. */
function settingsOf(folder: string, options: CommandAbilityOptions): CommandSettings {
  const path = resolve(requireText(folder, 'the folder of the commands'))
  if (!isFolder(path)) {
    throw new ErrandError(
      'NOT_FOUND',
      `The folder ${path}, in which commands would run, does not exist. Create it, or pass another.`,
      {
        folder: path,
      },
    )
  }
  return { folder: path, ...parse(optionsSchema, options, 'commandAbilities') }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // A folder that cannot be read cannot be a working directory either.
    return false
  }
}

// ── shell:run: waits for the end of a command; a failed command is a result like any other ──

/** Limit for each stream, in bytes. */
export const maxShownLength = 16 * 1024

const reportSchema = once(() =>
  z.object({
    /** 128 plus the signal's number for a command that a signal ended. */
    exitCode: z.number().nullable().describe('null after a time-out.'),
    signal: z.string().nullable().describe('The signal that ended the command, if any.'),
    stdout: z.string(),
    stderr: z.string(),
    truncated: z.boolean().describe('True if earlier output was omitted.'),
    timedOut: z.boolean(),
  }),
)
export type CommandReport = z.output<ReturnType<typeof reportSchema>>

/** @throws Failure SPAWN_FAILED if the command cannot be started. */
function shellRun(settings: CommandSettings) {
  return defineAbility({
    id: 'shell:run',
    description: `Runs a shell command and waits until it has ended. Returns its exit code and the last ${maxShownLength / 1024} KiB of each stream of its output. Start commands that may take long with shell:background.`,
    input: z.strictObject({
      command: commandSchema(),
      timeoutMs: timeoutSchema
        .optional()
        .describe(`How long it may take, in milliseconds; then it is ended. Default ${settings.timeoutMs}.`),
    }),
    output: reportSchema(),
    confirm: settings.confirm,
    handle: async ({ command, timeoutMs = settings.timeoutMs }, context) =>
      (await import('./run-command.ts')).runCommand(command, { ...settings, timeoutMs, maxShownLength }, context),
  })
}

// ── shell:background: a command that runs while its agent continues ──

/** The executor of the commands; the engine's own of this name, if it has one. */
const backgroundExecutor = 'shell'

/** The command is a subtask of the calling task and sends it a message when it ends (`operations/steps/notify-parent.ts`). */
function shellBackground({ folder, confirm, killGraceMs, inheritEnv, clock }: CommandSettings) {
  return defineAbility({
    id: 'shell:background',
    description:
      'Starts a shell command in the background, as a subtask, and returns at once. You receive a message when it has ended. If there is nothing else to do, wait for it with wait_for_tasks: after your final answer you receive no more messages.',
    input: z.strictObject({
      command: commandSchema(),
      name: z
        .string()
        .trim()
        .min(1)
        .max(500)
        .optional()
        .describe('Name of the task in lists and messages. Default: the command.'),
    }),
    output: z.object({ taskId: z.string() }),
    confirm,
    // The identity of the call makes a repetition a no-op.
    onInterrupt: 'rerun',
    executors: { [backgroundExecutor]: createShell({ killGraceMs, inheritEnv, clock }) },
    async handle({ command, name = abbreviated(command) }, context) {
      const { id } = await requireRun(context).spawn(
        {
          executor: backgroundExecutor,
          name,
          input: { run: command, cwd: folder },
          notifyParent: true,
          // A model's command may not be safe to run twice, so one that a crash interrupts is reported as failed.
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
    'Only the run of a task can start a background command, because the outcome is sent to that task. Create a task with the executor `shell`, or use shell:run.',
    {},
  )
}
