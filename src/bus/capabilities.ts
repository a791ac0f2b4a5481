// Which abilities a caller may call. A prompt can only ask a model to keep to its tools; this check enforces it.
import { listAllows } from '../entities/ability-pattern.ts'
import type { Ability } from './ability.ts'
import { type Caller, grants } from './caller.ts'

/** Modules that no task may call: only the engine writes rows of the ledger, and the bus describes abilities that a task may not have. */
const closedModules: readonly string[] = ['ldg', 'bus']

/** True, or the reason why the caller may not call the ability. */
export function mayCall(
  ability: Pick<Ability, 'id' | 'moduleName' | 'models' | 'access' | 'own'>,
  caller: Caller,
): true | string {
  const { id, moduleName, models, access } = ability
  const { surface, scopes } = caller
  if (scopes !== undefined && !grants(scopes, access)) {
    return `it needs the scope \`${access}\`, and the credentials have ${scopes.length === 0 ? 'none' : scopes.join(', ')}`
  }
  if (scopes?.includes('own') && !ability.own) return 'it is not for credentials with the scope `own`'
  if (!models && caller.model) return 'it is not for models'
  if (caller.taskId !== undefined) {
    if (closedModules.includes(moduleName)) return `no task may call ${moduleName}:*`
    if (!models && surface === 'model') return 'it is not for models'
  }
  if (!(caller.abilities ?? []).every((list) => listAllows(list, id))) {
    return 'its list of abilities, or that of a task above it, does not contain it'
  }
  return true
}
