// Which abilities are the engine's own, rather than a program's: agents are offered a few of them unless they name more.
const own = new WeakSet<object>()

/** Marks an ability as the engine's own, and returns it. */
export function ownAbility<A extends object>(ability: A): A {
  own.add(ability)
  return ability
}

export function isOwnAbility(ability: object): boolean {
  return own.has(ability)
}
