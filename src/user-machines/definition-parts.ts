// The parts of a machine's definition with their places: states, transitions, actions and invoked actors. A place is the same in every
// process that has the same definition, because it consists of names and positions only.
import type { AnyStateMachine, AnyStateNode } from 'xstate'

/** All states, the root first, in the order of the definition. */
export function statesIn(machine: AnyStateMachine): AnyStateNode[] {
  const withStatesBelow = (node: AnyStateNode): AnyStateNode[] => [
    node,
    ...Object.values(node.states as Record<string, AnyStateNode>).flatMap(withStatesBelow),
  ]
  return withStatesBelow(machine.root)
}

/** A part of a state: `PAY[0]`. */
export interface Part<T> {
  slot: string
  value: T
}

interface Transition {
  actions: readonly unknown[]
  guard?: unknown
}

/** The transitions of a state. No event of a user begins with `xstate.`, so none is mistaken for those that need no event. */
export function transitionsOf(node: AnyStateNode): Part<Transition>[] {
  const lists: Iterable<readonly [string, readonly Transition[]]> = [
    ...node.transitions,
    ['xstate.always', node.always ?? []],
  ]
  return [...lists].flatMap(([event, transitions]) => numbered(event, transitions))
}

/** The actions of a state and of its transitions, without those that XState adds for `after`. */
export function actionsOf(node: AnyStateNode): Part<unknown>[] {
  return [
    ...numbered('entry', listOf(node.config.entry)),
    ...numbered('exit', listOf(node.config.exit)),
    ...numbered('initial.actions', node.initial.actions),
    ...transitionsOf(node).flatMap(({ slot, value }) => numbered(`${slot}.actions`, value.actions)),
  ]
}

/** What a state invokes, as it is written: `src` is a name or a logic. */
export interface Invoked {
  id?: string
  src: unknown
}

export function invokesOf(node: AnyStateNode): Part<Invoked>[] {
  return numbered('invoke', listOf(node.config.invoke) as Invoked[])
}

/** Actions of XState, such as `assign(…)`, are functions with a type. */
export function isInlineAction(action: unknown): action is (...args: never[]) => unknown {
  return typeof action === 'function' && !('type' in action)
}

function numbered<T>(name: string, values: readonly T[]): Part<T>[] {
  return values.map((value, index) => ({ slot: `${name}[${index}]`, value }))
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}
