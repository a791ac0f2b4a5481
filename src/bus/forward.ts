// Abilities of one bus on another one as well: what the first has, gets and loses, the second has, gets and loses too.
import type { Ability } from './ability.ts'
import type { Bus } from './bus.ts'

/** Except `kept` ones, and ids that `to` has. Returns how to stop, which takes them off again. */
export function forwardAbilities(from: Bus, to: Bus, kept: ReadonlySet<Ability>): () => void {
  const forwarded = new Map<Ability, () => void>()
  const add = (ability: Ability): void => {
    if (!kept.has(ability) && !to.has(ability.id)) forwarded.set(ability, to.register(ability))
  }
  const remove = (ability: Ability): void => {
    forwarded.get(ability)?.()
    forwarded.delete(ability)
  }
  for (const ability of from.abilities()) add(ability)
  const deaf = [from.onRegister(add), from.onUnregister(remove)]
  return () => {
    for (const stop of deaf) stop()
    for (const ability of forwarded.keys()) remove(ability)
  }
}
