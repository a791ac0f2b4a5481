// Admission by priority, then age: how many runs this engine may have open, in total and per executor, and the steps
// that begin them. The local slot counts only spare a step that would find no room: the step counts in its own
// transaction.

import { isExecutor, type RunnableTasks } from '../entities/executor.ts'
import { changedLimits, maxSystemTasks } from '../entities/limits.ts'
import type { Trees } from '../entities/task-trees.ts'
import type { Op } from '../ledger/ledger.ts'
import type { TaskDraft } from '../operations/drafts/draft.ts'
import { type Admitted, admit } from '../operations/steps/admit.ts'
import { dueAfter } from '../operations/steps/step-context.ts'
import type { EngineHost } from './engine-host.ts'
import type { OpenRuns } from './open-runs.ts'

/** The maximum of admissions in a row that leave the look for tasks to a later one. */
const maxPassedOver = 50

export interface AdmissionHost extends EngineHost {
  readonly runs: Pick<OpenRuns, 'admitted' | 'count' | 'countByExecutor' | 'systemCount' | 'isPaused'>
  /** Whether the row of this engine is open, and its lease renewed, without an admission. */
  isLeaseCertain(): boolean
  /** Asks the supervisor for an admission. */
  ask(): void
  /** Called when no admission is under way any more. */
  admitted(): void
  /** The number of reads of what is due so far. */
  looks(): number
  /**
   * Called in the turn of the commit, with what the admission has seen. `nextDue` is null if it has not seen everything; `looks` is their
   * number when it was decided.
   */
  looked(nextDue: Admitted['nextDue'], looks: number): void
}

export class Admission {
  readonly #host: AdmissionHost
  /** Admissions under way. */
  readonly #admissions = new Set<Promise<void>>()
  /** Tasks below a parent whose creation has not been answered. */
  readonly #beingCreated = new Set<string>()
  /** By executor: tasks that an admission which is queued now may start in the commit that creates them. */
  #created = new Map<string, number>()
  /** Restricts admission to tasks of these trees. Undefined: all. */
  trees: Trees | undefined
  #maxConcurrent: number
  #limits: Readonly<Record<string, number>>
  #isDue = false
  /** The number of admissions queued so far, and how many in a row have left the look for tasks to a later one. */
  #queued = 0
  #passedOver = 0

  constructor(host: AdmissionHost) {
    this.#host = host
    this.#maxConcurrent = host.maxConcurrent
    this.#limits = host.limits
  }

  get limits(): { maxConcurrent: number; limits: Readonly<Record<string, number>> } {
    return { maxConcurrent: this.#maxConcurrent, limits: this.#limits }
  }

  /** Running tasks are not ended: lower limits are reached as runs end. */
  setLimits(maxConcurrent: number | undefined, limits: Readonly<Record<string, number | null>>): void {
    this.#maxConcurrent = maxConcurrent ?? this.#maxConcurrent
    this.#limits = changedLimits(this.#limits, limits)
  }

  /** Executors with a free slot here. `named`: only for tasks that name a model. */
  freeExecutors(): { all: string[]; named: string[] } {
    const { executors, canRun } = this.#host
    const slots = this.#freeSlots(executors.keys())
    const those = (tasks: RunnableTasks): string[] => [...slots.keys()].filter((name) => canRun(name) === tasks)
    return { all: those('all'), named: those('named') }
  }

  /** By executor: its free slots here, if there are any. */
  #freeSlots(executors: Iterable<string>): Map<string, number> {
    const { runs } = this.#host
    const total = this.#maxConcurrent - runs.count
    if (total <= 0) return new Map()
    const open = runs.countByExecutor
    const free = new Map<string, number>()
    for (const name of executors) {
      const own = Math.min(total, this.#limitOf(name) - (open.get(name) ?? 0))
      if (own > 0) free.set(name, own)
    }
    return free
  }

  #limitOf(name: string): number {
    return this.ownLimitOf(name) ?? this.#maxConcurrent
  }

  /** How many slots an executor may use; undefined where only the limit of all applies. */
  ownLimitOf(name: string): number | undefined {
    const executor = this.#host.executors.get(name)
    return this.#limits[name] ?? (isExecutor(executor) ? executor.concurrency : undefined)
  }

