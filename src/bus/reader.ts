// On whose behalf the code that runs now reads. A handler reads through many functions, and the ledger shares out its time between
// principals; so an async context carries who called from the bus to the ledger.
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Caller, principalOf } from './caller.ts'

export interface Reader {
  /** Whose turn it takes; undefined for the program itself. */
  principal?: string | undefined
  /** Ends a long read: its reason is what the read rejects with. */
  signal?: AbortSignal | undefined
}

/** Undefined once the handler has ended: what it has started, and goes on (a run, the feed), reads for the program again. */
interface Reading {
  reader: Reader | undefined
}

const current = new AsyncLocalStorage<Reading>()

/** Undefined for the program itself. */
export function currentReader(): Reader | undefined {
  return current.getStore()?.reader
}

/** Works on behalf of a caller. What the program itself calls within a handler still belongs to whoever called that one. */
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
