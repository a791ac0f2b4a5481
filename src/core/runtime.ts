// The guard before the native driver: on a Node that is too old it does not throw, it takes the process down without a word.
import { ErrandError } from './errors.ts'

/** The N-API version that the SQLite driver is built for. */
export const requiredNapi = 10

/**
 * Refuses a Node that the SQLite driver would crash.
 * @throws ErrandError UNSUPPORTED_RUNTIME { node, napi, required }
 */
export function requireRuntime(versions: { node: string; napi?: string | undefined } = process.versions): void {
  if (Number(versions.napi ?? 0) >= requiredNapi) return
  throw new ErrandError(
    'UNSUPPORTED_RUNTIME',
    `errand needs Node 22.14 or newer (N-API ${requiredNapi}); this is Node ${versions.node} with N-API ${versions.napi ?? 'unknown'}, on which the SQLite driver would crash the process. Install a newer Node and run again.`,
    { node: versions.node, napi: versions.napi, required: requiredNapi },
  )
}
