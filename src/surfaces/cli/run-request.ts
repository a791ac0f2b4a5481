// The arguments of `errand run`: the plan, its round, the tasks that run, and the slots and the model for them.
import { availableParallelism } from 'node:os'
import { type RoundRequest, roundRequest } from '../../plans/decide-round.ts'
import { commandLineExecutors, readPlan } from '../../plans/parse-plan.ts'
import type { Plan } from '../../plans/plan.ts'
import { type FlagsOf, lists, misuse, switches, texts, wholeNumber } from '../terminal/arguments.ts'
import type { CommandIo } from '../terminal/io.ts'
import { realLedger } from './ledger-path.ts'
import { agentOptions, defaultModelOf } from './model-source.ts'
import { openableLedger } from './trusted-ledger.ts'

export const runOptions = {
  ...agentOptions,
  ...texts('concurrency', 'key'),
  ...lists('redo'),
  ...switches('dry-run', 'again'),
}

export type RunFlags = FlagsOf<typeof runOptions>

export interface RunPlan extends RoundRequest {
  plan: Plan
  ledger: string
  /** Real path of the ledger, from which the keys of the plan are made. */
  realLedger: string
  maxConcurrent: number
  /** The model of goals that name none; undefined for none. */
  model: string | undefined
}

/** On a small machine a plan with fewer slots waits for its own slow tasks. */
const minSlots = 4

export async function readRunRequest(
  io: CommandIo,
  [file, ...targets]: readonly string[],
  flags: RunFlags,
): Promise<RunPlan> {
  if (flags.key !== undefined && flags.again)
    throw misuse('--key names a round and --again begins the next counted one: give only one of them.')
  if (flags.key?.trim() === '') throw misuse('--key is empty: it takes the name of a round, like --key "$(date +%F)".')
  const plan = await readPlan(file as string, io.cwd, commandLineExecutors)
  const model = defaultModelOf(io, flags, plan.model)
  const ledger = await openableLedger(io, flags)
  const request = roundRequest(plan, { targets, redo: flags.redo })
  const slots = flags.concurrency === undefined ? plan.concurrency : wholeNumber('concurrency', flags.concurrency, 1)
  return {
    ...request,
    plan,
    ledger,
    realLedger: realLedger(ledger, io.cwd),
    model,
    maxConcurrent: slots ?? Math.max(minSlots, availableParallelism()),
  }
}
