// What a call of `errand run` asks for, out of its arguments: the plan, the round, what must run and what must run
// anew.
import { availableParallelism } from 'node:os'
import type { Engine } from '../../api.ts'
import { type FlagsOf, lists, misuse, switches, texts, wholeNumber } from './arguments.ts'
import type { CommandIo } from './io.ts'
import { realLedger, resolveLedger } from './ledger-path.ts'
import { agentOptions, defaultModelOf } from './model-source.ts'
import { readPlan } from './parse-plan.ts'
import { flatten, type Plan } from './plan.ts'
import { leavesOf, neededBy } from './plan-graph.ts'
import { planTask } from './plan-names.ts'
import { countedRound, firstRound, namedRound, planKey } from './round-key.ts'

export const runOptions = {
  ...agentOptions,
  ...texts('concurrency', 'key'),
  ...lists('redo'),
  ...switches('dry-run', 'again'),
}

export type RunFlags = FlagsOf<typeof runOptions>

export interface RunPlan {
  plan: Plan
  ledger: string
  /** What the keys of all its rounds begin with. */
  planKey: string
  needed: Set<string>
  redo: Set<string>
  maxConcurrent: number
  /** The model of goals that name none; undefined when nobody gave one. */
  model: string | undefined
}

/** Fewer would let a plan wait for its own slow tasks on a small machine. */
const fewestSlots = 4

export async function readRunRequest(
  io: CommandIo,
  [file, ...targets]: readonly string[],
  flags: RunFlags,
): Promise<RunPlan> {
  if (flags.key !== undefined && flags.again)
    throw misuse('--key names a round and --again counts on to the next one: give only one of them.')
  if (flags.key?.trim() === '') throw misuse('--key is empty: it takes the name of a round, like --key "$(date +%F)".')
  const plan = await readPlan(file as string, io.cwd)
  const model = defaultModelOf(io, flags, plan.model)
  const ledger = resolveLedger(flags.ledger, io)
  const redo = new Set((flags.redo ?? []).flatMap((name) => leavesOf(planTask(plan, name))).map((task) => task.path))
  const asked =
    targets.length > 0
      ? targets.map((name) => planTask(plan, name))
      : flatten(plan.tasks).filter((task) => !task.group && task.autoStart)
  const needed = neededBy([...asked, ...flatten(plan.tasks).filter((task) => redo.has(task.path))], plan.byPath)
  const slots = flags.concurrency === undefined ? plan.concurrency : wholeNumber('concurrency', flags.concurrency, 1)
  return {
    plan,
    ledger,
    planKey: planKey(plan.file, realLedger(ledger, io.cwd)),
    needed,
    redo,
    model,
    maxConcurrent: slots ?? Math.max(fewestSlots, availableParallelism()),
  }
}

/** The round that is meant; without an engine there is no ledger yet, so it is the first. */
export async function chooseRound(request: RunPlan, flags: RunFlags, engine?: Engine): Promise<string> {
  if (flags.key !== undefined) return namedRound(request.planKey, flags.key)
  return engine === undefined
    ? firstRound(request.planKey)
    : await countedRound(engine, request.planKey, flags.again === true)
}
