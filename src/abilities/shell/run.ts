// shell:run: a command whose end is waited for. A command that fails is a result like any other.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { type CommandSettings, commandSchema } from './command-settings.ts'
import { longestShown, runCommand } from './run-command.ts'

/** @throws Failure SPAWN_FAILED when the command cannot be started. */
export function shellRun({ folder, timeoutMs: usualTimeoutMs, confirm, killGraceMs, clock }: CommandSettings) {
  return defineAbility({
    id: 'shell:run',
    description: `Runs a shell command and waits until it has ended. Gives its exit code and the last ${longestShown / 1024} KiB of each stream of its output. What may take long is better started with shell:background.`,
    input: z.strictObject({
      command: commandSchema,
      timeoutMs: z
        .number()
        .positive()
        .max(86_400_000)
        .optional()
        .describe(`How long it may take, in milliseconds; then it is ended. Default ${usualTimeoutMs}.`),
    }),
    output: z.object({
      exitCode: z.number().nullable().describe('null when it took too long.'),
      signal: z.string().nullable().describe('The signal that ended it, if one did.'),
      stdout: z.string(),
      stderr: z.string(),
      truncated: z.boolean().describe('Earlier output was left out.'),
      timedOut: z.boolean(),
    }),
    confirm,
    handle: ({ command, timeoutMs = usualTimeoutMs }, context) =>
      runCommand({ command, folder, timeoutMs, killGraceMs, clock }, context),
  })
}
