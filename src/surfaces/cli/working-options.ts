// What the verbs have that work on whatever is ready: commands, questions, and agents with their models.
import type { EngineOptions } from '../../engine-api.ts'
import { wholeNumber } from '../../terminal/arguments.ts'
import type { CommandIo } from '../../terminal/io.ts'
import { isLedgerFile } from './ledger-path.ts'
import { type AgentFlags, defaultModelOf, readyAgents } from './model-source.ts'

/** For `createEngine`. @throws ErrandError for a model that is missing or has no key, before anything begins; INVALID_INPUT. */
export async function workingOptions(
  io: CommandIo,
  ledger: string,
  {
    concurrency,
    'inherit-env': inheritEnv = false,
    ...flags
  }: AgentFlags & { concurrency?: string | undefined; 'inherit-env'?: boolean | undefined },
): Promise<EngineOptions> {
  return {
    ...(await readyAgents(io, flags, defaultModelOf(io, flags))),
    maxConcurrent: concurrency === undefined ? undefined : wholeNumber('concurrency', concurrency, 1),
    executors: await planExecutors(ledger, { inheritEnv }),
  }
}

/** What `help` says of `--inherit-env`. */
export const inheritEnvHelp =
  '  --inherit-env     commands have all variables of this process but its secrets; else only the usual ones, such as PATH and HOME'

export interface PlanExecutorOptions {
  /** Commands have all variables of this process but its secrets. */
  inheritEnv: boolean
  /** How long a question with a default waits for somebody to answer. */
  defaultAfterMs?: number
}

/** What a plan can name. */
export async function planExecutors(
  ledger: string,
  { inheritEnv, defaultAfterMs }: PlanExecutorOptions,
): Promise<NonNullable<EngineOptions['executors']>> {
  const [{ createShell }, { createAsk }] = await Promise.all([
    import('../../executors/shell.ts'),
    import('../../executors/ask.ts'),
  ])
  return {
    shell: createShell({ ledger: isLedgerFile(ledger) ? ledger : undefined, inheritEnv }),
    ask: createAsk({ defaultAfterMs }),
  }
}
