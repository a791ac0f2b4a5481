// The XState side of what is awake: a supervisor at the root, below it an actor for each task that works and for each open run.
// They are built from rows and never saved: the ledger is the truth, they are what an inspector sees.
import { type Actor, type ActorLogic, type AnyActorLogic, type AnyActorRef, createActor, type Snapshot } from 'xstate'
import type { EventType, TaskEvent } from '../entities/event.ts'
import type { RunStatus } from '../entities/run.ts'
import type { TaskRecord } from '../entities/task.ts'
import { runTransitions } from '../machines/run-machine.ts'
import { supervisorMachine } from '../machines/supervisor-machine.ts'
import { type TaskEventName, taskMachine } from '../machines/task-machine.ts'
import { restoreSnapshot } from '../machines/task-snapshot.ts'

type Report = (error: unknown, context: Record<string, unknown>) => void

/**
 * The lifecycle chart as an actor's logic. An actor that has a parent cannot be stopped from outside, so it lets go through a
 * final event of its own, which is no event of the chart.
 */
const taskActorLogic = Object.assign(
  Object.create(Object.getPrototypeOf(taskMachine) as object) as object,
  taskMachine,
  {
    transition(snapshot: never, event: { type: string }, scope: never) {
      if (event.type === 'release') return { ...(snapshot as object), status: 'done', output: undefined }
      return taskMachine.transition(snapshot, event as never, scope)
    },
  },
) as unknown as typeof taskMachine

/**
 * The supervisor's chart, deaf to the end of its children: XState remembers for ever which transitions a state has for an
 * event's type, and the type of a child's end holds the child's id, so every task would leave some hundred bytes behind.
 */
const supervisorLogic = Object.assign(
  Object.create(Object.getPrototypeOf(supervisorMachine) as object) as object,
  supervisorMachine,
  {
    transition(snapshot: never, event: { type: string }, scope: never) {
      return event.type.startsWith('xstate.done.actor.')
        ? snapshot
        : supervisorMachine.transition(snapshot, event as never, scope)
    },
  },
) as unknown as typeof supervisorMachine

type RunSnapshot = Snapshot<undefined> & { value: RunStatus; context: { taskId: string; run: number } }
type RunInput = { taskId: string; run: number }

/** A run as an actor: small enough to be made for each of many thousand runs a second. */
const runActorLogic: ActorLogic<RunSnapshot, { type: 'end' | 'close' }, RunInput> = {
  transition(snapshot, event) {
    const value = runTransitions[snapshot.value][event.type]
    if (value === undefined) return snapshot
    return { ...snapshot, value, status: value === 'closed' ? 'done' : 'active' } as RunSnapshot
  },
  getInitialSnapshot: (_scope, input) => ({
    status: 'active',
    output: undefined,
    error: undefined,
    value: 'live',
    context: { taskId: input.taskId, run: input.run },
  }),
  getPersistedSnapshot: (snapshot) => snapshot,
}

/** The chart's event for a published one. `task.started` came by the edge that leaves `from`. */
const chartEvents: Partial<Record<EventType, TaskEventName>> = {
  'task.paused': 'pause',
  'task.input_required': 'ask',
  'task.waiting': 'wait',
  'task.completed': 'complete',
  'task.failed': 'fail',
  'task.canceled': 'cancel',
}

export class LiveActors {
  readonly supervisor: Actor<typeof supervisorMachine>
  readonly #report: Report
  readonly #tasks = new Map<string, AnyActorRef>()
  readonly #runs = new Map<string, AnyActorRef>()

  constructor(report: Report, inspect?: (event: unknown) => void) {
    this.#report = report
    this.supervisor = createActor(supervisorLogic, {
      systemId: 'supervisor',
      ...(inspect ? { inspect: (event: unknown) => this.#tell(inspect, event) } : {}),
    })
    this.#watch(this.supervisor, { actor: 'supervisor' })
    this.supervisor.start()
  }

  get state(): string {
    return this.supervisor.getSnapshot().value as string
  }

  /** Actors that are awake: tasks and open runs. */
  get size(): number {
    return this.#tasks.size + this.#runs.size
  }

  /** A task began to work in a run of ours. */
  awaken(task: TaskRecord): void {
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
    const name = chartEvents[event.type]
    if (name === undefined) return
    task.send({ type: name })
    letGo(task)
    this.#tasks.delete(event.taskId)
    this.#runs.get(event.taskId)?.send({ type: 'end' })
  }

  /** The run has been closed. */
  closeRun(taskId: string): void {
    this.#runs.get(taskId)?.send({ type: 'close' })
    this.#runs.delete(taskId)
  }

  stop(): void {
    for (const task of this.#tasks.values()) letGo(task)
    for (const run of this.#runs.values()) run.send({ type: 'close' })
    this.#tasks.clear()
    this.#runs.clear()
    this.supervisor.send({ type: 'close' })
    this.supervisor.stop()
  }

  /** O(1), unlike a spawned child; the parent option makes it one system for an inspector. */
  #child(logic: AnyActorLogic, systemId: string, options: object): AnyActorRef {
    const actor = createActor(logic, {
      ...options,
      parent: this.supervisor,
      id: systemId,
      systemId,
    } as never) as AnyActorRef
    this.#watch(actor, { actor: systemId })
    actor.start()
    return actor
  }

  /** An inspector is told in the middle of a transition: one that throws must not break it off. */
  #tell(inspect: (event: unknown) => void, event: unknown): void {
    try {
      inspect(event)
    } catch (error) {
      this.#report(error, { doing: 'tell the inspector' })
    }
  }

  /** Without an observer an actor's error would be thrown in a timer and take the process down. */
  #watch(actor: AnyActorRef, context: Record<string, unknown>): void {
    actor.subscribe({ error: (error: unknown) => this.#report(error, context) })
  }
}

/** In a final state of the chart it has let go by itself. */
function letGo(task: AnyActorRef): void {
  if ((task.getSnapshot() as { status: string }).status === 'active') task.send({ type: 'release' })
}
