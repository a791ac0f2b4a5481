// The door for the bus, which everything here takes first: a program that passes something else hears of it at once.
import type { Bus } from '../../bus/bus.ts'
import { ErrandError } from '../../errors.ts'
import { kindOf } from '../../parse.ts'

/** @throws ErrandError INVALID_INPUT for what is no bus; `what` names the function. */
export function requireBus(given: Bus, what: string): Bus {
  if (typeof given?.register === 'function' && typeof given.call === 'function') return given
  const kind = kindOf(given) === 'object' ? 'another object' : kindOf(given)
  throw new ErrandError(
    'INVALID_INPUT',
    `${what} needs a bus, got ${kind}: pass what createBus or createAgentBus returns.`,
    {},
  )
}
