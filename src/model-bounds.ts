// What an engine does otherwise in the hands of a model: what it creates is worked on by agents that are bound like itself, and what
// concerns the whole engine is not for it. Which tasks it may touch is judged in each step (steps/within.ts).
import type { Lifecycle } from './actors/lifecycle.ts'
import type { Drafter, TaskDraft } from './drafts/draft.ts'
import { agentName, agentOf } from './drafts/known-executors.ts'
import { ErrandError } from './errors.ts'

/** Within what a model acts. */
export interface Bounds {
  taskId: string
  /** Lists that must all allow what its children may call. */
  abilities: ReadonlyArray<readonly string[]>
}

/**
 * Where there is no default model, what a model creates is worked on by the same agent and model as its own task: else it would
 * wait for a model.
 */
export async function likeTheCaller(life: Lifecycle, bounds: Bounds | null): Promise<(given: unknown) => unknown> {
  if (bounds === null || life.canRun(agentName) === 'all') return (given) => given
  const own = await life.read((tx) => tx.task.get(bounds.taskId))
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
export function boundDrafts(drafts: TaskDraft[], drafter: Drafter, bounds: Bounds | null): TaskDraft[] {
  if (bounds === null) return drafts
  return drafts.map((draft) => {
    if (draft.executor !== null) requireAgent(draft.executor, drafter)
    const lists = [...bounds.abilities.map((list) => [...list]), ...(draft.policy.abilities ?? [])]
    return lists.length === 0 ? draft : { ...draft, policy: { ...draft.policy, abilities: lists } }
  })
}

/** What concerns all tasks is not for a model. @throws ErrandError FORBIDDEN */
export function forProgramsOnly(bounds: Bounds | null, what: string): void {
  if (bounds === null) return
  throw new ErrandError(
    'FORBIDDEN',
    `\`${what}\` is about the whole engine, and ${bounds.taskId} may only touch itself and the tasks below it.`,
    { scope: bounds.taskId },
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
