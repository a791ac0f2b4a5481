// What the two engines of Day1 stand on: an engine that was given, and the name under which they call its abilities.
import type { Engine } from '../../api.ts'
import { ErrandError } from '../../errors.ts'
import { kindOf } from '../../parse.ts'

/** Who calls, in the log of the bus. */
export const fromDay1 = { caller: { surface: 'day1' } } as const

/** Undefined for an engine, else why it is none. */
export function noEngine(given: unknown, what: string): ErrandError | undefined {
  const isEngine =
    kindOf(given) === 'object' && typeof (given as Engine).create === 'function' && 'bus' in (given as Engine)
  if (isEngine) return undefined
  return new ErrandError(
    'INVALID_INPUT',
    `${what} stands on an engine, got ${kindOf(given)}. Pass what \`createEngine\` resolves to.`,
    {},
  )
}
