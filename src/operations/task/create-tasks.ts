// Creates tasks and trees of tasks, for the abilities and for `engine.create`.
import { type Caller, creatorOf } from '../../bus/caller.ts'
import type { Task } from '../../entities/task.ts'
import type { AbilityHost } from '../ability-host.ts'
import type { TaskDraft } from '../drafts/draft.ts'
import { withHandlers } from '../drafts/handler-drafts.ts'
import { inheritingAgent, restrictDrafts } from '../model-bounds.ts'
import { restrictModels } from '../offered-models.ts'
import { requireOwn, seesAll, within } from '../steps/conditions.ts'
import { create } from '../steps/create.ts'
import { requestedBy } from '../steps/step-context.ts'
import { storedKey } from './keys.ts'

/**
 * Creates all of them in one transaction. Tasks of a caller with a task are created below that task, and agents with the same restrictions
 * work on them. The specs have passed the gate.
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT, UNKNOWN_EXECUTOR, NOT_FOUND, CYCLE, KEY_CONFLICT, LIMIT_EXCEEDED; FORBIDDEN, also for
 *   an executor that runs commands if the caller may not run commands, and for a model that is not offered if the caller may name no other.
 */
export async function createTasks(host: AbilityHost, caller: Caller, specs: readonly unknown[]): Promise<Task[]> {
  const trees = await draftsFor(host, caller, specs, 'create')
  if (trees.length === 0) return []
  const step = create({
    ...requestedBy(await host.stepContext(), caller),
    trees,
    treeLimits: host.drafter.treeLimits,
    by: caller,
  })
  const roots = await host.create(within(step, caller, relativesOf(trees, caller)), trees)
  // The key may belong to a task that another caller has created.
  const ids = roots.map((root) => root.id)
  if (!seesAll(caller)) await host.read((tx) => requireOwn(tx, caller, ids))
  return host.views(roots)
}

/** The drafts of trees that the caller may create. `what` names the operation. */
export async function draftsFor(
  host: AbilityHost,
  caller: Caller,
  specs: readonly unknown[],
  what: string,
): Promise<TaskDraft[][]> {
  const { drafter } = host
  const likeItself = await inheritingAgent(host, caller)
  const creator = creatorOf(caller)
  const drafts = specs.map((each) =>
    drafter.draft(likeItself(each), what).map((given) =>
      withHandlers(given, (draft) => ({
        ...(restrictDrafts([draft], drafter, caller)[0] as TaskDraft),
        ...creator,
        key: draft.key === null ? null : storedKey(caller, draft.key),
      })),
    ),
  )
  return restrictModels(host, caller, drafts)
}

/** Existing tasks that the new ones refer to: their parents and blockers. A caller with a task may create none without a parent. */
function relativesOf(trees: ReadonlyArray<readonly TaskDraft[]>, { taskId }: Caller): string[] {
  const noParent = taskId === undefined ? [] : ['a task without a parent']
  const own = new Set(trees.flat().map((draft) => draft.id))
  const named = trees
    .flat()
    .flatMap((draft) => [...(draft.parentId === null ? noParent : [draft.parentId]), ...draft.blockedBy])
  return [...new Set(named)].filter((id) => !own.has(id))
}
