// The supervisor fills the slots of its engine. Events only wake it; it then acts on what it reads from the ledger: what is due, what is
// ready, which runs are its own (level-triggered). A run starts or ends only when the feed reports it.

import { type AnyExecutor, isExecutor } from '../api/executor.ts'
import type { EngineStatus } from '../api/views.ts'
import { waitAtMost } from '../core/signals.ts'
import type { EventType, TaskEvent } from '../entities/event.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { RetryPolicy } from '../entities/task-fields.ts'
import type { Trees } from '../entities/task-trees.ts'
import { resolveRetry } from '../machines/family.ts'
import { acceptedEvents, publishedAs } from '../machines/task-machine.ts'
import { Admission } from './admission.ts'
import type { EngineHost } from './engine-host.ts'
import { Looks } from './looks.ts'
import { Maintenance } from './maintenance.ts'
import { RunSlot, type SlotHost, withinRuns } from './run-slot.ts'

/** Delay, in milliseconds, after which a failed read of a started run is retried. */
const againMs = 200
/** How long executors may take to return after the drain, in milliseconds, and their commands to end after that. */
const drainMs = 250
const lastCommandsMs = 2_000

/** Events that end a run: its task leaves WORKING or is deleted, or the run is closed. */
const endings = new Set<EventType>([
  ...acceptedEvents('working').map((event) => publishedAs[event]),
  'task.deleted',
  'run.closed',
])

export class Supervisor {
  readonly #host: EngineHost
  readonly #slotHost: SlotHost
  readonly #slots = new Map<string, RunSlot>()
  /** By task: runs that are closed in the ledger and whose executors have not settled here yet. */
  readonly #leaving = new Map<string, RunSlot>()
  /** By task: events of started runs without a slot, from their `task.started` on. */
  readonly #begun = new Map<string, TaskEvent[]>()
  /** Rows of tasks that an admission has started, for the runs that get a slot. */
  readonly #admitted = new Map<string, TaskRecord>()
  readonly #admission: Admission
  readonly #maintenance: Maintenance
  readonly #looks: Looks
  readonly #stopped = new AbortController()
  #unlisten: (() => void) | undefined

