// What the verbs have that work on whatever is ready: commands, questions, and agents with their models.
import type { EngineOptions } from '../../api.ts'
import { wholeNumber } from './arguments.ts'
import type { CommandIo } from './io.ts'
import { isLedgerFile } from './ledger-path.ts'
import { type AgentFlags, defaultModelOf, readyAgents } from './model-source.ts'

/** For `createEngine`. @throws ErrandError for a model that is missing or has no key, before anything begins; INVALID_INPUT. */
export async function workingOptions(
  io: CommandIo,
  ledger: string,
  { concurrency, ...flags }: AgentFlags & { concurrency?: string | undefined },
): Promise<EngineOptions> {
  return {
    ...(await readyAgents(io, flags, defaultModelOf(io, flags))),
    maxConcurrent: concurrency === undefined ? undefined : wholeNumber('concurrency', concurrency, 1),
    executors: await planExecutors(ledger),
  }
}

/** What a plan can name. `defaultAfterMs`: how long a question with a default waits for somebody to answer. */
export async function planExecutors(
  ledger: string,
  defaultAfterMs?: number,
): Promise<NonNullable<EngineOptions['executors']>> {
  const [{ createShell }, { createAsk }] = await Promise.all([
    import('../../executors/shell.ts'),
    import('../../executors/ask.ts'),
  ])
  return {
    shell: createShell({ ledger: isLedgerFile(ledger) ? ledger : undefined }),
    ask: createAsk({ defaultAfterMs }),
  }
}
