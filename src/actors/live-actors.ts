// The live actors of an engine: the supervisor, below it the tasks that this engine works on or an observer sees, and below each task its
// runs. A task always exists in the ledger. Its actor is activated from its stored state when there is something to do, follows the durable
// events, and is passivated when the task rests. The live half of its machine starts and ends the run.
import { type Actor, type AnyActorLogic, type AnyActorRef, createActor } from 'xstate'
import { guarded } from '../core/guarded.ts'
import type { TaskEvent } from '../entities/event.ts'
import { isTerminal, type TaskStatus } from '../entities/task.ts'
import { type SupervisorEvent, type supervisorActions, supervisorMachine } from '../machines/supervisor-machine.ts'
import { eventBetween } from '../machines/task-edges.ts'
import { type TaskMachineContext, taskMachine } from '../machines/task-machine.ts'
import { readSnapshot, type StoredTask, snapshotsOf } from '../machines/task-snapshot.ts'
import { liveLogic, type RunEnding, type RunLife, type RunMove, runLogic, stopActor } from './actor-logic.ts'
import type { InspectionEvent } from './inspection-event.ts'
import { MachineActors } from './machine-actors.ts'
import type { Report } from './report.ts'

interface OwnRuns {
  instanceId: string
  /** What a run of this engine does; undefined for a run of another one. */
  lifeOf(taskId: string, run: number): RunLife | undefined
}

/** The live half of the actions of the supervisor. */
export type Supervision = { readonly [A in keyof typeof supervisorActions]: () => void }

interface LiveTask {
  ref: AnyActorRef
  /** The latest event that it has followed. */
  seq: number
  /** `isOwn`: this engine runs it; another one is only shown. */
  run: { ref: AnyActorRef; number: number; isOwn: boolean } | undefined
  /** Activated for observers of all tasks: this engine does not work on it. */
  isForeign: boolean
}

const looks: ReadonlySet<string> = new Set<SupervisorEvent['type']>(['look', 'looked', 'admit', 'admitted'])

export class LiveActors {
  readonly supervisor: Actor<typeof supervisorMachine>
  readonly machines = new MachineActors(
    (taskId, run) => this.#runOf(taskId, run),
    (logic, run, options) => this.#create(logic, run, options),
  )
  readonly #report: Report
  readonly #taskLogic: AnyActorLogic
  readonly #snapshotIn: ReturnType<typeof snapshotsOf>
  /** In the order of their last events. */
  readonly #tasks = new Map<string, LiveTask>()
  /** Those that have failed, in the same order: a retry may follow, so they keep their actors while there is room. */
  readonly #failed = new Set<string>()
  /** Runs whose tasks have left WORKING, until they are closed. */
  readonly #ending = new Map<string, AnyActorRef>()
  /** Actors that only observers of all tasks see. */
  readonly #foreign = new WeakSet<object>()
  #isActivatingForeign = false
  #supervision: Supervision | undefined
  /** The runs of this engine, once it works. */
  #own: OwnRuns | undefined
  /** Observers of this engine's own tasks. */
  readonly #ownObservers = new Set<(event: InspectionEvent) => void>()
  /** How many resting tasks keep their actors for observers; zero without one. */
  #maxResting = 0

  constructor(report: Report) {
    this.#report = report
    const machine = taskMachine.provide({
      actions: {
        startRun: ({ self, event }) => {
          if ('run' in event && event.run !== undefined) this.#startRun(self as AnyActorRef, event.run.number)
        },
        endRun: ({ self, event }) => {
          const type = 'suspends' in event ? 'suspend' : 'end'
          this.#tasks.get(self.id)?.run?.ref.send({ type })
        },
      },
    })
    this.#taskLogic = liveLogic(machine)
    this.#snapshotIn = snapshotsOf(machine)
    const act = (name: keyof Supervision) => () => this.#supervision?.[name]()
    const actions = { recover: act('recover'), look: act('look'), admit: act('admit'), drain: act('drain') }
    const supervisorLogic = liveLogic(supervisorMachine.provide({ actions }))
    this.supervisor = createActor(supervisorLogic, { id: 'supervisor', systemId: 'supervisor' })
    this.#watch(this.supervisor, { actor: 'supervisor' })
    this.supervisor.start()
  }

