// A model that calls from outside may give work to executors, but never a command to run: whoever serves it decides what runs here.
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../errors.ts'

/** The executor whose input is a command. */
const commandExecutor = 'shell'

/** @throws ErrandError FORBIDDEN for a command that comes from a model. */
export function refuseCommands({ model }: Caller, executor: string | undefined): void {
  if (!model || executor !== commandExecutor) return
  throw new ErrandError(
    'FORBIDDEN',
    `Nobody may run commands through this surface, and the executor ${commandExecutor} runs any. Offer an executor of your own that does what is wanted, and name that.`,
    { executor },
  )
}
