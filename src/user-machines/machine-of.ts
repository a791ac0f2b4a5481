// The machine in an exported value: the value itself, or what an executor of errand was made from.
import type { AnyStateMachine } from 'xstate'
import { isMachine } from './logic-kind.ts'

export type { AnyStateMachine } from 'xstate'

/** The property by which an executor names its machine, also to another copy of this package. */
export const machineMark = Symbol.for('errand.machine')

/** The machine that a value is, or that its executor performs; undefined for any other value. */
export function machineOf(value: unknown): AnyStateMachine | undefined {
  if (isMachine(value)) return value
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined
  const marked = (value as { [machineMark]?: unknown })[machineMark]
  return isMachine(marked) ? marked : undefined
}
