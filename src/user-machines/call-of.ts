// The journaled call in which a promise or an action of a machine runs, by the `self` that XState passes to it.
import type { CallContext } from '../entities/call-options.ts'

const calls = new WeakMap<object, CallContext>()

export function madeIn(self: object, call: CallContext): void {
  calls.set(self, call)
}

/**
 * The call in which the function of a promise actor, or an action, runs. `identity` is the same for every repetition, so it is the idempotency
 * key for a service. Undefined where no engine runs the machine, such as under `createActor` in a test.
 *
 * @example
 * charge: fromPromise(({ input, self }) => bank.charge(input.total, { idempotencyKey: callOf(self)?.identity }))
 */
export function callOf(self: object): CallContext | undefined {
  return calls.get(self)
}
