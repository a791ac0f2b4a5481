// What inspectors are told, in the shape in which XState tells it, and without its types: they are no part of what is public here.

/** How an actor stands. `context` holds `taskId`, `run` and, for tasks, `name` and `attempt`. */
export interface InspectedSnapshot {
  /** `active`, or `done` when it has let go. */
  readonly status: string
  /** The state: a task's status, `live`, `ending` or `closed` for a run, `standby`, `working`, `draining` or `closed` for an engine. */
  readonly value?: unknown
  readonly context?: unknown
}

/** An actor: the supervisor, a task, or a run. */
export interface InspectedActor {
  /** `supervisor`, `task-…#RUN`, `run:task-…#RUN`; `task-…` for a task that another process works on. */
  readonly id: string
  /** The name of the actor in the messages of its process. */
  readonly sessionId: string
  /** State value, context and status as they are now. */
  getSnapshot(): InspectedSnapshot
  readonly system: { getAll(): Record<string, unknown> }
}

/**
 * An inspection event, one of XState's, unchanged. `@xstate.actor`: an actor has come, or was there when the observer was attached;
 * `@xstate.event`: `event` was sent to it, by `sourceRef` if that is an actor; `@xstate.snapshot`: it came to `snapshot`. Others (microsteps,
 * actions) come, too, and may be passed over.
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

/** An object with `next`, as inspectors for XState offer it under the name of `inspect`. */
export interface InspectionListener {
  // biome-ignore lint/suspicious/noExplicitAny: theirs takes XState's own type of the same events, which is not to be named here
  next?: ((event: any) => void) | undefined
}

/**
 * A function that takes inspection events, or an object with `next`. Written as a method's type, which also fits a function that takes
 * XState's own, narrower type of them.
 */
export type InspectionObserver = { call(event: InspectionEvent): void }['call'] | InspectionListener

export interface InspectOptions {
  /**
   * `own` (the default): the tasks that this engine works on. `all`: also every other open task of the ledger, as the feed tells of it;
   * at most 1,000 of them at once, of which the one that has been silent longest is let go first.
   */
  tasks?: 'own' | 'all'
}
