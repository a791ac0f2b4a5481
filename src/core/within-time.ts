// Stops a synchronous calculation that takes too long, such as a search with a regular expression from outside, which may backtrack
// for years. The process is blocked until then, so use it for work that normally takes microseconds. Node's `vm` serves only as
// the watchdog.
import { type Context, createContext, Script } from 'node:vm'

export const maxSearchMs = 1_000

const call = new Script('work()')
let context: Context | undefined

/**
 * Returns what `work` returns, and throws what it throws; undefined when it took longer than `maxSearchMs`. `work` may be stopped
 * at any instruction, so it must not change shared state.
 */
export function withinTime<R>(work: () => R): { value: R } | undefined {
  context ??= createContext({})
  context['work'] = work
  try {
    return { value: call.runInContext(context, { timeout: maxSearchMs, displayErrors: false }) as R }
  } catch (error) {
    // The error of the watchdog belongs to the other context and is not an instance of this `Error`.
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    throw error
  } finally {
    context['work'] = undefined
  }
}