  get isWorking(): boolean {
    return this.supervisor.getSnapshot().matches('working')
  }

  /** What the supervisor does is done by this from now on. */
  supervisedBy(supervision: Supervision): void {
    this.#supervision = supervision
  }

  /** Number of actors: tasks and runs. */
  get size(): number {
    const runs = [...this.#tasks.values()].filter(({ run }) => run !== undefined)
    return this.#tasks.size + runs.length + this.#ending.size
  }

  /** Number of open tasks with an actor. */
  get openCount(): number {
    return this.#tasks.size - this.#failed.size
  }

  has(taskId: string): boolean {
    return this.#tasks.has(taskId)
  }

  /** From now on the runs of this engine begin here, with `startTask`. */
  runsBy(own: OwnRuns): void {
    this.#own = own
  }

  // ── tasks ──

  /** Activates a task in the state before its run, and starts the run: `started` is the event that reports it. */
  startTask(stored: StoredTask, started: TaskEvent): void {
    const { id } = stored
    const from = started.data['from'] as TaskStatus
    const known = this.#tasks.get(id)
    const isThere = known !== undefined && stateOf(known.ref) === from
    if (!isThere) this.activate(from, this.#read(stored).context, started.seq - 1, false)
    const task = this.#tasks.get(id) as LiveTask
    if (task.isForeign) this.#adopt(task)
    this.#send(id, task, started)
  }

  /** Activates a task, on which this engine does not work, from its stored snapshot. `seq`: the latest event that it contains. */
  activateStored(stored: StoredTask, seq: number): void {
    const { value, context } = this.#read(stored)
    this.activate(value, context, seq, true)
  }

  #read(stored: StoredTask): ReturnType<typeof readSnapshot> {
    const read = readSnapshot(stored)
    if (read.fault !== null) {
      const message = `The snapshot of ${stored.id} does not match its row, which is used instead: ${read.fault}`
      this.#report(new Error(message), { taskId: stored.id })
    }
    return read
  }

  /** Gives a task an actor in a state, in place of the one that it has. `seq`: the latest event that this state contains. */
  activate(status: TaskStatus, context: TaskMachineContext, seq: number, isForeign: boolean): void {
    const { taskId } = context
    const before = this.#tasks.get(taskId)
    const open = before?.run
    if (before !== undefined) {
      // The run goes on below the new actor.
      before.run = undefined
      this.#passivate(taskId, before)
    }
    const snapshot = this.#snapshotIn(status, context)
    this.#isActivatingForeign = isForeign
    const ref = this.#create(this.#taskLogic, this.supervisor, { id: taskId, systemId: taskId, snapshot })
    this.#isActivatingForeign = false
    this.#tasks.set(taskId, { ref, seq, run: open, isForeign })
    ref.start()
  }

  /** A run that was open when its task was activated, of another engine. */
  showRun(taskId: string, number: number): void {
    const task = this.#tasks.get(taskId)
    const isShown = task?.run !== undefined || this.#runOf(taskId, number) !== undefined
    if (task !== undefined && !isShown) this.#startRun(task.ref, number)
  }

  /** Sends a durable event to the actor of its task, if it has one. */
  follow(event: TaskEvent): void {
    const { taskId, type, seq } = event
    const task = this.#tasks.get(taskId)
    if (task !== undefined && seq > task.seq && !this.#isOwnStart(event)) this.#send(taskId, task, event)
    const run = event.data['run'] as number
    if (type === 'run.closed') this.closeRun(taskId, run)
    else if (type === 'run.parked') this.sendToRun(taskId, run, { type: 'park' })
    else if (type === 'run.continued') this.sendToRun(taskId, run, { type: 'admit' })
    else if (type === 'machine.moved') this.machines.follow(event)
  }

  /** It begins when its row is known. */
  #isOwnStart({ type, instanceId, data }: TaskEvent): boolean {
    return type === 'task.started' && instanceId === this.#own?.instanceId && typeof data['run'] === 'number'
  }

  #send(taskId: string, task: LiveTask, { seq, type, data }: TaskEvent): void {
    task.seq = seq
    this.#tasks.delete(taskId)
    this.#failed.delete(taskId)
    this.#tasks.set(taskId, task)
    const status = data['status'] as TaskStatus
    const from = stateOf(task.ref)
    const shown = shownBy(data)
    if (status !== from) {
      const edge = eventBetween(from, status)
      if (edge === undefined) {
        // Its events were not seen in order: the stored state counts.
        this.activate(status, { ...contextOf(task.ref), ...shown }, seq, task.isForeign)
        this.#rest(taskId, status)
        return
      }
      const run =
        type === 'task.started' && typeof data['run'] === 'number' ? { number: data['run'], dueAt: null } : undefined
      // Only a suspension names what it waits for.
      const suspends = 'waits' in data ? { suspends: true } : {}
      task.ref.send({ type: edge, shown, ...suspends, ...(run === undefined ? {} : { run }) })
    }
    if (type === 'task.deleted') {
      task.run?.ref.send({ type: 'end' })
      this.#passivate(taskId, task)
    } else this.#rest(taskId, status)
  }

