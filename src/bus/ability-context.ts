// What the handler of an ability gets beside its input.
import type { Run } from '../entities/executor.ts'
import type { Caller } from './caller.ts'

/** The second argument of a handler. */
export interface AbilityContext {
  /** Aborts when the caller abandons the call. */
  signal: AbortSignal
  caller: Caller
  /** Only when a run calls: through `run.invoke`, or for its model. `ask`, `wait` and `sleep` are refused inside a call. */
  run?: Run
  /** Id of the journaled call, where there is one: pass it to external services as the idempotency key. */
  callId?: string
  /** The same for every repetition of that call, after a crash or in another attempt: use it to create something only once. */
  identity?: string
  /** Stores details with that call, for the recovery after a crash; resolves when they are durable. */
  note?(details: unknown): Promise<void>
  /**
   * Only where the answer may not reach the caller. An ability that has taken something for the caller (a claim, mail) passes what gives it
   * back. That is called once the handler has ended, if the answer was not delivered.
   */
  onUndelivered?(giveBack: () => Promise<unknown>): void
}
