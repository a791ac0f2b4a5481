// Who may have commands run: people and programs, and nobody else. What runs commands is told by the executor itself; of one that this
// engine does not have, by what working engines have published in the ledger; one that is unknown counts as one that does.
import { ErrandError } from '../errors.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'

const setting = 'executors'

/** Tells the other processes on the ledger which executors this engine has, and which of them run commands. */
export function* publishExecutors(tx: Tx, executors: Readonly<Record<string, boolean>>): Op<void> {
  const known = yield* publishedExecutors(tx)
  const isNews = Object.entries(executors).some(([name, runsCommands]) => known[name] !== runsCommands)
  if (isNews) yield* tx.setting.put(setting, { ...known, ...executors })
}

function* publishedExecutors(tx: Reads): Op<Record<string, boolean>> {
  return ((yield* tx.setting.get(setting)) as Record<string, boolean> | undefined) ?? {}
}

/**
 * Refuses an executor that runs commands, for a caller that may have none run.
 *
 * @param runsCommands as the engine knows it; null: it does not have that executor.
 * @throws ErrandError FORBIDDEN
 */
export function* refuseCommands(tx: Reads, executor: string, runsCommands: boolean | null): Op<void> {
  if (!(runsCommands ?? (yield* publishedExecutors(tx))[executor] ?? true)) return
  throw commandsRefused(executor)
}

function commandsRefused(executor: string): ErrandError {
  return new ErrandError(
    'FORBIDDEN',
    `Nobody may run commands through this surface, and the executor ${executor} runs them, or is not known here. Offer an executor of your own that does what is wanted, and name that.`,
    { executor },
  )
}
