// Breaks off a calculation that takes too long: the search for a pattern that somebody else has written may backtrack for years. It blocks
// the process until then, so it is for what takes microseconds when nothing is wrong. Node's `vm` is used for its watchdog alone.
import { type Context, createContext, Script } from 'node:vm'

export const maxSearchMs = 1_000

const call = new Script('work()')
let context: Context | undefined

/**
 * What `work` returns, or throws; undefined when it took longer than `maxSearchMs`. It may end between any two of its instructions, so
 * it must leave nothing half done.
 */
export function withinTime<R>(work: () => R): { value: R } | undefined {
  context ??= createContext({})
  context['work'] = work
  try {
    return { value: call.runInContext(context, { timeout: maxSearchMs, displayErrors: false }) as R }
  } catch (error) {
    // An error of the watchdog is one of the other context, and so no instance of this one's `Error`.
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    throw error
  } finally {
    context['work'] = undefined
  }
}
