// The XState side of what is awake: a supervisor at the root, below it an actor for each task that works and for each open run.
// They are built from rows and never saved: the ledger is the truth, they are what an inspector sees.
import { type Actor, type AnyActorLogic, type AnyActorRef, createActor } from 'xstate'
import type { TaskEvent } from '../entities/event.ts'
import type { TaskRecord } from '../entities/task.ts'
import { acceptedEvents, publishedAs } from '../machines/task-machine.ts'
import { restoreSnapshot } from '../machines/task-snapshot.ts'
import { released, runActorLogic, supervisorLogic, taskActorLogic } from './actor-logic.ts'
import type { InspectionEvent } from './inspection-event.ts'
import type { Report } from './report.ts'

/** The chart's event for a published one, of those by which a task leaves WORKING. */
const chartEvents = new Map(acceptedEvents('working').map((event) => [publishedAs[event], event]))

export class LiveActors {
  readonly supervisor: Actor<typeof supervisorLogic>
  readonly #report: Report
  readonly #tasks = new Map<string, AnyActorRef>()
  readonly #runs = new Map<string, AnyActorRef>()
  /** Actors of what others work on, by their ids: there only while somebody watches all tasks. */
  readonly #others = new Map<string, AnyActorRef | null>()
  readonly #onAwaken = new Set<(taskId: string) => void>()

  constructor(report: Report) {
    this.#report = report
    this.supervisor = createActor(supervisorLogic, { id: 'supervisor', systemId: 'supervisor' })
    this.#watch(this.supervisor, { actor: 'supervisor' })
    this.supervisor.start()
  }

  get isWorking(): boolean {
    return this.supervisor.getSnapshot().value === 'working'
  }

  /** Actors that are awake: tasks and open runs. */
  get size(): number {
    return this.#tasks.size + this.#runs.size
  }

  /** A run of ours works on the task. */
  holds(taskId: string): boolean {
    return this.#tasks.has(taskId)
  }

  /** A task began to work in a run of ours. */
  awaken(task: TaskRecord): void {
    for (const told of this.#onAwaken) told(task.id)
    this.#tasks.set(task.id, this.#child(taskActorLogic, `${task.id}#${task.run}`, { snapshot: restoreSnapshot(task) }))
    this.#runs.set(
      task.id,
      this.#child(runActorLogic, `run:${task.id}#${task.run}`, { input: { taskId: task.id, run: task.run } }),
    )
  }

  /** Follows a durable event; a task that has left WORKING lets go of its actor. */
  follow(event: TaskEvent): void {
    const task = this.#tasks.get(event.taskId)
    if (task === undefined) return
    const type = chartEvents.get(event.type)
    if (type === undefined) return
    task.send({ type })
    released(task)
    this.#tasks.delete(event.taskId)
    this.#runs.get(event.taskId)?.send({ type: 'end' })
  }

  /** The run has been closed. */
  closeRun(taskId: string): void {
    this.#runs.get(taskId)?.send({ type: 'close' })
    this.#runs.delete(taskId)
  }

  stop(): void {
    for (const task of this.#tasks.values()) released(task)
    for (const run of this.#runs.values()) run.send({ type: 'close' })
    this.#tasks.clear()
    this.#runs.clear()
    this.supervisor.send({ type: 'close' })
    this.supervisor.stop()
  }

  // ── for those who watch ──

  /**
   * Tells of everything that is awake, as if it had just come, and then of all that happens. Until somebody asks, XState has nobody to
   * tell and makes no event. `others`: of the actors of `addOther`, too.
   */
  inspect(observer: (event: InspectionEvent) => void, others: boolean): () => void {
    const tell = (event: InspectionEvent): void => {
      if (others || !this.#isOfOthers(event)) this.#tell(observer, event)
    }
    const rootId = this.supervisor.sessionId
    for (const actorRef of [this.supervisor, ...this.#tasks.values(), ...this.#runs.values(), ...this.#others.values()])
      if (actorRef !== null) tell({ type: '@xstate.actor', actorRef, rootId })
    const subscription = this.supervisor.system.inspect((event) => tell(event as unknown as InspectionEvent))
    return () => subscription.unsubscribe()
  }

  /** Called with the id of each task that begins to work here, before it has its actor. */
  onAwaken(told: (taskId: string) => void): () => void {
    this.#onAwaken.add(told)
    return () => this.#onAwaken.delete(told)
  }

  /** An actor of what others work on. It has no name in the system: one of ours may bear the same. */
  addOther(logic: AnyActorLogic, id: string, options: object): AnyActorRef {
    // Known before it is: XState tells of an actor while it is being made.
    this.#others.set(id, null)
    const actor = this.#made(logic, { ...options, id })
    this.#others.set(id, actor)
    return actor.start()
  }

  /** It has let go. */
  removeOther(id: string): void {
    this.#others.delete(id)
  }

  #isOfOthers({ actorRef, sourceRef }: InspectionEvent): boolean {
    return this.#others.size > 0 && (this.#others.has(actorRef?.id) || this.#others.has(sourceRef?.id ?? ''))
  }

  /** O(1), unlike a spawned child; the parent option makes it one system for an inspector. */
  #child(logic: AnyActorLogic, systemId: string, options: object): AnyActorRef {
    return this.#made(logic, { ...options, id: systemId, systemId }).start()
  }

  #made(logic: AnyActorLogic, options: { id: string; systemId?: string }): Actor<AnyActorLogic> {
    const actor = createActor(logic, { ...options, parent: this.supervisor } as never) as Actor<AnyActorLogic>
    this.#watch(actor, { actor: options.id })
    return actor
  }

  /** An observer is told in the middle of a transition: one that throws must not break it off. */
  #tell(observer: (event: InspectionEvent) => void, event: InspectionEvent): void {
    try {
      observer(event)
    } catch (error) {
      this.#report(error, { doing: 'tell the inspector' })
    }
  }

  /** Without an observer an actor's error would be thrown in a timer and take the process down. */
  #watch(actor: AnyActorRef, context: Record<string, unknown>): void {
    actor.subscribe({ error: (error: unknown) => this.#report(error, context) })
  }
}
