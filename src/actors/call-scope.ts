// Which call the code that runs now belongs to. What a call's function asks of its run is recorded as made inside that call. Only
// an async context tells: the function holds the same run object as the executor around it.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { CallKind } from '../entities/call.ts'

/** A call whose function is being executed, or was. */
export interface CallScope {
  /** Whose call it is: a run may be started, or asked, from inside a call of another one. */
  readonly run: object
  readonly callId: string
  /** Where the journal has the call. */
  readonly place: string
  readonly parent: CallScope | null
  /** Its function has not settled. */
  executing: boolean
}

/** An entry of the journal as a run asks for it. */
export interface EntryDescription {
  kind: CallKind
  name: string
  ident: string
  ordinal: number
  params: unknown
  /** The call that asks for it; null for the executor itself. */
  scope: CallScope | null
}

const current = new AsyncLocalStorage<CallScope>()

/** The innermost call of this run that the present code was started by; null for the executor itself. */
export function scopeWithin(run: object): CallScope | null {
  const scope = current.getStore()
  return scope?.run === run ? scope : null
}

/** Executes the function of a call, so that what it asks for counts as made inside of it. */
export async function executeWithin<R>(scope: CallScope, work: () => Promise<R>): Promise<R> {
  try {
    return await current.run(scope, work)
  } finally {
    scope.executing = false
  }
}
