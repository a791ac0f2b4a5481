// The actors of a machine: those that begin anew after a restart, those that are found again by their place only, and those that stand in
// each other's way.
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { type Invoked, invokesOf, type Part, statesIn } from './definition-parts.ts'
import { type Finding, placeIn, placeOfState } from './finding.ts'
import { isLogic, kindOfLogic } from './logic-kind.ts'

export function findingsInActors(machine: AnyStateMachine, within: string): Finding[] {
  const named = Object.entries(machine.implementations.actors as Record<string, unknown>)
  const invoked = statesIn(machine).flatMap((node) =>
    invokesOf(node).map(
      (part): InvokedBy => ({ ...part, node, place: placeIn(placeOfState(within, node), part.slot) }),
    ),
  )
  return [
    ...named.flatMap(([name, logic]) =>
      logic === undefined ? [] : findingsInLogic(logic, placeIn(within, `actor ${name}`)),
    ),
    ...invoked.flatMap(({ value: { src }, place }) =>
      typeof src === 'string' ? [] : [inline(place), ...findingsInLogic(src, place)],
    ),
    ...invoked.filter(({ node }) => node.type === 'final').map(({ place }) => inFinalState(place)),
    ...sharedIds(invoked),
  ]
}

interface InvokedBy extends Part<Invoked> {
  node: AnyStateNode
  place: string
}

function findingsInLogic(logic: unknown, place: string): Finding[] {
  if (!isLogic(logic)) {
    return [
      {
        severity: 'error',
        place,
        problem: `This is ${typeof logic === 'function' ? 'a function' : 'a value'} and no logic of an actor.`,
        remedy: 'Give a machine, or fromPromise(async ({ input }) => …).',
      },
    ]
  }
  const kind = kindOfLogic(logic)
  if (kind === 'machine' || kind === 'promise') return []
  return [
    {
      severity: 'warning',
      place,
      problem: `${begins[kind]} keeps its state in memory, and begins anew after a restart.`,
      remedy: 'Where its work must not be repeated or lost, use a promise (fromPromise) or a machine.',
    },
  ]
}

const begins = {
  callback: 'A callback',
  observable: 'An observable',
  transition: 'An actor of fromTransition',
  unknown: 'An actor with a logic of its own',
} as const

function inline(place: string): Finding {
  return {
    severity: 'warning',
    place,
    problem: 'An inline actor is found again by its place: moving it holds the tasks in which it runs.',
    remedy: 'Name it in the actors of setup().',
  }
}

function inFinalState(place: string): Finding {
  return {
    severity: 'warning',
    place,
    problem: 'A final state invokes this actor, but a final state has ended and waits for nothing.',
    remedy: 'Invoke it in a state before the final one.',
  }
}

/** An actor replaces the one that has its id. Each pair of states is reported once, at the later one. */
function sharedIds(invoked: readonly InvokedBy[]): Finding[] {
  return invoked.flatMap(({ node, place, value: { id } }, index) => {
    const earlier = invoked.slice(0, index).filter((each) => id !== undefined && each.value.id === id)
    return earlier
      .filter((each) => mayBeActiveTogether(each.node, node))
      .map((each) => ({
        severity: 'warning' as const,
        place,
        problem: `The id "${id}" is also that of ${each.place}, and both may run at once: one actor replaces the other.`,
        remedy: 'Give each of them an id of its own.',
      }))
  })
}

/** States in different regions of a parallel state, and a state with one above it. */
function mayBeActiveTogether(one: AnyStateNode, other: AnyStateNode): boolean {
  const above = withStatesAbove(one)
  const common = withStatesAbove(other).find((node) => above.includes(node))
  return common === one || common === other || common?.type === 'parallel'
}

/** The innermost first. */
function withStatesAbove(node: AnyStateNode): AnyStateNode[] {
  return node.parent === undefined ? [node] : [node, ...withStatesAbove(node.parent)]
}
