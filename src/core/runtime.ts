// What the runtime must have. The version of Node is checked before the native driver is loaded: on a Node that is too old the driver crashes the
// process without an error.
import { ErrandError } from './errors.ts'

/** The N-API version that the SQLite driver is built for. */
const requiredNapi = 10

/**
 * Refuses a version of Node on which the SQLite driver would crash.
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

/** False in Bun and Deno, which run the package too. Their sockets do not read a pipe that they have not made themselves. */
export function isNode(globals: object = globalThis): boolean {
  return !('Bun' in globals || 'Deno' in globals)
}
