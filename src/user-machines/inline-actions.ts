// Names for the actions that have none: functions that stand in the definition itself. Between the step that decides on an action and its
// performance there may be a restart, and after it such a function is found again by its place.
import type { AnyStateMachine } from 'xstate'
import { actionsOf, isInlineAction, statesIn } from './definition-parts.ts'

/**
 * The inline actions of a machine, each with its place: the id of the state, and where in the state it is, such as `order.waiting:entry[0]`
 * or `order.waiting:PAY[0].actions[1]`. A function with several places has the first one. Actions of machines that this one invokes are not
 * included, and neither are functions that only a running `enqueueActions` makes.
 */
export function inlineActions(machine: AnyStateMachine): Map<(...args: never[]) => unknown, string> {
  const names = new Map<(...args: never[]) => unknown, string>()
  for (const node of statesIn(machine)) {
    for (const { slot, value } of actionsOf(node)) {
      if (isInlineAction(value) && !names.has(value)) names.set(value, `${node.id}:${slot}`)
    }
  }
  return names
}
