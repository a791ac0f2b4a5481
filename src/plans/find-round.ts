// Finds the round that is meant, and reads its tasks from the ledger.
import type { Engine } from '../engine/engine-api.ts'
import type { Task } from '../entities/task.ts'
import { allTasks, eachTask } from './each-task.ts'
import { type KnownRound, knownRound, markOf } from './round.ts'
import { generationKey, namedRound, roundPrefixes, taskKey } from './round-key.ts'

/** Which round of a plan is meant. */
export interface RoundChoice {
  /** The round of this name. Default: the latest counted round. */
  key?: string | undefined
  /** The next counted round. */
  again?: boolean | undefined
}

/** The name of a round: the key of its first generation. */
export async function chooseRound(engine: Engine, plan: string, { key, again = false }: RoundChoice): Promise<string> {
  return key === undefined ? await countedRound(engine, plan, again) : namedRound(plan, key)
}

/** The latest counted round of a plan, or the one after it; the first is 1. */
async function countedRound(engine: Engine, plan: string, again: boolean): Promise<string> {
  let highest = 0
  for await (const task of eachTask(engine, { keyPrefix: plan, parentId: null })) {
    const counted = /^(\d+)(?:$|[+/])/.exec(task.key?.slice(plan.length) ?? '')
    if (counted !== null) highest = Math.max(highest, Number(counted[1]))
  }
  return `${plan}${again ? highest + 1 : Math.max(highest, 1)}`
}

/** Reads the tasks of a round. */
export async function readRound(engine: Engine, round: string): Promise<KnownRound> {
  const pages = await Promise.all(roundPrefixes(round).map((keyPrefix) => allTasks(engine, { keyPrefix })))
  // Metadata can be changed, keys cannot: a mark counts only on the task that was made under its name.
  return knownRound(pages.flat().filter((task) => isMarkedAsKeyed(task, round)))
}

function isMarkedAsKeyed(task: Task, round: string): boolean {
  const mark = markOf(task)
  if (mark === undefined) return false
  const { generation, path } = mark
  return task.key === (path === '' ? generationKey(round, generation) : taskKey(round, generation, path))
}
