// Which model a caller may name for a task. A caller that may not run commands may only name models that the engine offers: any other
// name would be resolved with the keys and files of the program. A task with such a name is marked, so that later runs do not resolve it
// either.
import { type Caller, mayNameAnyModel } from '../bus/caller.ts'
import { ErrandError, nearestName } from '../core/errors.ts'
import type { TaskPolicy } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import type { AbilityHost } from './ability-host.ts'
import type { TaskDraft } from './drafts/draft.ts'
import { withHandlers } from './drafts/handler-drafts.ts'
import { publishedModels } from './steps/offered-models.ts'

/** The drafts, marked where required. @throws ErrandError FORBIDDEN { model, nearest, offered } */
export async function restrictModels(host: AbilityHost, caller: Caller, trees: TaskDraft[][]): Promise<TaskDraft[][]> {
  return isUnbounded(caller, trees) ? trees : host.read((tx) => boundModels(tx, host, caller, trees))
}

function isUnbounded(caller: Caller, trees: readonly TaskDraft[][]): boolean {
  const namesModel = ({ policy: { model, handlers } }: TaskDraft): boolean =>
    model !== undefined || handlers !== undefined
  return mayNameAnyModel(caller) || !trees.flat().some(namesModel)
}

/** The same within a step. */
export function* boundModels(tx: Reads, host: AbilityHost, caller: Caller, trees: TaskDraft[][]): Op<TaskDraft[][]> {
  if (isUnbounded(caller, trees)) return trees
  const { taskId } = caller
  const own = taskId === undefined ? undefined : (yield* tx.task.get(taskId))?.policy
  const published = yield* publishedModels(tx)
  const bound = (policy: TaskPolicy): TaskPolicy => {
    const { model } = policy
    if (model === undefined) return policy
    // The model of the caller's own task was set by another caller, or validated when that task was created.
    if (model === own?.model) return own.offeredModel ? { ...policy, offeredModel: true } : policy
    if (host.offersModel(model) || published.includes(model)) return { ...policy, offeredModel: true }
    throw modelRefused(model, [...new Set([...host.offeredModels(), ...published])])
  }
  const boundDraft = (draft: TaskDraft): TaskDraft => ({ ...draft, policy: bound(draft.policy) })
  return trees.map((tree) => tree.map((draft) => withHandlers(draft, boundDraft)))
}

function modelRefused(model: string, offered: readonly string[]): ErrandError {
  const nearest = nearestName(model, offered)
  const others =
    offered.length === 0
      ? 'No models are offered: omit `model`.'
      : `Offered models: ${offered.join(', ')}. Name one of them, or omit \`model\`.`
  return new ErrandError(
    'FORBIDDEN',
    `The model "${model}" is refused: no engine on this ledger offers it, and this caller may name no other.${
      nearest === undefined ? '' : ` Did you mean "${nearest}"?`
    } ${others}`,
    { model, nearest, offered: [...offered] },
  )
}
