// The supervisor: it holds the slots, admits by priority then age, recovers what the dead left, fires timers and drains. It
// acts only on what is durable: a run starts or is ended when the feed says so, never before.

import type { Clock } from '../clock.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { OnInterrupt, RetryPolicy, TaskRecord } from '../entities/task.ts'
import { type AnyExecutor, isExecutor } from '../executor.ts'
import type { Ledger, Step } from '../ledger/ledger.ts'
import { resolveRetry } from '../machines/family.ts'
import { type Admission, admit } from '../steps/admit.ts'
import { runEnded } from '../steps/journal.ts'
import { dueAfter } from '../steps/moment.ts'
import { type ExecutorOutcome, settleRun } from '../steps/settle-run.ts'
import type { RunningTask } from '../views.ts'
import { Caretaker, type CaretakerOptions } from './caretaker.ts'
import type { Feed } from './feed.ts'
import type { LiveActors } from './live-actors.ts'
import { LiveRun } from './live-run.ts'
import type { RunHost } from './run-core.ts'
import type { StatusModel } from './status.ts'

export interface SupervisorOptions {
  ledger: Ledger
  feed: Feed
  actors: LiveActors
  status: StatusModel
  clock: Clock
  instanceId: string
  executors: ReadonlyMap<string, AnyExecutor>
  maxConcurrent: number
  limits: Readonly<Record<string, number>>
  onInterrupt: OnInterrupt
  maxCrashes: number
  abortGraceMs: number
  shutdownTimeoutMs: number
  leaseMs: number
  retentionMs: number | undefined
  host: Omit<RunHost, 'arm'>
  reclaim: CaretakerOptions['reclaim']
  report(error: unknown, context: Record<string, unknown>): void
}

/** A slot: an open executor run. */
interface Slot {
  live: LiveRun
  task: TaskRecord
  since: number
  /** Its executor has settled and its outcome is being written. */
  settling: boolean
  grace: unknown
  closed: Promise<void>
}

/** How long a ledger that refused is left alone before it is asked again. */
const pauseMs = 200
/** The longest pause before a ledger that refused is asked again. */
const longestPauseMs = 10_000
/** How long an executor gets to let go after the drain's time is over. */
const lastMomentMs = 250

/** What may make room under a limit that holds something back, besides ends of runs: wider lanes, children that leave theirs. */
const loosenings = new Set(['task.updated', 'task.promoted'])

