// What a call of `errand run` asks for, out of its arguments: the plan, the round, what must run and what must run
// anew.
import { availableParallelism } from 'node:os'
import { didYouMean } from '../../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../../core/errors.ts'
import type { Engine } from '../../engine-api.ts'
import { readPlan } from '../../plans/parse-plan.ts'
import { leavesOf, neededBy, type Plan, type PlanTask } from '../../plans/plan.ts'
import type { RoundRequest } from '../../plans/round.ts'
import { countedRound, namedRound, planKey } from '../../plans/round-key.ts'
import { type FlagsOf, lists, misuse, switches, texts, wholeNumber } from '../../terminal/arguments.ts'
import type { CommandIo } from '../../terminal/io.ts'
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
  /** What the keys of all its rounds begin with. */
  planKey: string
  maxConcurrent: number
  /** The model of goals that name none; undefined when nobody gave one. */
  model: string | undefined
}

/** Fewer would let a plan wait for its own slow tasks on a small machine. */
const minSlots = 4

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
  const ledger = await openableLedger(io, flags)
  const redone = (flags.redo ?? []).flatMap((name) => leavesOf(planTask(plan, name)))
  const asked =
    targets.length > 0
      ? targets.map((name) => planTask(plan, name))
      : [...plan.byPath.values()].filter((task) => !task.group && task.autoStart)
  const slots = flags.concurrency === undefined ? plan.concurrency : wholeNumber('concurrency', flags.concurrency, 1)
  return {
    plan,
    ledger,
    planKey: planKey(plan.file, realLedger(ledger, io.cwd)),
    needed: neededBy([...asked, ...redone], plan.byPath),
    redo: new Set(redone.map((task) => task.path)),
    model,
    maxConcurrent: slots ?? Math.max(minSlots, availableParallelism()),
  }
}

/** The round that is meant. */
export async function chooseRound({ planKey }: RunPlan, { key, again }: RunFlags, engine: Engine): Promise<string> {
  return key === undefined ? await countedRound(engine, planKey, again === true) : namedRound(planKey, key)
}

/**
 * A task that the user names: by path (`collect/lines`), or by the local name where only one has it.
 * @throws ErrandError NOT_FOUND { name, nearest } or INVALID_INPUT { name, candidates }.
 */
function planTask({ byPath }: Plan, name: string): PlanTask {
  const exact = byPath.get(name)
  if (exact !== undefined) return exact
  const all = [...byPath.values()]
  const [only, ...others] = all.filter((task) => task.name === name)
  if (only !== undefined && others.length === 0) return only
  if (only !== undefined) {
    const candidates = [only, ...others].map((task) => task.path)
    const message = `"${name}" is the name of several tasks of the plan. Name one of: ${candidates.join(', ')}.`
    throw new ErrandError('INVALID_INPUT', message, { name, candidates })
  }
  const nearest = nearestName(name, [...byPath.keys(), ...all.map((task) => task.name)])
  throw new ErrandError(
    'NOT_FOUND',
    `The plan has no task "${name}".${didYouMean(nearest)} It has: ${[...byPath.keys()].join(', ')}.`,
    { name, nearest },
  )
}