  constructor(host: EngineHost) {
    this.#host = host
    const stopped = this.#stopped.signal
    const retryOf = (task: TaskRecord): RetryPolicy => {
      const executor = host.executors.get(task.executor as string)
      return resolveRetry(task.policy.retry, isExecutor(executor) ? executor.retry : undefined)
    }
    this.#admission = new Admission({
      ...host,
      slots: this.#slots,
      looks: () => this.#looks.count,
      isLeaseCertain: () => this.#maintenance.isLeaseCertain,
      admitted: (admitted, looks) => {
        this.#looks.noteAdmitted(admitted, looks)
        this.#noteStarted(admitted.started)
      },
    })
    this.#slotHost = {
      ...host,
      stopped,
      timerSet: () => this.wake(),
      startCreated: this.startCreated,
      retryOf,
      freeing: () => this.#admission.admit(),
      freed: (slot) => this.#free(slot),
    }
    this.#maintenance = new Maintenance({
      ...host,
      retryOf,
      checked: () => this.wake(),
      leaseOver: (isOver) => this.#pause(isOver),
      purged: () => void host.status.count(),
    })
    this.#looks = new Looks({
      ...host,
      admission: this.#admission,
      maintenance: this.#maintenance,
      stopped,
      changed: () => this.#startRuns(),
    })
    host.status.readSlotsFrom(() => this.#readSlots())
  }

  get isWorking(): boolean {
    return this.#host.actors.isWorking
  }

  /** Recovers dead engines, then admits; `trees` restricts admission to tasks of these trees. */
  async work(trees?: Trees): Promise<void> {
    const { actors, feed } = this.#host
    this.#admission.trees = trees
    actors.supervisor.send({ type: 'work' })
    this.#unlisten = feed.listen((event) => this.#onEvent(event))
    await this.#maintenance.begin()
    this.#changed()
    this.wake()
  }

  /** Sets the limits. Running tasks are not ended: lower limits are reached as runs end. */
  setLimits(maxConcurrent: number | undefined, limits: Readonly<Record<string, number | null>>): void {
    this.#admission.setLimits(maxConcurrent, limits)
    this.#changed()
    this.wake()
  }

  /** Admission is restricted to tasks of these trees; undefined: all. */
  get trees(): Trees | undefined {
    return this.#admission.trees
  }

  get limits(): Admission['limits'] {
    return this.#admission.limits
  }

  /** Tasks with an open run of this engine. */
  get taskIds(): string[] {
    return [...this.#slots.keys()]
  }

  /** Stops admission, aborts runs at their next safe point, waits, gives up the rest. Returns tasks with live commands; their runs stay open. */
  async drain(): Promise<ReadonlySet<string>> {
    if (!this.isWorking) return new Set()
    const { actors, shutdownTimeoutMs, report } = this.#host
    actors.supervisor.send({ type: 'drain' })
    const checked = this.#maintenance.stop()
    for (const slot of this.#slots.values()) slot.drain()
    await this.#slotsClosed(shutdownTimeoutMs, [checked, this.#admission.settled()])
    for (const slot of this.#slots.values()) slot.end('the engine is closing')
    await this.#slotsClosed(drainMs)
    for (const slot of this.#slots.values()) slot.giveUp()
    const commands = [...this.#slots.values()].flatMap((slot) => slot.callsWithProcesses)
    const ended = this.#host.reclaim(commands).catch((error: unknown) => report(error, { doing: 'end commands' }))
    await this.#slotsClosed(commands.length > 0 ? lastCommandsMs : drainMs, [ended])
    const kept = [...this.#slots.values()].filter((slot) => slot.callsWithProcesses.length > 0)
    await this.#stop()
    this.#changed()
    return new Set(kept.map((slot) => slot.task.id))
  }

  /** The ledger has failed: nothing more is written. */
  abort(): void {
    void this.#stop()
    for (const slot of this.#slots.values()) slot.giveUp()
  }

  async #stop(): Promise<void> {
    this.#stopped.abort()
    this.#unlisten?.()
    await this.#maintenance.end()
  }

  /** While the lease is over, other engines may begin the runs again. Those here are released when the ledger can be written. */
  #pause(isPaused: boolean): void {
    this.#admission.isPaused = isPaused
    if (isPaused) for (const slot of this.#slots.values()) slot.end('the engine could not renew its lease in time')
    else this.wake()
  }

  /** Resolves when all slots are closed and the other promises are settled, or after the timeout. */
  async #slotsClosed(withinMs: number, others: ReadonlyArray<Promise<unknown>> = []): Promise<void> {
    const closed = async (): Promise<void> => {
      await Promise.all(others)
      while (this.#slots.size > 0) await Promise.all([...this.#slots.values()].map((slot) => slot.closed))
    }
    await waitAtMost(this.#host.clock, withinMs, closed())
  }

  // ── reading and admitting ──

  /** See `Admission`. */
  readonly startCreated: Admission['startCreated'] = (...created) => this.#admission.startCreated(...created)

  /** Something may have become due or ready. */
  wake(): void {
    this.#looks.wake()
  }

  #noteStarted(started: readonly TaskRecord[]): void {
    for (const task of started) {
      const known = this.#slots.get(task.id)?.ref.run
      if (known === undefined || known < task.run) this.#admitted.set(task.id, task)
    }
  }

  // ── following the feed ──

  #onEvent(event: TaskEvent): void {
    const { actors, instanceId, report } = this.#host
    actors.follow(event)
    if (event.type === 'task.started' && event.instanceId === instanceId && typeof event.data.run === 'number') {
      this.#begun.set(event.taskId, [event])
    } else this.#begun.get(event.taskId)?.push(event)
    if (event.type === 'task.repaired' && event.instanceId === instanceId) {
      const fault = new Error(
        `The snapshot of ${event.taskId} did not match its row and was rebuilt: ${String(event.data.fault)}`,
      )
      report(fault, { taskId: event.taskId })
    }
    const slot = this.#slots.get(event.taskId)
    if (slot !== undefined) this.#followSlot(slot, event)
    if (withinRuns.has(event.type)) return
    if (event.instanceId === instanceId) this.#looks.wakeByOwn()
    else this.#looks.wakeByOther(event)
  }

  #followSlot(slot: RunSlot, event: TaskEvent): void {
    if (typeof event.data.callId === 'string' && (event.type === 'task.unblocked' || event.type === 'timer.fired')) {
      slot.wake(event.data.callId)
    }
    if (!endings.has(event.type) || event.data.run !== slot.ref.run) return
    slot.end()
    if (event.type !== 'run.closed') return
    this.#slots.delete(slot.task.id)
    this.#leaving.set(slot.task.id, slot)
    this.#changed()
  }

  // ── runs of this engine ──

  /** Gives slots to started runs. Called after the feed has published a commit and the admission has resolved. */
  #startRuns(): void {
    for (const [taskId, [started]] of this.#begun) {
      const task = this.#admitted.get(taskId)
      this.#admitted.delete(taskId)
      if (task === undefined || task.run !== started?.data.run) void this.#adopt(taskId, started?.data.run)
      else this.#startRun(task)
    }
  }

  /** Gives a slot to a run that no admission returned: its commit's outcome was unknown, or the feed came first. */
  async #adopt(taskId: string, run: unknown): Promise<void> {
    const { ledger, clock, report } = this.#host
    try {
      const task = await ledger.read((tx) => tx.task.get(taskId))
      if (this.#begun.get(taskId)?.[0]?.data.run !== run) return
      this.#admitted.delete(taskId)
      if (task?.run === run && task?.runOpen) this.#startRun(task)
      else this.#begun.delete(taskId)
    } catch (error) {
      report(error, { taskId, doing: 'start a run' })
      if (!this.#stopped.signal.aborted) clock.setTimeout(() => this.wake(), againMs)
    }
  }

  #startRun(task: TaskRecord): void {
    const { actors, executors } = this.#host
    const [started, ...since] = this.#begun.get(task.id) as [TaskEvent, ...TaskEvent[]]
    this.#begun.delete(task.id)
    const former = this.#slots.get(task.id) ?? this.#leaving.get(task.id)
    former?.end()
    if (former !== undefined) actors.closeRun(task.id)
    // The row may be ahead of the feed: the actor starts in WORKING, as the run did, and follows the events.
    actors.startTask({ ...task, status: 'working' })
    const executor = executors.get(task.executor as string) as AnyExecutor
    const slot = new RunSlot(task, executor, started.at, former, this.#slotHost)
    this.#slots.set(task.id, slot)
    // A run that has already ended never reaches its executor, which starts after this turn.
    if (task.status !== 'working') slot.end()
    for (const event of since) {
      actors.follow(event)
      this.#followSlot(slot, event)
    }
    if (!this.isWorking) slot.drain()
    else if (this.#admission.isPaused) slot.end()
    this.#changed()
  }

  /** Called when the ledger has closed the run and when its executor has ended; the first call frees the slot. */
  #free(slot: RunSlot): void {
    const { id } = slot.task
    const holder = [this.#slots, this.#leaving].find((slots) => slots.get(id) === slot)
    if (holder === undefined) return
    holder.delete(id)
    if (!this.#slots.has(id)) this.#host.actors.closeRun(id)
    this.#changed()
    this.#looks.wakeByOwn()
  }

  #changed(): void {
    this.#host.status.slotsChanged()
  }

  #readSlots(): Pick<EngineStatus, 'slots' | 'working' | 'running'> {
    const { maxConcurrent } = this.limits
    const running = [...this.#slots.values()].map((slot) => slot.shown)
    const used = running.length
    const free = this.isWorking ? Math.max(0, maxConcurrent - used) : 0
    return { slots: { used, free, maxConcurrent }, working: this.isWorking, running }
  }
}
