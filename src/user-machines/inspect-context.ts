// The context with which a machine begins: what of it JSON would drop or change.
import type { AnyStateMachine } from 'xstate'
import { type Loss, lossesIn } from '../core/json-losses.ts'
import type { Finding } from './finding.ts'

/** The rest is found when these are mended. */
const maxFindings = 20

export function findingsInContext(machine: AnyStateMachine, within: string): Finding[] {
  return lossesOf(machine.config.context).map(({ path, what }) => ({
    severity: 'error',
    place: `${within} › context${path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')}`,
    problem: `This is ${what}, which JSON does not carry, so it would be another value after a restart.`,
    remedy: 'Keep texts, finite numbers, booleans, null, and lists and plain objects of these.',
  }))
}

function lossesOf(context: unknown): Loss[] {
  if (typeof context !== 'function') return lossesIn(context ?? {}, { instances: 'never', most: maxFindings })
  const made = madeWithoutInput(context as (args: object) => unknown)
  // What is computed from an input that is missing here.
  return lossesIn(made, { instances: 'never', most: maxFindings }).filter(({ what }) => !absent.includes(what))
}

const absent = ['undefined', 'NaN']

/** A function that needs its input, or an actor, throws. */
function madeWithoutInput(context: (args: object) => unknown): unknown {
  try {
    return context({ input: {} }) ?? {}
  } catch {
    return {}
  }
}
