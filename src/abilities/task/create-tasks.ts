// The making of tasks and trees of tasks, for the abilities and for `engine.create`.
import { type Caller, creatorOf } from '../../bus/caller.ts'
import type { TaskDraft } from '../../drafts/draft.ts'
import type { Task } from '../../entities/task.ts'
import { requireWithin, within } from '../../steps/conditions.ts'
import { create } from '../../steps/create.ts'
import { requestedBy } from '../../steps/step-context.ts'
import type { AbilityHost } from '../ability-host.ts'
import { boundDrafts, likeTheCaller } from '../model-bounds.ts'
import { boundModels } from '../offered-models.ts'
import { storedKey } from './keys.ts'

/**
 * All of them in one transaction, or none. What a caller with a task makes lies below that task, and agents bound like its own work on it.
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT, UNKNOWN_EXECUTOR, NOT_FOUND, CYCLE, KEY_CONFLICT, LIMIT_EXCEEDED; FORBIDDEN, also for
 *   an executor that runs commands where the caller may have none run, and for a model that is not offered where the caller may name no other.
 */
export async function createTasks(host: AbilityHost, caller: Caller, specs: readonly unknown[]): Promise<Task[]> {
  const { drafter } = host
  const scope = caller.taskId ?? null
  const likeItself = await likeTheCaller(host, caller)
  const creator = creatorOf(caller)
  const drafts = specs.map((each) =>
    boundDrafts(drafter.draft(likeItself(each), 'create'), drafter, caller).map((draft) => ({
      ...draft,
      ...creator,
      key: draft.key === null ? null : storedKey(caller, draft.key),
    })),
  )
  if (drafts.length === 0) return []
  const trees = await boundModels(host, caller, drafts)
  const step = create({
    ...requestedBy(await host.stepContext(), caller),
    trees,
    treeLimits: drafter.treeLimits,
    by: caller,
  })
  const roots = await host.step(within(step, scope, relativesOf(trees)))
  if (scope !== null) {
    // A key may lead to a task that somebody else has made.
    const ids = roots.map((root) => root.id)
    await host.read((tx) => requireWithin(tx, scope, ids))
  }
  return host.views(roots)
}

/** What new tasks would be related to: their parents, and stored tasks that they come after. */
function relativesOf(trees: ReadonlyArray<readonly TaskDraft[]>): string[] {
  const own = new Set(trees.flat().map((draft) => draft.id))
  const named = trees.flat().flatMap((draft) => [draft.parentId ?? 'a task without a parent', ...draft.blockedBy])
  return [...new Set(named)].filter((id) => !own.has(id))
}
