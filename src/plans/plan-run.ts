// `engine.plan`: prepares a round of a plan on an engine, follows it, and gives its outcome or its results. `errand run` does the same in
// surfaces/cli/verbs/run.ts and shows it.
import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Clock } from '../core/clock.ts'
import type { Duration } from '../core/duration.ts'
import { briefError, ErrandError, type StoredError, TaskCanceledError, TaskFailedError } from '../core/errors.ts'
import { Notifier } from '../core/notifier.ts'
import { omitUndefined } from '../core/omit-undefined.ts'
import { parse } from '../core/parse.ts'
import { restoredCause } from '../core/restored-error.ts'
import type { Engine } from '../engine/engine-api.ts'
import { timeoutOptionsSchema } from '../entities/options.ts'
import type { PlanOptions, PlanOutcome, PlanRun } from '../entities/plan-run.ts'
import { stateWord, type Task, titleOf } from '../entities/task.ts'
import { type RoundRequest, roundRequest } from './decide-round.ts'
import { followRound, RoundFeed, RoundProgress, roundOutcome } from './follow-round.ts'
import { openSubtasks } from './idle.ts'
import { parsePlanValue, readPlan } from './parse-plan.ts'
import { isGoal, type Plan } from './plan.ts'
import { preparePlan } from './prepare-round.ts'
import { type KnownRound, markOf, tasksOf } from './round.ts'

/** What `engine.plan` needs of the engine that runs a plan. */
export interface PlanHost {
  engine: Engine
  /** Real path of the ledger; for one that is not a file any other name. */
  ledgerName: string
  /** Executors that tasks may name; undefined: any. */
  executors: readonly string[] | undefined
  clock: Clock
  /** Calls the listener once when the engine stops, with the error for its waiters. Returns how to unsubscribe. */
  onStop(listener: (error: unknown) => void): () => void
}

/**
 * `engine.plan`: prepares a round of a plan.
 * @param source path of a file, or a plan as a value.
 */
export async function runPlan(host: PlanHost, source: unknown, options: PlanOptions): Promise<PlanRun> {
  const { cwd = '.', key, again, signal } = options
  const plan = await openPlan(source, resolve(cwd), host.executors)
  const request = roundRequest(plan, options)
  const ledger = existsSync(host.ledgerName) ? host.ledgerName : join(process.cwd(), 'ledger')
  const beforeChange = (): void => signal?.throwIfAborted()
  const { round, known } = await preparePlan(host.engine, { ...request, key, again, plan, ledger, beforeChange })
  const settled: PlanRun['settled'] = (waiting = {}) =>
    settle(host, { plan, request, round, known }, { signal, waiting })
  return Object.freeze({
    round,
    tasks: Object.fromEntries([...plan.byPath.keys()].flatMap((path) => taskEntry(known, path))),
    settled,
    result: async (waiting) => resultsOf(plan, await settled(waiting)),
  } satisfies PlanRun)
}

function taskEntry({ newest }: KnownRound, path: string): Array<[string, Task]> {
  const task = newest.get(path)?.task
  return task === undefined ? [] : [[path, task]]
}

async function openPlan(source: unknown, folder: string, executors: PlanHost['executors']): Promise<Plan> {
  const plan =
    typeof source === 'string'
      ? await readPlan(source, folder, executors)
      : parsePlanValue(source, { folder: realFolder(folder), executors })
  for (const [key, instead] of Object.entries(engineOptions)) {
    if (plan[key as keyof Plan] === undefined) continue
    const message = `The plan has \`${key}\`, which only \`errand run\` takes: an engine has it from its options. Give ${instead} to createEngine.`
    throw new ErrandError('INVALID_PLAN', message, { key })
  }
  for (const task of plan.byPath.values()) {
    if (isGoal(task) && plan.model !== undefined) task.spec = { model: plan.model, ...omitUndefined(task.spec) }
  }
  return plan
}

/** Keys at the top of a plan that are options of the engine that runs it. */
const engineOptions = {
  files: '`abilities: fileAbilities(folder)`',
  mcp: '`abilities` of `mcpTools`',
  maxIterations: '`maxIterations`',
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch (error) {
    throw new ErrandError(
      'NOT_FOUND',
      `The folder ${folder}, in which the commands of the plan would start, does not exist.`,
      { folder },
      error,
    )
  }
}

interface RunningRound {
  plan: Plan
  request: RoundRequest
  round: string
  known: KnownRound
}

async function settle(
  { engine, clock, onStop }: PlanHost,
  { plan, request, round, known }: RunningRound,
  { signal, waiting }: { signal: AbortSignal | undefined; waiting: { timeoutMs?: Duration; signal?: AbortSignal } },
): Promise<PlanOutcome> {
  const { timeoutMs } = parse(timeoutOptionsSchema, waiting, 'settled')
  const own = new AbortController()
  const ended = AbortSignal.any([own.signal, signal, waiting.signal].filter((each) => each !== undefined))
  const timer =
    timeoutMs === undefined ? undefined : clock.setTimeout(() => own.abort(late(round, timeoutMs)), timeoutMs)
  const unlisten = onStop((error) => own.abort(error))
  let feed: RoundFeed | undefined
  try {
    ended.throwIfAborted()
    feed = new RoundFeed(engine)
    const following = { engine, round, feed, observer: new RoundProgress(known), bell: new Notifier(), clock }
    const last = await followRound({ ...following, signal: ended, stopped: null })
    ended.throwIfAborted()
    const found = last ?? known
    return roundOutcome(plan, found, request.needed, await openSubtasks(engine, tasksOf(found)))
  } finally {
    feed?.close()
    unlisten()
    clock.clearTimeout(timer)
  }
}

function late(round: string, timeoutMs: number): ErrandError {
  return new ErrandError('TIMEOUT', `The round ${round} is not finished after ${timeoutMs} ms. It continues.`, {
    round,
    timeoutMs,
  })
}

function resultsOf(
  plan: Plan,
  { completed, broken, missing, asking, paused, open }: PlanOutcome,
): Record<string, unknown> {
  const [first] = broken
  if (first?.status === 'canceled') throw new TaskCanceledError(first.id, first.statusReason, titleOf(first))
  if (first !== undefined) {
    const error = first.error as StoredError
    throw new TaskFailedError(first.id, briefError(error), restoredCause(error), titleOf(first))
  }
  if (missing.length > 0) {
    const message = `The plan ${plan.name} has no results, because tasks were deleted: ${missing.join(', ')}. Run the plan again to create them.`
    throw new ErrandError('NOT_FOUND', message, { missing })
  }
  const waiting = [...asking, ...paused, ...open]
  if (waiting.length > 0) {
    const tasks = waiting.map(({ id }) => id)
    const names = waiting.map((task) => `${pathOf(task)} (${stateWord(task, task.blockedBy.length)})`).join(', ')
    const message = `The plan ${plan.name} cannot continue without help: ${names}. Answer, resume or claim these tasks.`
    throw new ErrandError('BLOCKED', message, { tasks })
  }
  return Object.fromEntries(completed.map((task) => [pathOf(task), task.result]))
}

function pathOf(task: Task): string {
  return markOf(task)?.path ?? task.name
}
