// Inspection events in the shape of XState's own, without its types: no XState type is public.

/** The state of an actor. `context` holds `taskId`, `run` and, for tasks, `name` and `attempt`; that of a user's machine is its own. */
export interface InspectedSnapshot {
  /** `active`; `done` when a task has reached a final state; `stopped` when the actor is gone while its task rests, or with its run. */
  readonly status: string
  /**
   * The state: a task's status; `live`, `ending`, `closed` of a run; `standby`, `working`, `draining`, `closed` of an
   * engine; the state value of a user's machine.
   */
  readonly value?: unknown
  readonly context?: unknown
}

/** An actor: the supervisor, a task, a run, or the machine of a user that a run performs. */
export interface InspectedActor {
  /** `supervisor`; the id of a task; `run:task-…#RUN`; `machine:task-…#RUN`. */
  readonly id: string
  /** The name of the actor in the messages of its process. */
  readonly sessionId: string
  /** State value, context and status as they are now. */
  getSnapshot(): InspectedSnapshot
  readonly system: { getAll(): Record<string, unknown> }
}

/**
 * An inspection event of XState, unchanged. `@xstate.actor`: an actor was started, or existed when the observer was
 * attached. `@xstate.event`: `event` was sent to the actor, by `sourceRef` if that is an actor. `@xstate.snapshot`: the
 * new `snapshot` of the actor. Other types (microsteps, actions) occur and can be ignored.
 */
export interface InspectionEvent {
  readonly type: string
  /** The `sessionId` of the supervisor. */
  readonly rootId: string
  readonly actorRef: InspectedActor
  readonly event?: { readonly type: string }
  readonly snapshot?: InspectedSnapshot
  readonly sourceRef?: InspectedActor | undefined
}

/** An object with `next`, as inspectors for XState provide under the name `inspect`. */
export interface InspectionListener {
  // biome-ignore lint/suspicious/noExplicitAny: inspectors declare XState's own event type here, and no XState type is public
  next?: ((event: any) => void) | undefined
}

/**
 * A function that takes inspection events, or an object with `next`. Written as a method, so that a function which takes
 * XState's own, narrower event type is assignable.
 */
export type InspectionObserver = { call(event: InspectionEvent): void }['call'] | InspectionListener

export interface InspectOptions {
  /**
   * `own` (the default): the tasks that this engine works on. `all`: also every other open task of the ledger, from its creation to its
   * end, by the events of the feed.
   */
  tasks?: 'own' | 'all'
  /**
   * With `all`: how many tasks have an actor at once, from 1 to 100,000; default 1,000. At first the working ones and the newest; beyond
   * that, failed ones are dropped, then the one without events for longest, which comes back with its next event.
   */
  maxTasks?: number
  /** With `all`: called with the number of open tasks without an actor whenever it changes. */
  onLeftOut?: ((count: number) => void) | undefined
}
