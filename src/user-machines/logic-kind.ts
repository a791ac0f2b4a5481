// What kind of actor a logic makes, from how it behaves: a program may have another copy of XState than this package, and XState marks only
// machines. None of the questions asked here runs a function that the user gave to fromPromise, fromCallback, fromObservable or fromTransition.
import type { AnyStateMachine } from 'xstate'

export type LogicKind = 'machine' | 'promise' | 'callback' | 'observable' | 'transition' | 'unknown'

/** The functions that any logic has; `start` is missing where nothing begins with the actor. */
interface ActorLogic {
  config?: unknown
  transition(snapshot: object, event: object, scope: object): unknown
  getInitialSnapshot(scope: object, input: object): unknown
  start?: unknown
}

/** Whether a value is a machine of XState 5, of any copy of it. */
export function isMachine(value: unknown): value is AnyStateMachine {
  if (!isObject(value)) return false
  return (
    isObject(value['root']) && isObject(value['implementations']) && typeof value['getStateNodeById'] === 'function'
  )
}

/** Whether a value can be an actor at all. A plain function cannot: it is an argument of `fromPromise`, for example. */
export function isLogic(value: unknown): value is ActorLogic {
  if (!isObject(value)) return false
  return typeof value['transition'] === 'function' && typeof value['getInitialSnapshot'] === 'function'
}

/** The kind of a logic; `unknown` for one that was not made by XState, and for any other value. */
export function kindOfLogic(logic: unknown): LogicKind {
  if (isMachine(logic)) return 'machine'
  // All logic that XState makes shows the function that it was made from.
  if (!isLogic(logic) || typeof logic.config !== 'function') return 'unknown'
  if (typeof logic.start !== 'function') return 'transition'
  const snapshot = made(() => logic.getInitialSnapshot({}, given))
  const after = (event: object) => made(() => logic.transition(snapshot ?? {}, event, { self: {} }))
  if (after({ type: 'xstate.observable.complete' })?.status === 'done') return 'observable'
  if (after({ type: 'xstate.promise.resolve', data: given })?.output === given) return 'promise'
  return snapshot?.input === given ? 'callback' : 'unknown'
}

interface Snapshot {
  status?: unknown
  input?: unknown
  output?: unknown
}

/** Recognized in the snapshots to which it is given. */
const given = {}

/** A snapshot; undefined where making it needs an actor that has started, as any event of a callback does. */
function made(make: () => unknown): Snapshot | undefined {
  try {
    return make() as Snapshot
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
