// Engine options of the verbs that run any ready task: commands, questions, and agents with their models.
import { omitUndefined } from '../../core/omit-undefined.ts'
import type { EngineOptions } from '../../engine/engine-api.ts'
import { isLedgerFile } from '../../ledger/find-ledger.ts'
import type { commandLineExecutors } from '../../plans/parse-plan.ts'
import { wholeNumber } from '../terminal/arguments.ts'
import type { CommandIo } from '../terminal/io.ts'
import { type AgentFlags, defaultModelOf, readyAgents } from './model-source.ts'

/** Options for `createEngine`. @throws ErrandError as `chooseModel` for the default model; INVALID_INPUT for a wrong flag. */
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

/** Help for `--inherit-env`. */
export const inheritEnvHelp =
  '  --inherit-env     give commands all variables of this process except its secrets; default: only common ones, such as PATH and HOME'

export interface PlanExecutorOptions {
  /** Commands get all variables of this process except its secrets. */
  inheritEnv: boolean
  /** How long a question with a default waits for an answer, in milliseconds. Default: forever. */
  defaultAfterMs?: number | undefined
}

/** The executors that a plan can name. */
export async function planExecutors(
  ledger: string,
  { inheritEnv, defaultAfterMs }: PlanExecutorOptions,
): Promise<NonNullable<EngineOptions['executors']>> {
  const { createShell, createAsk } = await import('../../index.ts')
  return {
    shell: createShell({ ledger: isLedgerFile(ledger) ? ledger : undefined, inheritEnv }),
    ask: createAsk(omitUndefined({ defaultAfterMs })),
  } satisfies Record<(typeof commandLineExecutors)[number], unknown>
}
