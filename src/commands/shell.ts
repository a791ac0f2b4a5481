// The `shell` executor: one command, one journaled call. What starts commands is loaded with the first one.
import { z } from 'zod'
import { once } from '../core/once.ts'
import { type Executor, ownExecutor } from '../entities/executor.ts'
import { secretReferenceSchema } from './secrets.ts'
import type { ShellOptions } from './shell-command.ts'

export type { ShellOptions } from './shell-command.ts'

const shellInput = once(() =>
  z.strictObject({
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
  }),
)

const shellResult = once(() =>
  z.strictObject({
    exitCode: z.number(),
    signal: z.string().nullable(),
    /** The last 64 KiB; invalid UTF-8 and NUL are replaced by U+FFFD. */
    stdout: z.string(),
    /** Likewise. */
    stderr: z.string(),
    /** The beginning of stdout or stderr is missing. */
    truncated: z.boolean(),
    /**
     * If the beginning of stdout is missing: the file that holds all of it, up to 64 MiB. It is beside the ledger if the
     * executor knows the ledger's file, else in the folder for temporary files. Null: it could not be written.
     */
    stdoutFile: z.string().nullable().optional(),
  }),
)

export type ShellInput = z.input<ReturnType<typeof shellInput>>
export type ShellResult = z.output<ReturnType<typeof shellResult>>

/**
 * Creates an executor whose tasks are shell commands. A command that exits with a code other than 0 fails with
 * `EXIT_CODE`, one ended by a signal with `SIGNALED`, one that cannot be started with `SPAWN_FAILED`, one that refers
 * to an unset secret with `NO_SECRET`. A command interrupted by a crash is run again, because what was left of it has been
 * ended; one that may still run on another host or in another container only if the task or the engine says so
 * (`onInterrupt`). In its output, the secrets that `env` refers to are replaced by `[secret NAME]`.
 *
 * @example
 * const engine = await createEngine({ executors: { shell: createShell({ killGraceMs: 10_000 }) } })
 * const task = await engine.create({ executor: 'shell', input: { run: 'git ls-files | wc -l', cwd: '/srv/project' } })
 */
export function createShell(options: ShellOptions = {}): Executor<ShellInput, ShellResult> {
  return ownExecutor({
    input: shellInput,
    result: shellResult,
    onInterrupt: 'rerun',
    runsCommands: true,
    run: (task, run) => {
      // Later runs find the call by these params. `env` is left out because it is already stored with the task.
      const identity = { command: task.input.run, cwd: task.input.cwd ?? null }
      return run.call('shell', identity, async (_params, context) =>
        (await import('./shell-command.ts')).runShellCommand(task, run, context, options),
      )
    },
  })
}

/** Runs shell commands with the defaults of `createShell`. */
export const shell = createShell()
