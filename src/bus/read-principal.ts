// The principal on whose behalf the current code reads. The ledger divides its time between principals, and a handler reads through
// many functions, so an async context carries the caller from the bus to the ledger.
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Caller, principalOf } from './caller.ts'

export interface Reader {
  /** The principal whose share of time it uses; undefined for the program itself. */
  principal?: string | undefined
  /** Ends a long read, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

/** `reader` is undefined once the handler has ended: work that it has started and that goes on (a run, the feed) reads for the program. */
interface Reading {
  reader: Reader | undefined
}

const current = new AsyncLocalStorage<Reading>()

/** Undefined for the program itself. */
export function currentReader(): Reader | undefined {
  return current.getStore()?.reader
}

/** Runs `work` on behalf of a caller. Calls of the program within a handler count for the caller of that handler. */
export async function readFor<R>(caller: Caller, signal: AbortSignal | undefined, work: () => R): Promise<Awaited<R>> {
  const outer = currentReader()
  const principal = principalOf(caller) ?? outer?.principal
  const reading: Reading = { reader: { principal, signal: signal ?? outer?.signal } }
  try {
    return await current.run(reading, work)
  } finally {
    reading.reader = undefined
  }
}

/** Reads for the program, whatever request set it off: what is put right after an abort must not end with the request. */
export function readForProgram<R>(work: () => R): R {
  return current.run({ reader: undefined }, work)
}
