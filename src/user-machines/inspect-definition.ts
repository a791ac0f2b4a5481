// What in the definition of a machine would not survive a restart. A pure function: it performs no action and starts no actor.
import type { AnyStateMachine } from 'xstate'
import { findingsInQuestions } from './ask-meta.ts'
import { invokesOf, statesIn } from './definition-parts.ts'
import { type Finding, placeIn, placeOfState } from './finding.ts'
import { findingsInActors } from './inspect-actors.ts'
import { findingsInContext } from './inspect-context.ts'
import { findingsInReferences } from './inspect-references.ts'
import { isMachine } from './logic-kind.ts'

export type { Finding } from './finding.ts'

/** The findings in a machine and in the machines that it invokes, each machine once, in the order of the definition. */
export function findingsOf(machine: AnyStateMachine): Finding[] {
  const machines = new Map<AnyStateMachine, string>()
  collect(machine, machine.id, machines)
  return Array.from(machines, ([each, within]) => [
    ...findingsInContext(each, within),
    ...findingsInReferences(each, within),
    ...findingsInActors(each, within),
    ...findingsInQuestions(each, within),
  ]).flat()
}

/** The machine and those that it invokes, with their places. A machine may invoke itself. */
function collect(machine: AnyStateMachine, within: string, found: Map<AnyStateMachine, string>): void {
  if (found.has(machine)) return
  found.set(machine, within)
  for (const [name, logic] of Object.entries(machine.implementations.actors)) {
    if (isMachine(logic)) collect(logic, placeIn(within, `actor ${name}`), found)
  }
  for (const node of statesIn(machine)) {
    for (const { slot, value } of invokesOf(node)) {
      if (isMachine(value.src)) collect(value.src, placeIn(placeOfState(within, node), slot), found)
    }
  }
}
