// What an engine does otherwise for a caller with a task, which is a run or its model: what it creates is worked on by agents that are
// bound like itself, and what concerns the whole engine is not for it. Which tasks it may touch is judged in each step (steps/within.ts).
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import type { Drafter, TaskDraft } from '../drafts/draft.ts'
import { agentName, agentOf } from '../drafts/known-executors.ts'
import type { AbilityHost } from './ability-host.ts'

/**
 * Where there is no default model, what a model creates is worked on by the same agent and model as its own task: else it would
 * wait for a model.
 */
export async function likeTheCaller(host: AbilityHost, { taskId }: Caller): Promise<(given: unknown) => unknown> {
  if (taskId === undefined || host.canRun(agentName) === 'all') return (given) => given
  const own = await host.read((tx) => tx.task.get(taskId))
  return (given) => {
    const spec = given as { executor?: unknown; model?: unknown; goal?: unknown; input?: unknown } | null
    if (own?.executor == null || typeof spec !== 'object' || spec === null || spec.executor !== undefined) return given
    // Nothing that an agent could begin with: it is for those who join it, or claim it.
    if (spec.goal === undefined && spec.input === undefined) return given
    const model = spec.model ?? own.policy.model
    return { ...spec, executor: own.executor, ...(model === undefined ? {} : { model }) }
  }
}

/**
 * What a model creates, other agents work on: to name any executor would be to run any command. They are bound by its own lists.
 * @throws ErrandError FORBIDDEN
 */
export function boundDrafts(drafts: TaskDraft[], drafter: Drafter, { taskId, abilities = [] }: Caller): TaskDraft[] {
  if (taskId === undefined) return drafts
  return drafts.map((draft) => {
    if (draft.executor !== null) requireAgent(draft.executor, drafter)
    const lists = [...abilities.map((list) => [...list]), ...(draft.policy.abilities ?? [])]
    return lists.length === 0 ? draft : { ...draft, policy: { ...draft.policy, abilities: lists } }
  })
}

/** What concerns all tasks is not for a model. @throws ErrandError FORBIDDEN */
export function forProgramsOnly({ taskId }: Caller, what: string): void {
  if (taskId === undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `\`${what}\` is about the whole engine, and ${taskId} may only touch itself and the tasks below it.`,
    { scope: taskId },
  )
}

/** @throws ErrandError FORBIDDEN for an executor that is no agent. */
export function requireAgent(name: string, { context }: Drafter): void {
  if (agentOf(name, context) !== undefined) return
  throw new ErrandError(
    'FORBIDDEN',
    `A model may not give work to the executor ${name}: only to agents. Create the task with a goal and no executor.`,
    { executor: name },
  )
}
