// Refuses executors that run commands to callers without the right to run any. An executor declares that it runs commands; working
// engines publish their executors in the ledger for processes that do not have them; an unknown executor counts as one that does.
import { isDeepStrictEqual } from 'node:util'
import { type Caller, mayRunCommands } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
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

type Metadata = Readonly<Record<string, unknown>>

/**
 * Refuses another mark of a plan (`metadata.plan`) to a caller who may have no commands run: by it `errand run` knows which command a task is, and
 * whether it has been run.
 *
 * @throws ErrandError FORBIDDEN
 */
export function refusePlanMark(before: Metadata, after: Metadata, caller: Caller): void {
  if (mayRunCommands(caller) || isDeepStrictEqual(before['plan'], after['plan'])) return
  throw new ErrandError(
    'FORBIDDEN',
    'The change of `metadata.plan` is refused: a plan finds its tasks by it and runs commands accordingly, and this caller may have none run. Leave `plan` out of the metadata.',
    {},
  )
}
