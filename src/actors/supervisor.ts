// The supervisor decides when an engine reads what is due and what is ready. Events only wake it, and it acts on what it reads
// (level-triggered). It then fires timers, and admission fills the free slots. A read is spared when an admission in the same commit has
// seen all that it writes.

import { nextTurn, Rounds } from '../core/turns.ts'
import type { TaskEvent } from '../entities/event.ts'
import { isExecutor } from '../entities/executor.ts'
import type { OwnMetrics } from '../entities/metrics.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { RetryPolicy } from '../entities/task-fields.ts'
import type { Trees } from '../entities/task-trees.ts'
import type { EngineStatus } from '../entities/views.ts'
import { all } from '../ledger/ledger.ts'
import { resolveRetry } from '../machines/family.ts'
import type { SupervisorEvent } from '../machines/supervisor-machine.ts'
import type { Admitted } from '../operations/steps/admit.ts'
import { Admission } from './admission.ts'
import type { EngineHost } from './engine-host.ts'
import { Maintenance } from './maintenance.ts'
import { OpenRuns } from './open-runs.ts'
import { withinRuns } from './run-slot.ts'

export class Supervisor {
  readonly #host: EngineHost
  readonly #runs: OpenRuns
  readonly #admission: Admission
  readonly #maintenance: Maintenance
  readonly #stopped = new AbortController()
  /** While a server is away, a look takes seconds, and each check asks for one. */
  readonly #rounds = new Rounds(() => this.#lookOnce())
  #recovery: Promise<void> | undefined
  #begun: Promise<void> | undefined
  #looking: Promise<void> | undefined
  #drained: Promise<ReadonlySet<string>> | undefined
  #unlisten: (() => void) | undefined
  #isWoken = false
  /** Something may be due or ready of which no admission knows. */
  #isDue = false
  /** Steps of this engine have changed something since an admission has seen all that its commit writes. */
  #isDueByOwn = false
  /** Tasks of other engines that were created in this turn and not started. */
  readonly #createdByOthers = new Set<string>()
  /** The number of looks that have begun so far, those of admissions included. */
  #looks = 0
  /** The number of the look that has armed the timer. Those before it may have read less. */
  #armedBy = 0

