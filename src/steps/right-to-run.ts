// Refuses executors that run commands to callers without the right to run any. An executor declares that it runs commands; working
// engines publish their executors in the ledger for processes that do not have them; an unknown executor counts as one that does.
import { ErrandError } from '../errors.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { publishedExecutors } from './published-executors.ts'

/**
 * Refuses an executor that runs commands where none may be run: because of who calls, or of whoever gave the task its input.
 *
 * @param runsCommands as the engine knows it; null: it does not have that executor.
 * @throws ErrandError FORBIDDEN
 */
export function* refuseCommands(
  tx: Reads,
  executor: string,
  runsCommands: boolean | null,
  because: 'caller' | 'input' = 'caller',
): Op<void> {
  const known = runsCommands ?? (yield* publishedExecutors(tx))[executor]?.runsCommands
  if (known === false) return
  const what = known ? `${executor} runs commands` : `no engine on this ledger has published what ${executor} does`
  const why =
    because === 'caller'
      ? `this caller may not run commands. Offer an executor of your own that does what is wanted, and name that.`
      : `the task's input comes from a caller who may not run commands. Give \`input\` with it.`
  throw new ErrandError('FORBIDDEN', `The executor is refused: ${what}, and ${why}`, { executor })
}
