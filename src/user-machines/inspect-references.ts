// The names in a definition: each action, guard, actor and delay that is named must have an implementation. XState passes over an action
// without one, and takes a delay without one for none.
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { actionsOf, invokesOf, isInlineAction, statesIn, transitionsOf } from './definition-parts.ts'
import { type Finding, placeIn, placeOfState } from './finding.ts'

type Kind = 'action' | 'guard' | 'actor' | 'delay'

export function findingsInReferences(machine: AnyStateMachine, within: string): Finding[] {
  return [
    ...statesIn(machine).flatMap((node) => findingsInState(machine, within, node)),
    ...Object.entries(machine.implementations.actions).flatMap(([name, action]) =>
      findingsInBuiltIn(machine, placeIn(within, `action ${name}`), action),
    ),
  ]
}

function findingsInState(machine: AnyStateMachine, within: string, node: AnyStateNode): Finding[] {
  const place = (slot: string) => placeIn(placeOfState(within, node), slot)
  return [
    ...actionsOf(node).flatMap(({ slot, value }) => findingsInAction(machine, place(slot), value)),
    ...transitionsOf(node).flatMap(({ slot, value }) =>
      missingGuards(machine, value.guard).map((name) => missing('guard', name, place(`${slot}.guard`))),
    ),
    ...invokesOf(node).flatMap(({ slot, value }) => missingActor(machine, value.src, place(slot))),
    ...Object.keys(node.config.after ?? {}).flatMap((delay) =>
      // Numbers are delays of their own.
      Number.isNaN(Number(delay)) ? missingDelay(machine, delay, place(`after ${delay}`)) : [],
    ),
  ]
}

function findingsInAction(machine: AnyStateMachine, place: string, action: unknown): Finding[] {
  if (isInlineAction(action)) {
    return [
      {
        severity: 'warning',
        place,
        problem: 'An inline action is found again by its place: moving it holds the tasks that have yet to perform it.',
        remedy: 'Name it in the actions of setup().',
      },
    ]
  }
  if (typeof action === 'function') return findingsInBuiltIn(machine, place, action)
  const name = nameOf(action)
  const isKnown = name.startsWith('xstate.') || has(machine, 'action', name)
  return isKnown ? [] : [missing('action', name, place)]
}

/** What `raise`, `sendTo` and `spawnChild` name. */
function findingsInBuiltIn(machine: AnyStateMachine, place: string, action: unknown): Finding[] {
  if (typeof action !== 'function') return []
  const { type, delay, src } = action as { type?: unknown; delay?: unknown; src?: unknown }
  if (type === 'xstate.raise' || type === 'xstate.sendTo') return missingDelay(machine, delay, place)
  if (type !== 'xstate.spawnChild') return []
  if (typeof src === 'string') return missingActor(machine, src, place)
  return [
    {
      severity: 'error',
      place,
      problem: 'An inline actor that is spawned cannot be found again after a restart.',
      remedy: 'Name it in the actors of setup(), and spawn it by its name.',
    },
  ]
}

function missingActor(machine: AnyStateMachine, src: unknown, place: string): Finding[] {
  return typeof src !== 'string' || has(machine, 'actor', src) ? [] : [missing('actor', src, place)]
}

function missingDelay(machine: AnyStateMachine, delay: unknown, place: string): Finding[] {
  return typeof delay !== 'string' || has(machine, 'delay', delay) ? [] : [missing('delay', delay, place)]
}

/** The names without an implementation in a guard, also those within `and`, `or` and `not`. @param above the names that led here */
function missingGuards(machine: AnyStateMachine, guard: unknown, above: readonly string[] = []): string[] {
  if (guard === undefined) return []
  if (typeof guard === 'function') {
    const { guards = [] } = guard as { guards?: readonly unknown[] }
    return guards.flatMap((each) => missingGuards(machine, each, above))
  }
  const name = nameOf(guard)
  if (!has(machine, 'guard', name)) return [name]
  return above.includes(name) ? [] : missingGuards(machine, machine.implementations.guards[name], [...above, name])
}

function missing(kind: Kind, name: string, place: string): Finding {
  return {
    severity: 'error',
    place,
    problem: `The ${kind} "${name}" has no implementation.`,
    remedy: `Add it to the ${kind}s of setup() or provide(), or correct the name.`,
  }
}

function has(machine: AnyStateMachine, kind: Kind, name: string): boolean {
  const implementations = machine.implementations[`${kind}s`] as Record<string, unknown>
  return Object.hasOwn(implementations, name) && implementations[name] !== undefined
}

/** Actions and guards are named by a text, or by an object with its params. */
function nameOf(reference: unknown): string {
  return typeof reference === 'string' ? reference : String((reference as { type?: unknown } | null)?.type)
}
