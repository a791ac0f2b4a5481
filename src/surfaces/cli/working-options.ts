// What the verbs have that work on whatever is ready, for as long as they are let: commands, questions, and agents with their models.
import type { EngineOptions } from '../../api.ts'
import { wholeNumber } from './arguments.ts'
import { type CommandIo, note } from './io.ts'
import { isLedgerFile } from './ledger-path.ts'
import { type AgentFlags, agentFacilities, defaultModelOf, ModelSource } from './model-source.ts'

export interface WorkingFlags extends AgentFlags {
  concurrency?: string | undefined
}

/** For `createEngine`. @throws ErrandError for a model that is missing or has no key, before anything begins; INVALID_INPUT. */
export async function workingOptions(io: CommandIo, ledger: string, flags: WorkingFlags): Promise<EngineOptions> {
  const { concurrency } = flags
  const defaultModel = defaultModelOf(io, flags)
  const models = new ModelSource(io, { defaultModel, note: (text) => note(io, text) })
  if (defaultModel !== undefined) await models.choose(defaultModel)
  const [{ createShell }, { ask }, facilities] = await Promise.all([
    import('../../executors/shell.ts'),
    import('../../executors/ask.ts'),
    agentFacilities(io, flags),
  ])
  return {
    ...facilities,
    ...models.engineOptions,
    maxConcurrent: concurrency === undefined ? undefined : wholeNumber('concurrency', concurrency, 1),
    executors: { shell: createShell(isLedgerFile(ledger) ? { ledger } : {}), ask },
  }
}
