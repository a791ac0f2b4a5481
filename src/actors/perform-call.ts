// Executes the function of a recorded call: as often as its retry policy allows, each attempt within its time limit.

import type { Clock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import { readableError, retryAfterOf, toStoredError } from '../core/stored-error.ts'
import type { CallContext, CallOptions, Parsed } from '../entities/call-options.ts'
import { resolveRetry, retryDelay } from '../machines/family.ts'

export type CallFunction = (params: unknown, context: CallContext) => unknown

export interface CallPerformance {
  name: string
  /** Passed to the function; the signal is that of the run. */
  context: CallContext
  clock: Clock
  /** Resolves after a time, or when the run ends. */
  pause(ms: number): Promise<void>
  /** A random number from 0 to 1, drawn anew for each delay. */
  chance(): number
  /** Whether the function has noted a process of its own. */
  hasProcess(): boolean
}

/**
 * Resolves to what the function returned. `params` are JSON; each attempt gets them as recorded, whatever an earlier one made of them.
 * @throws what its last attempt threw, or TIMEOUT.
 */
export async function performCall(
  call: CallPerformance,
  params: unknown,
  fn: CallFunction,
  options: Parsed<CallOptions>,
): Promise<unknown> {
  const isCopied = options.retry !== undefined && typeof params === 'object' && params !== null
  for (let attempt = 1; ; attempt++) {
    try {
      return await performOnce(call, isCopied ? structuredClone(params) : params, fn, options.timeoutMs)
    } catch (thrown) {
      // The executor and the journal read the error from here on.
      const error = readableError(thrown)
      const { code, final = false } = toStoredError(error, 'CALL_FAILED')
      const policy = resolveRetry(options.retry)
      const delay = retryDelay(policy, { attempt, code, final, retryAfterMs: retryAfterOf(error) }, call.chance())
      const { signal } = call.context
      if (delay === undefined || signal.aborted) throw error
      await call.pause(delay)
      if (signal.aborted) throw error
    }
  }
}

async function performOnce(
  { name, context, clock, hasProcess }: CallPerformance,
  params: unknown,
  fn: CallFunction,
  timeoutMs: number | undefined,
): Promise<unknown> {
  // Each attempt gets a copy: a function may write into its context.
  if (timeoutMs === undefined) return fn(params, { ...context })
  const own = new AbortController()
  const details = { callId: context.callId, timeoutMs }
  const error = new ErrandError('TIMEOUT', `Call "${name}" took longer than ${timeoutMs} ms.`, details)
  let timer: unknown
  const late = new Promise<never>((_resolve, reject) => {
    timer = clock.setTimeout(() => {
      own.abort(error)
      // A process may take a while to end. Until then the call stays in flight: no outcome is recorded, and no second
      // attempt runs beside it.
      if (!hasProcess()) reject(error)
    }, timeoutMs)
  })
  try {
    const signal = AbortSignal.any([context.signal, own.signal])
    const working = Promise.resolve(fn(params, { ...context, signal }))
    working.catch(() => {})
    return await Promise.race([working, late])
  } finally {
    clock.clearTimeout(timer)
  }
}