  /** A task that rests keeps its actor only for observers. */
  #rest(taskId: string, status: TaskStatus): void {
    const task = this.#tasks.get(taskId)
    if (task === undefined || status === 'working') return
    if (isTerminal(status) || this.#maxResting === 0) this.#passivate(taskId, task)
    else if (status === 'failed') this.#failed.add(taskId)
  }

  #passivate(taskId: string, task: LiveTask): void {
    if (this.#tasks.get(taskId) !== task) return
    this.#tasks.delete(taskId)
    this.#failed.delete(taskId)
    if (task.run !== undefined) {
      // A run of this engine drains; that of another one is only shown, and may have been closed with its task.
      if (task.run.isOwn) this.#ending.set(taskId, task.run.ref)
      else endActor(task.run.ref)
    }
    stopActor(task.ref)
  }

  // ── runs ──

  #startRun(parent: AnyActorRef, number: number): void {
    const task = this.#tasks.get(parent.id) as LiveTask
    const id = `run:${parent.id}#${number}`
    const life = this.#own?.lifeOf(parent.id, number)
    const input = { taskId: parent.id, run: number, life }
    if (task.run?.isOwn === false) endActor(task.run.ref)
    this.#isActivatingForeign = task.isForeign
    const ref = this.#create(runLogic, parent, { id, systemId: id, input })
    this.#isActivatingForeign = false
    task.run = { ref, number, isOwn: life !== undefined }
    ref.start()
  }

  /**
   * Ends a run that its task may still be in (the engine closes, its lease is over, or no event has reported it), or reports that it lends its
   * slot, or has one again.
   */
  sendToRun(taskId: string, number: number, event: RunEnding | RunMove): void {
    this.#runOf(taskId, number)?.send(event)
  }

  /** The run is closed: its actor ends. */
  closeRun(taskId: string, number: number): void {
    const ref = this.#runOf(taskId, number)
    if (ref === undefined) return
    const task = this.#tasks.get(taskId)
    if (task?.run?.ref === ref) task.run = undefined
    else this.#ending.delete(taskId)
    this.#endRun(ref)
  }

  #endRun(ref: AnyActorRef): void {
    this.machines.close(ref)
    endActor(ref)
  }

  #runOf(taskId: string, number: number): AnyActorRef | undefined {
    const run = this.#tasks.get(taskId)?.run
    if (run?.number === number) return run.ref
    const ending = this.#ending.get(taskId)
    return ending !== undefined && contextOf(ending).run === number ? ending : undefined
  }

  stop(): void {
    for (const [taskId, task] of this.#tasks) this.#passivate(taskId, task)
    for (const ref of this.#ending.values()) this.#endRun(ref)
    this.#ending.clear()
    this.supervisor.send({ type: 'close' })
    this.supervisor.stop()
  }

  // ── observers ──

  /** Keeps the actors of resting tasks for observers of all tasks; zero: passivates those on which this engine does not work. */
  keepResting(max: number): void {
    this.#maxResting = max
    if (max > 0) return
    for (const [taskId, task] of this.#tasks) {
      if (task.isForeign || stateOf(task.ref) !== 'working') this.#passivate(taskId, task)
    }
  }

  /** Passivates tasks beyond the maximum, failed ones first, and those without events for longest. */
  dropOldest(): void {
    for (const ids of [this.#failed, this.#tasks.keys()]) {
      for (const taskId of ids) {
        if (this.#tasks.size <= this.#maxResting) return
        const task = this.#tasks.get(taskId) as LiveTask
        if (stateOf(task.ref) !== 'working' || task.isForeign) this.#passivate(taskId, task)
      }
    }
  }

  /**
   * Reports all existing actors as if they had just started, then everything that happens. Without an observer, XState creates no inspection
   * events. `all`: includes the tasks on which this engine does not work.
   */
  inspect(observer: (event: InspectionEvent) => void, all: boolean): () => void {
    const isSeen = (event: InspectionEvent): boolean => !this.#isLook(event) && (all || this.#isOfOwn(event))
    const notify = (event: InspectionEvent): void => {
      if (isSeen(event)) this.#notify(observer, event)
    }
    const rootId = this.supervisor.sessionId
    for (const actorRef of [this.supervisor, ...this.#refs()]) notify({ type: '@xstate.actor', actorRef, rootId })
    const subscription = this.supervisor.system.inspect((event) => notify(event as unknown as InspectionEvent))
    if (!all) this.#ownObservers.add(notify)
    return () => {
      subscription.unsubscribe()
      this.#ownObservers.delete(notify)
    }
  }

  /** The supervisor looks and admits several times a second: its observers see that it works. */
  #isLook(event: InspectionEvent): boolean {
    return event.actorRef === this.supervisor && 'event' in event && looks.has(event.event?.type ?? '')
  }

  #isOfOwn({ actorRef, sourceRef }: InspectionEvent): boolean {
    return !(this.#isActivatingForeign || this.#foreign.has(actorRef) || (sourceRef && this.#foreign.has(sourceRef)))
  }

  *#refs(): Iterable<AnyActorRef> {
    for (const { ref, run } of this.#tasks.values()) {
      yield ref
      if (run !== undefined) yield run.ref
    }
    yield* this.#ending.values()
    yield* this.machines.refs()
  }

  /** A task that was only observed begins to work here: observers of this engine's own tasks see it from now on. */
  #adopt(task: LiveTask): void {
    task.isForeign = false
    this.#foreign.delete(task.ref)
    const rootId = this.supervisor.sessionId
    for (const notify of this.#ownObservers) notify({ type: '@xstate.actor', actorRef: task.ref, rootId })
  }

  /** O(1), unlike a spawned child; the parent option puts the actor in the system of the supervisor. */
  #create(
    logic: AnyActorLogic,
    parent: AnyActorRef,
    options: { id: string; systemId: string; [option: string]: unknown },
  ): AnyActorRef {
    const actor = createActor(logic, { ...options, parent } as never) as Actor<AnyActorLogic>
    if (this.#isActivatingForeign) this.#foreign.add(actor)
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

function endActor(run: AnyActorRef): void {
  run.send({ type: 'close' })
  stopActor(run)
}

function stateOf(actor: AnyActorRef): TaskStatus {
  return (actor.getSnapshot() as { value: TaskStatus }).value
}

function contextOf(actor: AnyActorRef): TaskMachineContext {
  return (actor.getSnapshot() as { context: TaskMachineContext }).context
}

/** What an event says of the task beside its state. */
function shownBy(data: TaskEvent['data']): Partial<TaskMachineContext> {
  return Object.fromEntries(['name', 'attempt', 'run'].flatMap((key) => (key in data ? [[key, data[key]]] : [])))
}
