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

/**
 * Refuses Deno, which runs everything else, before a command is started: its sockets do not read the pipe of a command.
 * @throws ErrandError UNSUPPORTED_RUNTIME
 */
export function requirePipes(globals: object = globalThis): void {
  if (!('Deno' in globals)) return
  throw new ErrandError(
    'UNSUPPORTED_RUNTIME',
    'Commands do not run under Deno, whose sockets do not read their output. Run the engine that has this executor with Node or Bun.',
    { runtime: 'deno' },
  )
}
