// The open runs of this engine, each in a slot. A run begins when the feed has reported it and its row is known: an admission has returned
// the row, or it is read. Its task's actor starts it, ends it with what the feed reports, and frees its slot when it is closed.

import { waitAtMost } from '../core/signals.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { AnyExecutor } from '../entities/executor.ts'
import { isLiveRun, type RunRecord } from '../entities/run.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { RunningTask } from '../entities/views.ts'
import { RunSlot, type SlotHost } from './run-slot.ts'

/** Delay, in milliseconds, after which a failed read of a started run is retried. */
const againMs = 200
/** How long executors may take to return after the drain, in milliseconds, and their commands to end after that. */
const drainMs = 250
const lastCommandsMs = 2_000

export interface OpenRunsHost extends Omit<SlotHost, 'freed' | 'closed' | 'lent'> {
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
  /** Tasks whose runs have changed here since the comparison that is under way has begun. */
  #changedSince = new Set<string>()
  #isPaused = false

  constructor(host: OpenRunsHost) {
    this.#host = host
    this.#slotHost = {
      ...host,
      closed: (slot) => this.#closed(slot),
      freed: (slot) => this.#freeSlot(slot),
      lent: () => this.#lent(),
    }
    host.actors.runsBy({
      instanceId: host.instanceId,
      lifeOf: (taskId, run) => {
        const slot = this.#slots.get(taskId)
        return slot?.ref.run === run ? slot : undefined
      },
    })
  }

  /** The number of runs that hold a slot, without those of system tasks. */
  get count(): number {
    return this.#holders(false)
  }

  /** The number of runs of system tasks, which have slots of their own. */
  get systemCount(): number {
    return this.#holders(true)
  }

  #holders(system: boolean): number {
    let holders = 0
    for (const { isParked, task } of this.#slots.values()) if (!isParked && task.system === system) holders++
    return holders
  }

  /** Whether the task is a system task with an open run here. */
  isSystem(taskId: string): boolean {
    return this.#slots.get(taskId)?.task.system === true
  }

  get taskIds(): string[] {
    return [...this.#slots.keys()]
  }

  /** The number of runs that hold a slot, of each executor that has any. */
  get countByExecutor(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { task, isParked } of this.#slots.values()) {
      if (isParked || task.system) continue
      const executor = task.executor as string
      counts.set(executor, (counts.get(executor) ?? 0) + 1)
    }
    return counts
  }

  /** Whether none of them goes on by itself. */
  get areAtRest(): boolean {
    return [...this.#slots.values()].every((slot) => slot.isAtRest)
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
      this.#changedSince.add(task.id)
      this.#admitted.set(task.id, task)
      this.#beginIfKnown(task.id)
    }
  }

  /** Called with every event of the feed. */
  follow(event: TaskEvent): void {
    const { taskId, type, instanceId, data } = event
    if (type === 'task.started' && instanceId === this.#host.instanceId && typeof data.run === 'number') {
      // A comparison has begun it, or the event comes again.
      const known = (this.#slots.get(taskId) ?? this.#leaving.get(taskId))?.ref.run
      if (known !== undefined && known >= data.run) return
      this.#changedSince.add(taskId)
      this.#reported.set(taskId, [event])
      // The admission that shares the commit has resolved; what awaits it runs after the observers, in this turn.
      if (!this.#beginIfKnown(taskId)) queueMicrotask(() => void this.#readAndBegin(taskId, data.run))
      return
    }
    // The actor of a task follows the events of a run that is about to begin when it has begun.
    const reported = this.#reported.get(taskId)
    if (reported === undefined) this.#pass(event)
    else reported.push(event)
  }

  #pass(event: TaskEvent): void {
    const { taskId, type, data } = event
    if (type === 'run.parked' || type === 'run.continued') this.#changedSince.add(taskId)
    this.#host.actors.follow(event)
    this.#host.runLog.follow(event)
    if (typeof data.callId === 'string' && (type === 'task.unblocked' || type === 'timer.fired')) {
      this.#slots.get(taskId)?.wake(data.callId)
    }
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
      else this.#forget(taskId)
    } catch (error) {
      report(error, { taskId, doing: 'start a run' })
      if (!stopped.aborted) clock.setTimeout(() => void this.#readAndBegin(taskId, run), againMs)
    }
  }

  /**
   * Called before a read of the open runs of this engine; the function that it returns is called with them, and with the latest event that
   * they contain. What is WORKING without a run here begins, and what is not ends: an event that was lost or came twice changes nothing. What
   * changes here during the read is left to the next comparison.
   */
  comparison(): (open: readonly RunRecord[], last: number) => void {
    this.#changedSince = new Set()
    const before = new Map(Array.from(this.#slots, ([taskId, { ref }]) => [taskId, ref.run]))
    return (open, last) => {
      const found = new Map(open.map((run) => [run.taskId, run]))
      for (const run of open) {
        const isHere = this.#slots.has(run.taskId) || this.#reported.has(run.taskId)
        if (!isHere && run.status === 'live' && !this.#changedSince.has(run.taskId)) this.#beginUnreported(run, last)
      }
      for (const [taskId, number] of before) {
        const slot = this.#slots.get(taskId)
        if (slot?.ref.run !== number || this.#changedSince.has(taskId)) continue
        const run = found.get(taskId)
        const isMoved = run !== undefined && run.number === number && (run.status === 'live') === slot.isParked
        if (isMoved && isLiveRun(run)) this.#move(run)
        else if (run?.number === number && isSuspended(run))
          this.#host.actors.sendToRun(taskId, number, { type: 'suspend' })
        else if (run?.number !== number || run.status === 'ending') this.#end(slot)
        if (run?.number !== number) this.#host.actors.closeRun(taskId, number)
      }
    }
  }

  /** No event has reported that it lent its slot, or has one again. */
  #move({ taskId, number, status }: RunRecord): void {
    this.#host.actors.sendToRun(taskId, number, { type: status === 'live' ? 'admit' : 'park' })
  }

  /** No event has reported it: this one stands for it. */
  #beginUnreported({ taskId, number, startedAt }: RunRecord, last: number): void {
    const { instanceId } = this.#host
    const data = { from: number === 1 ? 'submitted' : 'waiting', status: 'working', run: number }
    this.#changedSince.add(taskId)
    this.#reported.set(taskId, [{ seq: last, type: 'task.started', taskId, at: startedAt, instanceId, data }])
    if (!this.#beginIfKnown(taskId)) void this.#readAndBegin(taskId, number)
  }

  /** The run is over before it could begin: the actor of its task, if it has one, follows what has happened. */
  #forget(taskId: string): void {
    const events = this.#reported.get(taskId) ?? []
    this.#reported.delete(taskId)
    for (const event of events) this.#pass(event)
  }

  #begin(task: TaskRecord): void {
    const { actors, executors } = this.#host
    const [started, ...since] = this.#reported.get(task.id) as [TaskEvent, ...TaskEvent[]]
    this.#reported.delete(task.id)
    this.#admitted.delete(task.id)
    const former = this.#slots.get(task.id) ?? this.#leaving.get(task.id)
    if (former !== undefined) {
      this.#end(former)
      actors.closeRun(task.id, former.ref.run)
    }
    const executor = executors.get(task.executor as string) as AnyExecutor
    const slot = new RunSlot(task, executor, started.at, former, this.#slotHost)
    this.#slots.set(task.id, slot)
    actors.startTask(task, started)
    this.#host.runLog.begun(task, started.at)
    // The row may be ahead of the feed. A run that has already ended never reaches its executor, which begins after this turn.
    if (task.status !== 'working') this.#end(slot)
    for (const event of since) this.#pass(event)
    if (!actors.isWorking) slot.drain()
    else if (this.#isPaused) this.#end(slot)
    this.#changed()
  }

  // ── ending ──

  /** A parked one only waits: its function is left alone. */
  #end({ ref, isParked }: RunSlot, why?: string): void {
    this.#host.actors.sendToRun(ref.taskId, ref.run, isParked ? { type: 'suspend' } : { type: 'end', why })
  }

  /** The run is closed in the ledger, or nothing more may be written: its actor frees the slot, unless it has done so. */
  #closed(slot: RunSlot): void {
    const { taskId, run } = slot.ref
    this.#host.actors.closeRun(taskId, run)
    if (this.#leaving.get(taskId) === slot) this.#leaving.delete(taskId)
  }

  /** Its executor may not have settled here yet: another engine has closed the run. */
  #freeSlot(slot: RunSlot): void {
    const { id } = slot.task
    if (this.#slots.get(id) !== slot) return
    this.#changedSince.add(id)
    this.#slots.delete(id)
    if (!slot.isOver) this.#leaving.set(id, slot)
    this.#changed()
    this.#host.freed()
  }

  /** Called when the lease of the engine is over, and when it is renewed: other engines may have begun these runs again. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused
    if (isPaused)
      for (const slot of this.#slots.values()) this.#end(slot, 'the engine could not renew its lease in time')
  }

  /**
   * Aborts runs at their next safe point, waits for them and for `others`, and gives up the rest. Returns tasks with live commands; their
   * runs stay open.
   */
  async drain(withinMs: number, others: ReadonlyArray<Promise<unknown>>): Promise<ReadonlySet<string>> {
    for (const slot of this.#slots.values()) slot.drain()
    await this.#allClosed(withinMs, others)
    for (const slot of this.#slots.values()) this.#end(slot, 'the engine is closing')
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

  #lent(): void {
    this.#changed()
    this.#host.freed()
  }

  #changed(): void {
    this.#host.status.slotsChanged()
  }
}

/** It has ended because it only waits. */
function isSuspended({ status, outcome }: RunRecord): boolean {
  return status === 'ending' && (outcome === 'waiting' || outcome === 'input_required')
}