  constructor(host: EngineHost) {
    this.#host = host
    const retryOf = (task: TaskRecord): RetryPolicy => {
      const executor = host.executors.get(task.executor as string)
      return resolveRetry(task.policy.retry, isExecutor(executor) ? executor.retry : undefined)
    }
    const timeoutOf = (task: TaskRecord): number | undefined => {
      const executor = host.executors.get(task.executor as string)
      return task.policy.timeoutMs ?? (isExecutor(executor) ? executor.timeoutMs : undefined)
    }
    this.#runs = new OpenRuns({
      ...host,
      stopped: this.#stopped.signal,
      timerSet: () => this.wake(),
      admitWithCreation: this.admitWithCreation,
      retryOf,
      freeing: () => this.#admitIfRoom(1),
      freed: () => this.#wakeByOwn(),
    })
    this.#admission = new Admission({
      ...host,
      runs: this.#runs,
      looks: () => this.#looks,
      isLeaseCertain: () => this.#maintenance.isLeaseCertain,
      looked: (nextDue, looks) => this.#noteLook(nextDue, looks),
      ask: () => this.#admitIfRoom(0),
      admitted: () => this.#send({ type: 'admitted' }),
    })
    this.#maintenance = new Maintenance({
      ...host,
      retryOf,
      timeoutOf,
      checked: () => this.wake(),
      leaseOver: (isOver) => {
        this.#runs.pause(isOver)
        if (isOver) host.log?.write('warn', {}, 'lease over: its runs end')
        else host.log?.write('info', {}, 'lease renewed')
        if (!isOver) this.wake()
      },
      purged: () => void host.status.count(),
    })
    host.actors.supervisedBy({
      recover: () => {
        this.#recovery = this.#recover()
      },
      look: () => {
        this.#looking = this.#look()
      },
      admit: () => this.#admission.admit(),
      drain: () => {
        this.#drained = this.#drain()
      },
    })
    host.status.readSlotsFrom(() => this.#readSlots())
  }

  get isWorking(): boolean {
    return this.#host.actors.isWorking
  }

  /** Recovers dead engines, then admits; `trees` restricts admission to tasks of these trees. */
  async work(trees?: Trees): Promise<void> {
    this.#admission.trees = trees
    this.#send({ type: 'work' })
    const recovery = this.#recovery as Promise<void>
    this.#begun = recovery.then(() => this.#begin()).catch(() => {})
    await recovery
    this.#changed()
  }

  /** After what awaits `work`: the executors of the program may use its engine. */
  async #begin(): Promise<void> {
    await nextTurn()
    this.#send({ type: 'begin' })
    this.wake()
  }

  #send(event: SupervisorEvent): void {
    this.#host.actors.supervisor.send(event)
  }

  async #recover(): Promise<void> {
    this.#unlisten = this.#host.feed.listen((event) => this.#onEvent(event))
    await this.#maintenance.begin()
    this.#send({ type: 'recovered' })
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
    return this.#runs.taskIds
  }

  /** Whether no open run of this engine goes on by itself. */
  get isAtRest(): boolean {
    return this.#runs.areAtRest
  }

  /** Stops admission, then ends the runs. Returns tasks with live commands; their runs stay open. */
  async drain(): Promise<ReadonlySet<string>> {
    this.#send({ type: 'drain' })
    return this.#drained ?? new Set()
  }

  async #drain(): Promise<ReadonlySet<string>> {
    const { shutdownTimeoutMs } = this.#host
    const kept = await this.#runs.drain(shutdownTimeoutMs, [this.#maintenance.stop(), this.#admission.settled()])
    await this.#stop()
    this.#changed()
    return kept
  }

  /** The ledger has failed: nothing more is written. */
  abort(): void {
    void this.#stop()
    this.#runs.giveUp()
  }

  async #stop(): Promise<void> {
    this.#stopped.abort()
    this.#unlisten?.()
    await this.#maintenance.end()
  }

  /** See `Admission`. */
  readonly admitWithCreation: Admission['admitWithCreation'] = (...created) =>
    this.#admission.admitWithCreation(...created)

  /** A step that may make a task ready is queued: an admission may share its commit. */
  admitBeside(): void {
    this.#admitIfRoom(0)
  }

  // ── waking ──

  #onEvent(event: TaskEvent): void {
    const { instanceId, report } = this.#host
    const isOwn = event.instanceId === instanceId
    if (event.type === 'task.repaired' && isOwn) {
      const fault = new Error(
        `The snapshot of ${event.taskId} did not match its row and was rebuilt: ${String(event.data.fault)}`,
      )
      report(fault, { taskId: event.taskId })
    }
    this.#runs.follow(event)
    if (withinRuns.has(event.type)) return
    if (isOwn) this.#wakeByOwn()
    else this.#wakeByOther(event)
  }

  /** Resolves when what is ready now and finds a slot has been started. */
  async looked(): Promise<void> {
    await this.#begun
    this.#isDue = true
    await this.#rounds.ask()
    await this.#admission.settled()
  }

  /** Something may have become due or ready. */
  wake(): void {
    this.#isDue = true
    this.#lookAfterTurn()
  }

  /** Something may have become due or ready by a step of this engine: an admission in its commit would know. */
  #wakeByOwn(): void {
    this.#isDueByOwn = true
    this.#lookAfterTurn()
  }

  /**
   * Most tasks start in the commit that creates them, which leaves nothing for this engine: what is due at their time is read at its next
   * look, and by the engine that runs them.
   */
  #wakeByOther({ type, taskId }: TaskEvent): void {
    if (type === 'task.created') this.#createdByOthers.add(taskId)
    else if (type === 'task.started') this.#createdByOthers.delete(taskId)
    else this.#isDue = true
    this.#lookAfterTurn()
  }

  // ── looking ──

  #lookAfterTurn(): void {
    if (this.#isWoken || this.#stopped.signal.aborted) return
    this.#isWoken = true
    queueMicrotask(() => {
      const isDue = this.#isDue || this.#isDueByOwn || this.#createdByOthers.size > 0
      this.#createdByOthers.clear()
      this.#isWoken = this.#isDue = this.#isDueByOwn = false
      if (isDue && this.isWorking) void this.#rounds.ask()
    })
  }

  /** Slots that are free, and those that the step which is queued now frees. */
  #admitIfRoom(freed: number, room = this.#admission.room): void {
    // Many steps ask in one turn, and share one admission.
    if (this.#admission.isDue) return
    this.#send({ type: 'admit', room: room + freed })
  }

  async #lookOnce(): Promise<void> {
    this.#looking = undefined
    this.#send({ type: 'look' })
    await (this.#looking as Promise<void> | undefined)
    this.#send({ type: 'looked' })
  }

  /** Reads when the next timer is due, whether a task is ready, and which runs this engine has open, and acts on it. */
  async #look(): Promise<void> {
    const { ledger, instanceId, executors, report } = this.#host
    const free = this.#admission.freeExecutors()
    const { trees } = this.#admission
    const own = { instanceId, executors: [...executors.keys()] }
    const number = ++this.#looks
    const compare = this.#runs.comparison()
    try {
      const [due, isAnyReady, isSystemReady, open, last] = await ledger.read((tx) =>
        all([
          tx.task.nextDue(own),
          tx.task.anyReady(free.all, free.named, trees),
          tx.task.anySystemReady(),
          tx.run.openOf(instanceId),
          tx.event.last(),
        ]),
      )
      compare(open, last)
      this.#arm(due, number)
      const queued = open.filter(({ status }) => status === 'queued')
      const isSystemQueued = queued.some(({ taskId }) => this.#runs.isSystem(taskId))
      if (isAnyReady || queued.length > 0) this.#admitIfRoom(0)
      if (isSystemReady || isSystemQueued) this.#admitIfRoom(0, this.#admission.systemRoom)
    } catch (error) {
      // Maintenance wakes the supervisor again soon.
      report(error, { doing: 'check for work' })
    }
  }

  /**
   * Called with what an admission has seen; `looks` was their number when it was decided. A look that has begun since may know what other
   * engines have written, but not what the commit of the admission has: then neither counts as the latest, and a new one follows.
   */
  #noteLook(nextDue: Admitted['nextDue'], looks: number): void {
    if (nextDue === null || looks !== this.#looks) return
    this.#isDueByOwn = false
    this.#arm(nextDue, ++this.#looks)
  }

  #arm(dueAt: number | undefined, number: number): void {
    if (number < this.#armedBy) return
    this.#armedBy = number
    this.#maintenance.arm(dueAt)
  }

  // ── status ──

  #changed(): void {
    this.#host.status.slotsChanged()
  }

  get slots(): Pick<OwnMetrics, 'slots' | 'executors'> {
    const used = this.#runs.countByExecutor
    const executors = Array.from(this.#host.executors.keys(), (executor) => ({
      executor,
      used: used.get(executor) ?? 0,
      limit: this.#admission.ownLimitOf(executor) ?? null,
    }))
    return { slots: { used: this.#runs.count, maxConcurrent: this.limits.maxConcurrent }, executors }
  }

  #readSlots(): Pick<EngineStatus, 'slots' | 'working' | 'running'> {
    const { maxConcurrent } = this.limits
    const running = this.#runs.shown
    const used = this.#runs.count
    const free = this.isWorking ? Math.max(0, maxConcurrent - used) : 0
    return { slots: { used, free, maxConcurrent }, working: this.isWorking, running }
  }
}
