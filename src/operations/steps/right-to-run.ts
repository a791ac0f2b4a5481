// Refuses executors that run commands to callers without the right to run commands. An executor declares that it runs commands, and working
// engines publish that in the ledger for processes without it. An executor that is not published counts as one that runs commands.
import { isDeepStrictEqual } from 'node:util'
import { type Caller, mayRunCommands } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { publishedExecutors } from './published-executors.ts'

/**
 * Refuses an executor that runs commands if the caller, or the source of the task's input, may not run commands.
 *
 * @param runsCommands as declared in this engine; null: the engine does not have that executor.
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
      ? `this caller may not run commands. Register an executor of your own for this work and name that.`
      : `the task's input comes from a caller who may not run commands. Give \`input\` with it.`
  throw new ErrandError('FORBIDDEN', `The executor is refused: ${what}, and ${why}`, { executor })
}

type Metadata = Readonly<Record<string, unknown>>

/**
 * Refuses a change of the mark of a plan (`metadata.plan`) by a caller who may not run commands: `errand run` finds by it which command a
 * task is, and whether it has been run.
 *
 * @throws ErrandError FORBIDDEN
 */
export function refusePlanMark(before: Metadata, after: Metadata, caller: Caller): void {
  if (mayRunCommands(caller) || isDeepStrictEqual(before['plan'], after['plan'])) return
  throw new ErrandError(
    'FORBIDDEN',
    'The change of `metadata.plan` is refused: a plan finds its tasks by it and runs commands accordingly, and this caller may not run commands. Leave `plan` out of the metadata.',
    {},
  )
}
