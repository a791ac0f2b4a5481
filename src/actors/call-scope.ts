// Which call the running code belongs to. What the function of a call requests of its run is recorded as made inside
// that call. The function holds the same run object as the executor, so only an async context can distinguish them.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { CallKind } from '../entities/call.ts'
import type { Outcome } from '../entities/task.ts'

/** A call whose function is being executed, or was. */
export interface CallScope {
  /** The run of the call: a run may be started, or used, from inside a call of another one. */
  readonly run: object
  readonly callId: string
  /** Key of the call in the journal. */
  readonly entryKey: string
  readonly parent: CallScope | null
  /** Its function has not settled. */
  executing: boolean
}

/** An entry of the journal as a run requests it. */
export interface EntryDescription {
  kind: CallKind
  name: string
  ident: string
  ordinal: number
  params: unknown
  /** The call that requests it; null for the executor itself. */
  scope: CallScope | null
}

const current = new AsyncLocalStorage<CallScope | undefined>()

/** The innermost call of this run that started the running code; null for the executor itself. */
export function scopeWithin(run: object): CallScope | null {
  const scope = current.getStore()
  return scope?.run === run ? scope : null
}

/** Of these calls, and those that they are made in, the ones whose functions have not settled. */
export function executing(innermost: Iterable<CallScope | null>): Set<CallScope> {
  const found = new Set<CallScope>()
  for (const inner of innermost) {
    for (let scope = inner; scope !== null; scope = scope.parent) if (scope.executing) found.add(scope)
  }
  return found
}

/** A run as the methods of its engine see it when its executor calls them. */
export interface CallingRun {
  readonly taskId: string
  readonly instanceId: string
  readonly hasEnded: boolean
  /** Waits in memory until a task has settled, and keeps no slot meanwhile. */
  untilSettled(taskId: string, timeoutMs: number | undefined): Promise<Outcome>
}

const calling = new AsyncLocalStorage<CallingRun>()

/** The run whose executor started the running code, outside of its calls. */
export function callingRun(): CallingRun | undefined {
  return current.getStore() === undefined ? calling.getStore() : undefined
}

/** What started the run may have been made inside a call of another one, which is none of this run. */
export function runWithin<R>(run: CallingRun, work: () => R): R {
  return calling.run(run, () => current.run(undefined, work))
}

/** Executes the function of a call, so that what it requests counts as made inside of it. */
export async function executeWithin<R>(scope: CallScope, work: () => Promise<R>): Promise<R> {
  try {
    return await current.run(scope, work)
  } finally {
    scope.executing = false
  }
}