/** Events by which a task leaves WORKING, or its run is closed by somebody else. */
const endings = new Set([
  'task.paused',
  'task.input_required',
  'task.waiting',
  'task.completed',
  'task.failed',
  'task.canceled',
  'task.deleted',
  'run.closed',
]) // prettier-ignore

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #slots = new Map<string, Slot>()
  readonly #perExecutor = new Map<string, number>()
  readonly #admitted = new Map<string, TaskRecord>()
  readonly #caretaker: Caretaker
  #maxConcurrent: number
  #limits: Readonly<Record<string, number>>
  #admitting: Promise<void> | undefined
  /** What the feed told of runs of ours before their admission had: by task, from its `task.started` on. */
  readonly #early = new Map<string, TaskEvent[]>()
  #hungry = true
  /** Something is ready that only a limit shared with others holds back: their ends are ours to hear. */
  #heldBack = false
  #aborted = false
  #unlisten: (() => void) | undefined

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#maxConcurrent = options.maxConcurrent
    this.#limits = options.limits
    this.#caretaker = new Caretaker({
      ...options,
      moment: options.host.moment,
      chance: options.host.chance,
      retryOf: (task) => this.#knownRetryOf(task),
      looked: () => this.#lookAgain(),
      purged: () => void options.status.count(),
    })
    this.#changed()
  }

  get isWorking(): boolean {
    return this.#options.actors.state === 'working'
  }

  /** Recovers the dead, then admits. */
  async work(): Promise<void> {
    const { actors, feed } = this.#options
    actors.supervisor.send({ type: 'work' })
    this.#unlisten = feed.listen((event) => this.#onEvent(event))
    await this.#caretaker.begin()
    this.#changed()
    this.#pump()
  }

  /** Other limits from now on. Nothing that runs is ended: lower ones are reached as runs end by themselves. */
  setLimits(maxConcurrent: number | undefined, limits: Readonly<Record<string, number | null>>): void {
    this.#maxConcurrent = maxConcurrent ?? this.#maxConcurrent
    const merged = { ...this.#limits, ...limits }
    this.#limits = Object.fromEntries(Object.entries(merged).filter(([, limit]) => limit !== null)) as Record<
      string,
      number
    >
    this.#changed()
    this.lookForWork()
  }

  get limits(): { maxConcurrent: number; limits: Readonly<Record<string, number>> } {
    return { maxConcurrent: this.#maxConcurrent, limits: this.#limits }
  }

  /** Tasks with an open run here. */
  get taskIds(): string[] {
    return [...this.#slots.keys()]
  }

  /** Something may have become possible that no event tells of. */
  lookForWork(): void {
    this.#hungry = true
    this.#pump()
  }

  arm(dueAt: number): void {
    this.#caretaker.arm(dueAt)
  }

  /** Stops admitting, aborts every run at its next safe point, waits, and lets go of the rest. */
  async drain(): Promise<void> {
    if (!this.isWorking) return
    const { actors, shutdownTimeoutMs } = this.#options
    actors.supervisor.send({ type: 'drain' })
    await this.#caretaker.stop()
    await this.#admitting
    for (const slot of this.#slots.values()) slot.live.drain()
    await this.#slotsClosed(shutdownTimeoutMs)
    for (const slot of this.#slots.values())
      slot.live.end(runEnded({ taskId: slot.task.id, run: slot.live.number }, 'the engine is closing'))
    await this.#slotsClosed(lastMomentMs)
    await Promise.all([...this.#slots.values()].map((slot) => this.#giveUp(slot)))
    this.#caretaker.end()
    this.#unlisten?.()
    this.#changed()
  }

  /** The ledger can no longer be trusted: nothing is written any more. */
  abort(): void {
    this.#aborted = true
    this.#caretaker.end()
    this.#unlisten?.()
    for (const slot of this.#slots.values()) slot.live.end()
  }

  // ── following the feed ──

  #onEvent(event: TaskEvent): void {
    const { data, taskId } = event
    this.#options.actors.follow(event)
    if (event.type === 'task.started') this.#onStarted(event)
    else this.#early.get(taskId)?.push(event)
    if (event.type === 'task.repaired' && event.instanceId === this.#options.instanceId) {
      this.#options.report(new Error(`The snapshot of ${taskId} was made anew from its row: ${String(data.fault)}`), {
        taskId,
      })
    }
    const slot = this.#slots.get(taskId)
    if (slot) this.#followSlot(slot, event)
    if (typeof data.dueAt === 'number') this.arm(data.dueAt)
    if (data.ready === true) this.lookForWork()
    else if (this.#heldBack && (endings.has(event.type) || loosenings.has(event.type))) this.lookForWork()
  }

  #lookAgain(): void {
    if (this.#heldBack) this.lookForWork()
  }

  #followSlot(slot: Slot, event: TaskEvent): void {
    if (typeof event.data.callId === 'string' && (event.type === 'task.unblocked' || event.type === 'timer.fired')) {
      slot.live.poke(event.data.callId)
    }
    if (endings.has(event.type) && event.data.run === slot.live.number) this.#endRun(slot)
  }

  #onStarted(event: TaskEvent): void {
    if (event.instanceId !== this.#options.instanceId || typeof event.data.run !== 'number') return
    const task = this.#admitted.get(event.taskId)
    if (task?.run === event.data.run) {
      this.#startRun(task, [event])
      return
    }
    this.#early.set(event.taskId, [event])
    if (this.#admitting === undefined) void this.#adopt(event.taskId)
  }

  /** `events`: what the feed has told of this run so far. One that has ended already never gets to its executor. */
  #startRun(task: TaskRecord, events: readonly TaskEvent[]): void {
    this.#admitted.delete(task.id)
    this.#early.delete(task.id)
    const former = this.#replaceSlot(task.id)
    const { actors, executors, host } = this.#options
    actors.awaken(task)
    const executor = executors.get(task.executor as string) as AnyExecutor
    const live = new LiveRun(task, executor, { ...host, arm: (dueAt) => this.arm(dueAt) })
    const since = (events[0] as TaskEvent).at
    const slot: Slot = { live, task, since, settling: false, grace: undefined, closed: Promise.resolve() }
    this.#slots.set(task.id, slot)
    for (const event of events.slice(1)) {
      actors.follow(event)
      this.#followSlot(slot, event)
    }
    slot.closed = this.#follow(slot, former)
    if (!this.isWorking) live.drain()
    this.#changed()
    if (former === undefined) return
    if (this.#admitting) this.#hungry = true
    this.#pump()
  }

  /**
   * A run of ours that others have closed, because this engine hung, still has its slot when the task comes back to us: the slot
   * passes to the new run, which begins when the old executor has let go or its grace is over. Undefined where there is none.
   */
  #replaceSlot(taskId: string): Promise<void> | undefined {
    const { clock, abortGraceMs, actors } = this.#options
    const former = this.#slots.get(taskId)
    if (former === undefined) return undefined
    clock.clearTimeout(former.grace)
    former.live.end()
    this.#slots.delete(taskId)
    this.#count(former.task.executor as string, -1)
    actors.closeRun(taskId)
    let timer: unknown
    const late = new Promise<void>((resolve) => {
      timer = clock.setTimeout(() => resolve(), abortGraceMs)
    })
    return Promise.race([former.closed, late]).finally(() => clock.clearTimeout(timer))
  }

  /** A run of ours that no admission has told us of: the outcome of its commit was unknown, and now the feed tells it. */
  async #adopt(taskId: string): Promise<void> {
    const { ledger, report } = this.#options
    try {
      const task = await ledger.read((tx) => tx.task.get(taskId))
      const events = this.#early.get(taskId)
      this.#early.delete(taskId)
      if (events === undefined || task?.run !== events[0]?.data.run || !task?.runOpen) return
      this.#count(task.executor as string, 1)
      this.#startRun(task, events)
    } catch (error) {
      report(error, { taskId, doing: 'adopt a run' })
    }
  }

  /** From the executor's first line to the closed run. */
  async #follow(slot: Slot, former?: Promise<void>): Promise<void> {
    const { live } = slot
    if (former) await former
    const outcome = await live.execute()
    if (this.#isGone(slot)) return
    if (live.callsInFlight === 0) return this.#settle(slot, outcome)
    // What it came to counts at once, but no other run may begin beside calls that are still in flight.
    if (outcome.kind !== 'ignored') await this.#record(slot, outcome, true)
    this.#endRun(slot)
    await live.callsSettled()
    if (!this.#isGone(slot)) await this.#settle(slot, { kind: 'ignored' })
  }

  /** Given up meanwhile: the run is closed. */
  #isGone(slot: Slot): boolean {
    return this.#slots.get(slot.task.id) !== slot
  }

  async #settle(slot: Slot, outcome: ExecutorOutcome): Promise<void> {
    if (slot.settling) return
    await this.#record(slot, outcome, false)
    this.#free(slot)
  }

  /** Writes what a run came to; a ledger that refuses is asked again, because until then the task belongs to the run. */
  async #record(slot: Slot, outcome: ExecutorOutcome, callsOpen: boolean): Promise<void> {
    const { live, task } = slot
    slot.settling = true
    for (let restMs = pauseMs; ; restMs = Math.min(restMs * 2, longestPauseMs)) {
      try {
        await this.#step(
          settleRun({
            ...this.#options.host.moment(),
            taskId: task.id,
            run: live.number,
            outcome,
            retry: this.#retryOf(task),
            chance: this.#options.host.chance(),
            diverged: outcome.kind === 'ignored' ? [] : live.diverged,
            journaled: live.journaled,
            readThrough: live.readThrough,
            callsOpen,
          }),
        )
        break
      } catch (error) {
        this.#options.report(error, { taskId: task.id, run: live.number, doing: 'settle run' })
        // What an engine that closes could not write, it lets go of as a whole at the end, or its death does.
        if (!this.isWorking || this.#aborted) break
        await new Promise<void>((resume) => this.#options.clock.setTimeout(() => resume(), restMs))
      }
    }
    slot.settling = false
  }

  /** The task has left WORKING, or the fence is up: the executor gets its grace to notice. */
  #endRun(slot: Slot): void {
    if (slot.settling || slot.grace !== undefined) return
    const { clock, abortGraceMs } = this.#options
    slot.live.end()
    slot.grace = clock.setTimeout(() => void this.#giveUp(slot), abortGraceMs)
  }

  /** An executor that ignores its signal loses its slot; what it returns later is ignored. */
  async #giveUp(slot: Slot): Promise<void> {
    if (this.#isGone(slot)) return
    await this.#settle(slot, { kind: 'ignored' })
  }

  #free(slot: Slot): void {
    this.#options.clock.clearTimeout(slot.grace)
    if (this.#isGone(slot)) return
    slot.live.end()
    this.#slots.delete(slot.task.id)
    this.#count(slot.task.executor as string, -1)
    this.#options.actors.closeRun(slot.task.id)
    // An admission that is on its way counted this slot as taken.
    if (this.#admitting) this.#hungry = true
    this.#changed()
    this.#pump()
  }

  // ── admission ──

  #pump(): void {
    if (!this.#hungry || this.#admitting || !this.isWorking) return
    const free = this.#maxConcurrent - this.#slots.size - this.#admitted.size
    if (free <= 0) return
    this.#hungry = false
    const moment = this.#options.host.moment()
    const leaseUntil = dueAfter(moment.at, this.#options.leaseMs)
    const request = { ...moment, free, executors: this.#freeExecutors(), leaseUntil }
    this.#admitting = this.#step(admit(request)).then(
      (admission) => this.#onAdmitted(admission, free),
      (error: unknown) => {
        this.#admitting = undefined
        this.#hungry = true
        this.#options.report(error, { doing: 'admit' })
        this.#takeUpEarly()
        // Not lost: what is ready stays ready, and is tried again.
        this.#options.clock.setTimeout(() => this.#pump(), pauseMs)
      },
    )
  }

  #onAdmitted({ started, heldBack }: Admission, free: number): void {
    this.#admitting = undefined
    this.#heldBack = heldBack
    for (const task of started) {
      this.#admitted.set(task.id, task)
      this.#count(task.executor as string, 1)
    }
    this.#takeUpEarly()
    // Something became ready while the step was on its way; or it took all slots, or a limit stood in the way of more.
    const news = this.#hungry
    const more = started.length >= free || this.#limited
    this.#hungry = news || more
    if (news || (more && started.length > 0)) this.#pump()
  }

  #takeUpEarly(): void {
    const early = [...this.#early]
    for (const [taskId, events] of early) {
      const task = this.#admitted.get(taskId)
      if (task?.run === events[0]?.data.run) this.#startRun(task as TaskRecord, events)
      else void this.#adopt(taskId)
    }
  }

  get #limited(): boolean {
    return this.#freeExecutors().some((executor) => executor.free <= 0)
  }

  #freeExecutors(): Array<{ name: string; free: number; timeoutMs: number | undefined }> {
    const { executors } = this.#options
    return [...executors].map(([name, executor]) => {
      const defined = isExecutor(executor) ? executor : undefined
      const limit = this.#limits[name] ?? defined?.concurrency ?? this.#maxConcurrent
      return { name, free: limit - (this.#perExecutor.get(name) ?? 0), timeoutMs: defined?.timeoutMs }
    })
  }

  #count(executor: string, by: number): void {
    this.#perExecutor.set(executor, (this.#perExecutor.get(executor) ?? 0) + by)
  }

  #retryOf(task: TaskRecord): RetryPolicy {
    const executor = task.executor === null ? undefined : this.#options.executors.get(task.executor)
    return resolveRetry(task.policy.retry, isExecutor(executor) ? executor.retry : undefined)
  }

  #knownRetryOf(task: TaskRecord): RetryPolicy | undefined {
    const known = task.policy.retry !== undefined || this.#options.executors.has(task.executor as string)
    return known ? this.#retryOf(task) : undefined
  }

  // ── inside ──

  #step<L, D, R>(step: Step<L, D, R>): Promise<R> {
    return this.#options.ledger.step(step)
  }

  async #slotsClosed(withinMs: number): Promise<void> {
    const { clock } = this.#options
    const closed = Promise.all([...this.#slots.values()].map((slot) => slot.closed))
    let timer: unknown
    const late = new Promise<void>((resolve) => {
      timer = clock.setTimeout(() => resolve(), withinMs)
    })
    await Promise.race([closed, late])
    clock.clearTimeout(timer)
  }

  #changed(): void {
    this.#options.status.slots(this.#slots.size, this.#maxConcurrent, this.isWorking, () => this.#running())
  }

  #running(): RunningTask[] {
    return [...this.#slots.values()].map(({ task, live, since }) => ({
      taskId: task.id,
      name: task.name,
      executor: task.executor as string,
      run: live.number,
      since,
    }))
  }
}
