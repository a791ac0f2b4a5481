// The open runs of this engine, each in a slot. A run begins when the feed has reported it and its row is known: an admission has returned
// the row, or it is read. It ends with what the feed reports, and leaves its slot when it is closed.

import { waitAtMost } from '../core/signals.ts'
import type { EventType, TaskEvent } from '../entities/event.ts'
import type { AnyExecutor } from '../entities/executor.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { RunningTask } from '../entities/views.ts'
import { acceptedEvents } from '../machines/task-edges.ts'
import { publishedAs } from '../machines/task-table.ts'
import { RunSlot, type SlotHost } from './run-slot.ts'

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

export interface OpenRunsHost extends Omit<SlotHost, 'freed'> {
  /** Called when a slot has become free. */
  freed(): void
}

export class OpenRuns {
  readonly #host: OpenRunsHost
  readonly #slotHost: SlotHost
  /** By task. */
  readonly #slots = new Map<string, RunSlot>()
  /** By task: runs that are closed in the ledger and whose executors have not settled here yet. */
  readonly #leaving = new Map<string, RunSlot>()
  /** By task: events of started runs without a slot, from their `task.started` on. */
  readonly #reported = new Map<string, [TaskEvent, ...TaskEvent[]]>()
  /** By task: rows of started runs that the feed has not reported yet. */
  readonly #admitted = new Map<string, TaskRecord>()
  #isPaused = false

  constructor(host: OpenRunsHost) {
    this.#host = host
    this.#slotHost = { ...host, freed: (slot) => this.#free(slot) }
  }

  get count(): number {
    return this.#slots.size
  }

  get taskIds(): string[] {
    return [...this.#slots.keys()]
  }

  /** The number of runs of each executor that has any. */
  get countByExecutor(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { task } of this.#slots.values()) {
      const executor = task.executor as string
      counts.set(executor, (counts.get(executor) ?? 0) + 1)
    }
    return counts
  }

  /** While the lease of the engine is over, nothing begins: it would be a run that another engine may begin too. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /** What the status of the engine shows of them. */
  get shown(): RunningTask[] {
    return Array.from(this.#slots.values(), ({ shown }) => shown)
  }

  // ── beginning ──

  /** Called with the rows of the runs that an admission has started, in the turn of its commit. */
  admitted(started: readonly TaskRecord[]): void {
    for (const task of started) {
      const known = this.#slots.get(task.id)?.ref.run
      if (known !== undefined && known >= task.run) continue
      this.#admitted.set(task.id, task)
      this.#beginIfKnown(task.id)
    }
  }

  /** Called with every event of the feed. */
  follow(event: TaskEvent): void {
    const { taskId, type, instanceId, data } = event
    if (type === 'task.started' && instanceId === this.#host.instanceId && typeof data.run === 'number') {
      this.#reported.set(taskId, [event])
      // The admission that shares the commit has resolved; what awaits it runs after the observers, in this turn.
      if (!this.#beginIfKnown(taskId)) queueMicrotask(() => void this.#readAndBegin(taskId, data.run))
    } else this.#reported.get(taskId)?.push(event)
    const slot = this.#slots.get(taskId)
    if (slot !== undefined) this.#followSlot(slot, event)
  }

  #beginIfKnown(taskId: string): boolean {
    const task = this.#admitted.get(taskId)
    if (task === undefined || task.run !== this.#reportedRun(taskId)) return false
    this.#begin(task)
    return true
  }

  #reportedRun(taskId: string): unknown {
    return this.#reported.get(taskId)?.[0].data.run
  }

  /** For a run whose row no admission has returned, because the outcome of its commit was unknown or its answer is late. */
  async #readAndBegin(taskId: string, run: unknown): Promise<void> {
    const { ledger, clock, report, stopped } = this.#host
    const isMissing = (): boolean => this.#reportedRun(taskId) === run && !stopped.aborted
    if (!isMissing()) return
    try {
      const task = await ledger.read((tx) => tx.task.get(taskId))
      if (!isMissing()) return
      if (task?.run === run && task?.runOpen) this.#begin(task)
      else this.#reported.delete(taskId)
    } catch (error) {
      report(error, { taskId, doing: 'start a run' })
      if (!stopped.aborted) clock.setTimeout(() => void this.#readAndBegin(taskId, run), againMs)
    }
  }

  #begin(task: TaskRecord): void {
    const { actors, executors } = this.#host
    const [started, ...since] = this.#reported.get(task.id) as [TaskEvent, ...TaskEvent[]]
    this.#reported.delete(task.id)
    this.#admitted.delete(task.id)
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
    if (!actors.isWorking) slot.drain()
    else if (this.#isPaused) slot.end()
    this.#changed()
  }

  // ── ending ──

  #followSlot(slot: RunSlot, event: TaskEvent): void {
    if (typeof event.data.callId === 'string' && (event.type === 'task.unblocked' || event.type === 'timer.fired')) {
      slot.wake(event.data.callId)
    }
    if (!endings.has(event.type) || event.data.run !== slot.ref.run) return
    // Only a suspension names what it waits for.
    if ('waits' in event.data) slot.suspend()
    else slot.end()
    if (event.type !== 'run.closed') return
    this.#slots.delete(slot.task.id)
    this.#leaving.set(slot.task.id, slot)
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
    this.#host.freed()
  }

  /** Called when the lease of the engine is over, and when it is renewed: other engines may have begun these runs again. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused
    if (isPaused) for (const slot of this.#slots.values()) slot.end('the engine could not renew its lease in time')
  }

  /**
   * Aborts runs at their next safe point, waits for them and for `others`, and gives up the rest. Returns tasks with live commands; their
   * runs stay open.
   */
  async drain(withinMs: number, others: ReadonlyArray<Promise<unknown>>): Promise<ReadonlySet<string>> {
    for (const slot of this.#slots.values()) slot.drain()
    await this.#allClosed(withinMs, others)
    for (const slot of this.#slots.values()) slot.end('the engine is closing')
    await this.#allClosed(drainMs)
    this.giveUp()
    const commands = [...this.#slots.values()].flatMap((slot) => slot.callsWithProcesses)
    const { reclaim, report } = this.#host
    const ended = reclaim(commands).catch((error: unknown) => report(error, { doing: 'end commands' }))
    await this.#allClosed(commands.length > 0 ? lastCommandsMs : drainMs, [ended])
    const kept = [...this.#slots.values()].filter((slot) => slot.callsWithProcesses.length > 0)
    return new Set(kept.map((slot) => slot.task.id))
  }

  /** What the executors return from now on is ignored. */
  giveUp(): void {
    for (const slot of this.#slots.values()) slot.giveUp()
  }

  /** Resolves when all slots are free and the other promises are settled, or after the timeout. */
  async #allClosed(withinMs: number, others: ReadonlyArray<Promise<unknown>> = []): Promise<void> {
    const closed = async (): Promise<void> => {
      await Promise.all(others)
      while (this.#slots.size > 0) await Promise.all(Array.from(this.#slots.values(), (slot) => slot.closed))
    }
    await waitAtMost(this.#host.clock, withinMs, closed())
  }

  #changed(): void {
    this.#host.status.slotsChanged()
  }
}
