// The life of an engine: it opens, works, drains and closes; or its ledger fails. Connects feed, actors, supervisor and
// subscribers; steps and reads pass through here, so that nothing outlives `close`.

import { currentReader } from '../bus/read-principal.ts'
import type { Clock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import { placeOfProcess } from '../core/process-place.ts'
import { waitAtMost } from '../core/signals.ts'
import type { CallRecord } from '../entities/call.ts'
import type { InstanceRecord } from '../entities/instance.ts'
import type { OwnMetrics } from '../entities/metrics.ts'
import type { Task, TaskRecord } from '../entities/task.ts'
import type { RetryPolicy } from '../entities/task-fields.ts'
import type { Trees } from '../entities/task-trees.ts'
import { type Ledger, type Op, type Reads, type Step, step } from '../ledger/ledger.ts'
import type { CreateRequest } from '../operations/steps/create.ts'
import { publishModels } from '../operations/steps/offered-models.ts'
import { publishExecutors } from '../operations/steps/published-executors.ts'
import { closeRunsOf, endRunsOf, type LostEngine } from '../operations/steps/recover.ts'
import { dueAfter, type StepContext } from '../operations/steps/step-context.ts'
import { plainViews, viewsOf } from '../operations/steps/views.ts'
import { allAsShown, type LostRuns, noLostRuns, readLostRuns } from '../operations/views/lost-runs.ts'
import type { EngineHost } from './engine-host.ts'
import { Feed } from './feed.ts'
import { Inspection } from './inspection.ts'
import type { LifecycleParts, MemoryWork } from './lifecycle-parts.ts'
import { LiveActors } from './live-actors.ts'
import { Log } from './log.ts'
import { Metrics } from './metrics.ts'
import { createReport, type Report } from './report.ts'
import { RunLog } from './run-log.ts'
import { StatusModel } from './status.ts'
import { Subscriptions } from './subscriptions.ts'
import { Supervisor } from './supervisor.ts'
import { LiveOutput } from './task-stream.ts'

export class Lifecycle {
  readonly instanceId: string
  readonly feed: Feed
  readonly output = new LiveOutput()
  /** When the models that are answering here have sent the latest piece, by task. */
  readonly latestPieceAt = new Map<string, number>()
  readonly subscriptions: Subscriptions
  readonly status: StatusModel
  readonly supervisor: Supervisor
  readonly inspection: Inspection
  readonly report: Report
  readonly ledger: Ledger
  readonly clock: Clock
  readonly metrics = new Metrics()
  readonly #log: Log | undefined
  readonly #parts: LifecycleParts
  readonly #actors: LiveActors
  readonly #memory: MemoryWork | undefined
  readonly #outbox: ReturnType<LifecycleParts['outbox']>
  #startedAt = 0
  readonly #where = { pid: process.pid, host: placeOfProcess() }
  #working: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #failure: unknown

  constructor(parts: LifecycleParts) {
    const { ledger, clock, ids, options } = parts
    this.#parts = parts
    this.ledger = ledger
    this.clock = clock
    this.instanceId = ids.next('instance')
    this.#log = options.logger === undefined ? undefined : new Log(options.logger, this.instanceId)
    this.report = createReport(options.onError, parts.redaction, this.#log)
    this.feed = new Feed(
      ledger,
      clock,
      this.report,
      (error) => this.#fail(error),
      (durationMs) => this.metrics.committed(durationMs),
    )
    this.#actors = new LiveActors(this.report)
    this.subscriptions = new Subscriptions(this.feed, this.report)
    this.status = new StatusModel(this.feed, clock, this.report)
    const host: EngineHost = {
      ...options,
      ...parts,
      feed: this.feed,
      actors: this.#actors,
      status: this.status,
      instanceId: this.instanceId,
      agentDefaults: {
        maxIterations: options.maxIterations,
        toolExecution: options.toolExecution,
        modelRetry: options.modelRetry as Partial<RetryPolicy> | undefined,
      },
      stepContext: () => this.stepContext(),
      nextId: (prefix) => ids.next(prefix),
      chance: () => ids.random(),
      step: (step) => this.withRetry(step),
      read: (query) => this.#whileBusy('read', () => ledger.read(query)),
      views: (records) => this.#whileBusy('read', () => this.views(records)),
      membershipOf: async (task) => this.#memory?.membershipOf(task),
      live: (taskId, output) => this.output.publish(taskId, output),
      pieceReceived: (taskId, at) =>
        void (at === null ? this.latestPieceAt.delete(taskId) : this.latestPieceAt.set(taskId, at)),
      instanceRow: (leaseUntil) => this.#instanceRow(leaseUntil),
      reclaim: (calls) => this.#reclaim(calls),
      fireSchedules: () => parts.fireSchedules(host),
      report: this.report,
      log: this.#log,
      runLog: new RunLog(this.instanceId, this.#log, this.metrics),
    }
    this.inspection = new Inspection(host)
    if (options.inspect !== undefined) this.inspection.attach(options.inspect, { tasks: 'own', maxTasks: 1 })
    this.#memory = parts.memory?.(host)
    this.#outbox = parts.outbox(host)
    this.supervisor = new Supervisor(host)
  }

  async open(): Promise<void> {
    await this.feed.start()
  }

  /** @param trees is used by the first call only. */
  work(trees?: Trees): Promise<void> {
    this.requireOpen()
    this.#working ??= this.#beginWork(trees)
    return this.#working
  }

  async #beginWork(trees: Trees | undefined): Promise<void> {
    const { instanceId } = this
    await this.ledger.register(instanceId)
    this.#startedAt = this.stepContext().at
    const instance = this.#instanceRow(dueAfter(this.#startedAt, this.#parts.options.leaseMs))
    const { executors, offeredModels } = this.#parts
    const models = offeredModels()
    const register = step('register', function* (tx) {
      yield* tx.instance.insert(instance)
      yield* publishExecutors(tx, executors)
      yield* publishModels(tx, models)
    })
    await this.ledger.step(register)
    this.#memory?.start()
    this.#outbox?.start()
    await this.supervisor.work(trees)
    this.#log?.write('info', {}, 'engine works')
  }

  /** Resolves when the deliveries of webhooks exist that follow from what has been published. */
  async outboxSettled(): Promise<void> {
    await this.#outbox?.settled()
  }

  #instanceRow(leaseUntil: number): InstanceRecord {
    return { id: this.instanceId, ...this.#where, startedAt: this.#startedAt, leaseUntil, endedAt: null }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { instanceId } = this
    this.#parts.closing()
    this.#outbox?.stop()
    if (this.#working) {
      // An engine that never began to work has no runs: its lock may be released even if its row remains.
      let released = await this.#working.then(
        () => false,
        () => true,
      )
      const active = this.supervisor.taskIds
      const kept = await this.supervisor.drain()
      if (this.#failure === undefined) {
        const { shutdownTimeoutMs } = this.#parts.options
        const hasLeft = await this.#leave(kept)
        released ||= hasLeft
        await waitAtMost(this.clock, shutdownTimeoutMs, this.feed.caughtUp())
        await this.#memory?.close(shutdownTimeoutMs, active)
      }
      this.ledger.unregister(instanceId, { asDead: !released })
    }
    // Only now: runs call abilities until they have ended.
    this.#parts.closed()
    await this.#subscribersSettled()
    this.feed.stop()
    this.status.stop()
    this.inspection.stop()
    this.#actors.stop()
    if (this.#parts.ownsLedger) await this.ledger.close({ withinMs: this.#parts.options.shutdownTimeoutMs })
    this.#log?.write('info', {}, 'engine closed')
  }

  /**
   * Releases the runs that are still open, except those of `kept` tasks. Resolves to whether nothing of the engine is
   * open any more; if not, the other engines must treat it as dead.
   */
  async #leave(kept: ReadonlySet<string>): Promise<boolean> {
    const { maxCrashes, shutdownTimeoutMs } = this.#parts.options
    const lost: LostEngine = { instanceId: this.instanceId, reason: 'released', onlyIfLeaseEndsAt: null }
    const ctx = this.stepContext()
    const steps = [endRunsOf(lost, maxCrashes, ctx), closeRunsOf(lost, kept, ctx)]
    let written = false
    try {
      // Queued together, so that they share a commit.
      const writing = Promise.all(steps.map((step: Step) => this.ledger.step(step))).then(() => {
        written = true
      })
      await waitAtMost(this.clock, shutdownTimeoutMs, writing)
    } catch (error) {
      this.report(error, { doing: 'leave the ledger', instance: this.instanceId })
    }
    return written && kept.size === 0
  }

  /** Waits as long as for runs and no longer: the caller of `close` may be a subscriber itself. */
  async #subscribersSettled(): Promise<void> {
    const settled = this.feed.caughtUp().then(() => this.subscriptions.settled())
    await waitAtMost(this.clock, this.#parts.options.shutdownTimeoutMs, settled)
  }

  /**
   * A step of a run, or one that follows from it. A busy ledger has stored nothing of it, which says nothing about the
   * work of the run: the step is retried as long as the engine is open. (The ledger itself waits for seconds before it
   * reports LEDGER_BUSY.)
   */
  withRetry<R>(step: Step<R>): Promise<R> {
    return this.#whileBusy(step.name, () => this.ledger.step(step))
  }

  async #whileBusy<R>(doing: string, work: () => Promise<R>): Promise<R> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        const busy = ErrandError.isInstance(error) && error.code === 'LEDGER_BUSY'
        if (!busy || this.#closing || this.#failure !== undefined) throw error
        this.report(error, { doing })
      }
    }
  }

  /** Resolves when the step is durable. Steps are queued in the order of the calls. @throws ErrandError ENGINE_CLOSED */
  async step<R>(step: Step<R>): Promise<R> {
    this.requireOpen()
    return this.ledger.step(step)
  }

  /** The same for a step that may make a task ready, which may start in its commit. */
  async wakingStep<R>(step: Step<R>): Promise<R> {
    this.requireOpen()
    const writing = this.ledger.step(step)
    this.supervisor.admitBeside()
    return writing
  }

  /** The same for a step that creates these trees: what may start in its commit is admitted with it. */
  async create<R>(step: Step<R>, trees: CreateRequest['trees']): Promise<R> {
    this.requireOpen()
    const creation = this.ledger.step(step)
    this.supervisor.admitWithCreation(creation, trees)
    return creation
  }

  read<R>(query: (tx: Reads) => Op<R>): Promise<R> {
    if (this.#closing && this.#parts.ownsLedger) return Promise.reject(engineClosed())
    return this.ledger.read(query, currentReader())
  }

  /** Tasks as they are shown to people. */
  async views(records: readonly TaskRecord[]): Promise<Task[]> {
    const views = plainViews(records) ?? (await this.ledger.read((tx) => viewsOf(tx, records)))
    return await allAsShown(this, views)
  }

  /** Those of dead engines. An engine that works takes them over itself, so its views cost no read for it. */
  async lostRuns(): Promise<LostRuns> {
    return this.#working || this.#closing ? noLostRuns : await readLostRuns(this.ledger)
  }

  ownMetrics(): OwnMetrics {
    const { instanceId, supervisor, metrics } = this
    return {
      instanceId,
      ...supervisor.slots,
      runs: metrics.runs,
      takeovers: metrics.takeovers,
      commits: metrics.commits,
    }
  }

  nextId(prefix: string): string {
    return this.#parts.ids.next(prefix)
  }

  /** Whole milliseconds, as the tables store them: a clock may return fractions. */
  stepContext(): StepContext {
    const { teams } = this.#parts
    const ctx = { at: Math.floor(this.clock.now()), instanceId: this.instanceId }
    return teams === undefined ? ctx : { ...ctx, teams }
  }

  requireOpen(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#closing) throw engineClosed()
  }

  /** Resolves when the events of what is written are published, and what is ready and finds a slot has been started. */
  async look(): Promise<void> {
    this.feed.changed()
    await this.feed.caughtUp()
    await this.supervisor.looked()
  }

  /** The error for those who wait when the feed has stopped. */
  whyStopped(): unknown {
    return this.#failure ?? engineClosed()
  }

  #fail(error: unknown): void {
    this.#failure = error
    this.#parts.closing()
    this.supervisor.abort()
    this.report(error, { doing: 'use the ledger' })
    this.feed.stop()
  }

  async #reclaim(calls: readonly CallRecord[]): Promise<CallRecord[]> {
    const left = await this.#parts.reclaim(calls, { onOneHost: this.ledger.now === undefined })
    for (const { id, taskId } of left) {
      this.report(
        new Error(
          `A command of call ${id} may still be running: it was started where this engine sees no processes (another host or container), or cannot be distinguished from a foreign one.`,
        ),
        { callId: id, taskId },
      )
    }
    return left
  }
}

/** The error of every call to a closed engine. */
export function engineClosed(): ErrandError {
  return new ErrandError(
    'ENGINE_CLOSED',
    'The engine is closed. Create a new one on the same ledger; nothing is lost.',
    {},
  )
}
