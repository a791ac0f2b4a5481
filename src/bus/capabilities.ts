// Which abilities a caller may call. A prompt can ask a model to keep to its tools; only this judgement makes it so.
import { listAllows } from '../entities/ability-pattern.ts'
import type { Ability } from './ability.ts'
import { type Caller, grants } from './caller.ts'

/** Modules that no task reaches: the ledger's rows are written by the engine alone, and the bus describes what a task may not have. */
const closedModules: readonly string[] = ['ldg', 'bus']

/** True, or why the caller may not call the ability, in words that name what it may not. */
export function mayCall(
  ability: Pick<Ability, 'id' | 'moduleName' | 'models' | 'access'>,
  caller: Caller,
): true | string {
  const { id, moduleName, models, access } = ability
  const { surface, scopes } = caller
  if (scopes !== undefined && !grants(scopes, access)) {
    return `it needs the scope \`${access}\`, and the credentials given hold ${scopes.length === 0 ? 'none' : scopes.join(', ')}`
  }
  if (!models && caller.model) return 'it is not for models'
  if (caller.taskId !== undefined) {
    if (closedModules.includes(moduleName)) return `no task may call ${moduleName}:*`
    if (!models && surface === 'model') return 'it is not for models'
  }
  if (!(caller.abilities ?? []).every((list) => listAllows(list, id))) {
    return 'the list of abilities that it was given, or that a task above it was given, does not hold it'
  }
  return true
}
