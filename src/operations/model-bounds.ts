// Restrictions for a caller with a task, that is, a run or its model: agents with the same restrictions work on the tasks that it creates,
// and abilities about the whole engine are refused. Which tasks it may touch is judged in each step (operations/steps/conditions.ts).
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import type { AbilityHost } from './ability-host.ts'
import type { Drafter, TaskDraft } from './drafts/draft.ts'
import { agentName, agentOf } from './drafts/known-executors.ts'

/**
 * Without a default model, a task created by a model gets the agent and model of the caller's own task; otherwise it would wait for a
 * model.
 */
export async function inheritingAgent(host: AbilityHost, { taskId }: Caller): Promise<(given: unknown) => unknown> {
  if (taskId === undefined || host.canRun(agentName) === 'all') return (given) => given
  const own = await host.read((tx) => tx.task.get(taskId))
  return (given) => {
    const spec = given as { executor?: unknown; model?: unknown; goal?: unknown; input?: unknown } | null
    if (own?.executor == null || typeof spec !== 'object' || spec === null || spec.executor !== undefined) return given
    // Without a goal or input an agent could not start: the task is to be joined or claimed.
    if (spec.goal === undefined && spec.input === undefined) return given
    const model = spec.model ?? own.policy.model
    return { ...spec, executor: own.executor, ...(model === undefined ? {} : { model }) }
  }
}

/**
 * A model may only create tasks for agents, since choosing any executor would mean running any command. The caller's lists of abilities
 * also apply to the new tasks.
 * @throws ErrandError FORBIDDEN
 */
export function restrictDrafts(drafts: TaskDraft[], drafter: Drafter, { taskId, abilities = [] }: Caller): TaskDraft[] {
  if (taskId === undefined) return drafts
  return drafts.map((draft) => {
    if (draft.executor !== null) requireAgent(draft.executor, drafter)
    const lists = [...abilities.map((list) => [...list]), ...(draft.policy.abilities ?? [])]
    return lists.length === 0 ? draft : { ...draft, policy: { ...draft.policy, abilities: lists } }
  })
}

/** Refuses models, for abilities that concern all tasks. @throws ErrandError FORBIDDEN */
export function refuseModels({ taskId }: Caller, what: string): void {
  if (taskId === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `\`${what}\` concerns the whole engine, and ${taskId} may only access itself and the tasks below it.`,
    { scope: taskId },
  )
}

/** @throws ErrandError FORBIDDEN for an executor that is not an agent. */
export function requireAgent(name: string, { context }: Drafter): void {
  if (agentOf(name, context) !== undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `A model may not assign work to the executor ${name}: only to agents. Create the task with a goal and no executor.`,
    { executor: name },
  )
}