  get #mayStart(): boolean {
    const { actors, runs } = this.#host
    return actors.isWorking && !runs.isPaused
  }

  /** One is queued in this turn, behind the steps queued so far. */
  get isDue(): boolean {
    return this.#isDue
  }

  /** The number of runs that may begin or go on here. */
  get room(): number {
    const { runs } = this.#host
    return runs.isPaused ? 0 : this.#maxConcurrent - runs.count
  }

  /** The number of runs of system tasks that may begin or go on here. */
  get systemRoom(): number {
    const { runs } = this.#host
    return runs.isPaused ? 0 : maxSystemTasks - runs.systemCount
  }

  /** Queues an admission behind the steps queued in this turn of the event loop, so that it shares their commit. */
  admit(): void {
    if (this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      const admission = (this.#mayStart ? this.#admitNow() : Promise.resolve()).finally(() => {
        this.#admissions.delete(admission)
        if (this.#admissions.size === 0) this.#host.admitted()
      })
      this.#admissions.add(admission)
    })
  }

  /**
   * Called when the step that creates these trees is queued. Roots and children of `parentId`, whose run is open, may start in its commit:
   * after one commit, not after two, and in this engine. Others below a parent start in a later one, whatever admission shares this commit:
   * else their parent could end with them, and refuse a child that is created next.
   */
  admitWithCreation(
    creation: Promise<unknown>,
    trees: ReadonlyArray<readonly TaskDraft[]>,
    parentId: string | null = null,
  ): void {
    const runnable = trees.flat().filter(({ executor }) => executor !== null)
    const later = runnable.filter((draft) => draft.parentId !== null && draft.parentId !== parentId)
    for (const { id } of later) this.#beingCreated.add(id)
    const answered = (): void => {
      for (const { id } of later) this.#beingCreated.delete(id)
    }
    creation.then(answered, answered)
    // The admission that is due counts the slots anyway.
    const free = this.#isDue ? undefined : new Set<string | null>(this.freeExecutors().all)
    const mayStart = ({ id, executor }: TaskDraft): boolean =>
      free?.has(executor) !== false && !this.#beingCreated.has(id)
    const starting = runnable.filter((draft) => mayStart(draft) && isReady(draft))
    if (starting.length > 0) this.#host.ask()
    if (!this.#isDue) return
    for (const { executor } of starting) {
      this.#created.set(executor as string, (this.#created.get(executor as string) ?? 0) + 1)
    }
  }

  /** Resolves when the admissions under way have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#admissions)
  }

  /**
   * How many ready tasks of each executor an admission reads while it counts the room: those that are created, and one more, which shows
   * whether others wait; no more than may start, because a task that is read is locked until the commit.
   */
  #takeReadAtOnce(): Map<string, number> {
    const created = this.#created
    this.#created = new Map()
    if (created.size === 0) return created
    const free = this.#freeSlots(created.keys())
    return new Map([...free].map(([name, slots]) => [name, Math.min(slots, (created.get(name) as number) + 1)]))
  }

  #admitNow(): Promise<void> {
    const { ledger, runs, leaseMs, isLeaseCertain, maxCrashes, executors, canRun, instanceRow, report } = this.#host
    const ctx = this.#host.stepContext()
    const step = admit({
      ...ctx,
      maxConcurrent: this.#maxConcurrent,
      // Without a model, an agent is not started: it could only fail.
      executors: [...executors]
        .filter(([name]) => canRun(name) !== 'none')
        .map(([name, executor]) => ({
          name,
          limit: this.#limitOf(name),
          timeoutMs: isExecutor(executor) ? executor.timeoutMs : undefined,
          named: canRun(name) === 'named',
        })),
      registered: [...executors.keys()],
      maxCrashes,
      trees: this.trees,
      beingCreated: this.#beingCreated,
      readAtOnce: this.#takeReadAtOnce(),
      instance: isLeaseCertain() ? undefined : instanceRow(dueAfter(ctx.at, leaseMs)),
    })
    const number = ++this.#queued
    // While a server answers, many are queued, and the last one finds what those before it would have found. Decided once, because a group
    // may run again. A steady stream of later ones must not keep all of them from looking.
    let isSuperseded: boolean | undefined
    let looks = 0
    const decide: typeof step.decide = (tx) => {
      looks = this.#host.looks()
      if (isSuperseded === undefined) {
        isSuperseded = number < this.#queued && this.#passedOver < maxPassedOver
        this.#passedOver = isSuperseded ? this.#passedOver + 1 : 0
      }
      // The commit may hold the end of runs that the closing engine has released: they are not for it to start again.
      return isSuperseded || !this.#mayStart ? leftToLater() : step.decide(tx)
    }
    return ledger.step({ ...step, decide }).then(
      ({ started, nextDue }) => {
        this.#host.looked(nextDue, looks)
        runs.admitted(started)
      },
      // Nothing is lost: ready tasks stay ready, and maintenance wakes the supervisor again soon.
      (error: unknown) => report(error, { doing: 'admit' }),
    )
  }
}

function isReady({ blockedBy, held, notBefore, delayMs }: TaskDraft): boolean {
  return blockedBy.length === 0 && !held && notBefore === null && delayMs === 0
}

function* leftToLater(): Op<Admitted> {
  return { started: [], nextDue: null }
}
