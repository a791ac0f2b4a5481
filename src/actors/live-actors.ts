// The XState side of the engine: a supervisor at the root, below it an actor for each working task and each open run.
// The actors are built from rows and never saved: the ledger is the truth, the actors are what an inspector sees.
import { type Actor, type AnyActorLogic, type AnyActorRef, createActor } from 'xstate'
import { guarded } from '../core/guarded.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { TaskRecord } from '../entities/task.ts'
import { acceptedEvents } from '../machines/task-edges.ts'
import { restoreSnapshot } from '../machines/task-snapshot.ts'
import { publishedAs } from '../machines/task-table.ts'
import { releaseActor, runActorLogic, supervisorLogic, taskActorLogic } from './actor-logic.ts'
import type { InspectionEvent } from './inspection-event.ts'
import type { Report } from './report.ts'

/** Chart events by published event type, for the events by which a task leaves WORKING. */
const chartEvents = new Map(acceptedEvents('working').map((event) => [publishedAs[event], event]))

export class LiveActors {
  readonly supervisor: Actor<typeof supervisorLogic>
  readonly #report: Report
  readonly #tasks = new Map<string, AnyActorRef>()
  readonly #runs = new Map<string, AnyActorRef>()
  /** Actors of tasks that other processes work on, by id: exist only while an observer watches all tasks. */
  readonly #others = new Map<string, AnyActorRef | null>()
  readonly #onTaskStart = new Set<(taskId: string) => void>()

  constructor(report: Report) {
    this.#report = report
    this.supervisor = createActor(supervisorLogic, { id: 'supervisor', systemId: 'supervisor' })
    this.#watch(this.supervisor, { actor: 'supervisor' })
    this.supervisor.start()
  }

  get isWorking(): boolean {
    return this.supervisor.getSnapshot().value === 'working'
  }

  /** Number of actors: tasks and open runs. */
  get size(): number {
    return this.#tasks.size + this.#runs.size
  }

  /** Whether a run of this engine works on the task. */
  holds(taskId: string): boolean {
    return this.#tasks.has(taskId)
  }

  /** Starts the actors of a task that has begun to work in a run of this engine. */
  startTask(task: TaskRecord): void {
    for (const listener of this.#onTaskStart) listener(task.id)
    this.#tasks.set(task.id, this.#child(taskActorLogic, `${task.id}#${task.run}`, { snapshot: restoreSnapshot(task) }))
    this.#runs.set(
      task.id,
      this.#child(runActorLogic, `run:${task.id}#${task.run}`, { input: { taskId: task.id, run: task.run } }),
    )
  }

  /** Sends a durable event to the actor of its task; the actor of a task that has left WORKING is releaseActor. */
  follow(event: TaskEvent): void {
    const task = this.#tasks.get(event.taskId)
    if (task === undefined) return
    const type = chartEvents.get(event.type)
    if (type === undefined) return
    task.send({ type })
    releaseActor(task)
    this.#tasks.delete(event.taskId)
    this.#runs.get(event.taskId)?.send({ type: 'end' })
  }

  /** Closes the actor of a run that has been closed. */
  closeRun(taskId: string): void {
    this.#runs.get(taskId)?.send({ type: 'close' })
    this.#runs.delete(taskId)
  }

  stop(): void {
    for (const task of this.#tasks.values()) releaseActor(task)
    for (const run of this.#runs.values()) run.send({ type: 'close' })
    this.#tasks.clear()
    this.#runs.clear()
    this.supervisor.send({ type: 'close' })
    this.supervisor.stop()
  }

  // ── inspection ──

  /**
   * Reports all existing actors as if they had just started, then everything that happens. Without an observer, XState
   * creates no inspection events. `others`: includes the actors added by `addOther`.
   */
  inspect(observer: (event: InspectionEvent) => void, others: boolean): () => void {
    const notify = (event: InspectionEvent): void => {
      if (others || !this.#isOfOthers(event)) this.#notify(observer, event)
    }
    const rootId = this.supervisor.sessionId
    for (const actorRef of [this.supervisor, ...this.#tasks.values(), ...this.#runs.values(), ...this.#others.values()])
      if (actorRef !== null) notify({ type: '@xstate.actor', actorRef, rootId })
    const subscription = this.supervisor.system.inspect((event) => notify(event as unknown as InspectionEvent))
    return () => subscription.unsubscribe()
  }

  /** Calls the listener with the id of each task that begins to work here, before its actor exists. */
  onTaskStart(listener: (taskId: string) => void): () => void {
    this.#onTaskStart.add(listener)
    return () => this.#onTaskStart.delete(listener)
  }

  /**
   * Adds an actor for a task that another process works on. It is not named in the system: an actor of this engine may
   * have the same name.
   */
  addOther(logic: AnyActorLogic, id: string, options: object): AnyActorRef {
    // Registered before it exists: XState reports an actor while it is being created.
    this.#others.set(id, null)
    const actor = this.#create(logic, { ...options, id })
    this.#others.set(id, actor)
    return actor.start()
  }

  /** Removes an actor that has stopped. */
  removeOther(id: string): void {
    this.#others.delete(id)
  }

  #isOfOthers({ actorRef, sourceRef }: InspectionEvent): boolean {
    return this.#others.size > 0 && (this.#others.has(actorRef?.id) || this.#others.has(sourceRef?.id ?? ''))
  }

  /** O(1), unlike a spawned child; the parent option puts the actor in the system of the supervisor. */
  #child(logic: AnyActorLogic, systemId: string, options: object): AnyActorRef {
    return this.#create(logic, { ...options, id: systemId, systemId }).start()
  }

  #create(logic: AnyActorLogic, options: { id: string; systemId?: string }): Actor<AnyActorLogic> {
    const actor = createActor(logic, { ...options, parent: this.supervisor } as never) as Actor<AnyActorLogic>
    this.#watch(actor, { actor: options.id })
    return actor
  }

  /** An observer is called in the middle of a transition: one that throws must not interrupt it. */
  #notify(observer: (event: InspectionEvent) => void, event: InspectionEvent): void {
    guarded(
      () => observer(event),
      (error) => this.#report(error, { doing: 'notify an inspector' }),
    )
  }

  /** Without an error observer, the error of an actor would be thrown in a timer and crash the process. */
  #watch(actor: AnyActorRef, context: Record<string, unknown>): void {
    actor.subscribe({ error: (error: unknown) => this.#report(error, context) })
  }
}
