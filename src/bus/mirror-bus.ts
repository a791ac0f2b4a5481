// Mirrors the abilities of one bus on another, present and future ones.
import type { Ability } from './ability.ts'
import type { Bus } from './bus.ts'

/** Skips `kept` abilities, and ids that `to` has. The returned function stops it and unregisters the forwarded abilities. */
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
  const stops = [from.onRegister(add), from.onUnregister(remove)]
  return () => {
    for (const stop of stops) stop()
    for (const ability of forwarded.keys()) remove(ability)
  }
}
