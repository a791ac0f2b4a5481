// A machine that records which of its named actions run, whatever runs it.

import { type AnyStateMachine, StateMachine } from 'xstate'

/**
 * The machine, and the machines that are registered in it, with each named custom action recorded before it runs: `note` of the machine itself,
 * `child/note` of the logic `child`. Named builtins, such as an `assign`, are no custom actions.
 */
export function withRecordedActions(
  machine: AnyStateMachine,
  record: (name: string) => void,
  prefix = '',
): AnyStateMachine {
  const { actions, actors } = machine.implementations
  const recorded = (name: string, action: unknown) =>
    isCustom(action)
      ? (...args: unknown[]) => {
          record(`${prefix}${name}`)
          return action(...args)
        }
      : action
  const within = (name: string, logic: unknown) =>
    logic instanceof StateMachine ? withRecordedActions(logic, record, `${prefix}${name}/`) : logic
  return machine.provide({ actions: mapped(actions, recorded), actors: mapped(actors, within) } as never)
}

const mapped = <Value>(values: Record<string, Value>, change: (name: string, value: Value) => unknown) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(name, value)]))

/** The builtins of XState are functions that are resolved and never called. */
const isCustom = (action: unknown): action is (...args: unknown[]) => unknown =>
  typeof action === 'function' && !('resolve' in action)
