// Group commit: steps that arrive in one turn of the event loop share a transaction and an fsync. Each is judged alone: it sees the steps
// before it, and a refused one leaves nothing behind and rejects alone. Observers receive only the events of a successful commit.
import type { Clock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import { inNextTurn } from '../core/turns.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { CommittedEvents } from './appended-events.ts'
import type { LedgerObserver, Step } from './ledger.ts'

/** A step that waits for its commit. */
export interface QueuedStep {
  readonly step: Step
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** The outcome of a step in its group. */
export type StepOutcome = { ok: true; value: unknown } | { ok: false; error: unknown }

/** A durable group: the outcomes of its steps, or of the first of them, and their events. The other steps are queued again, first. */
export interface CommittedGroup {
  readonly outcomes: readonly StepOutcome[]
  readonly events: CommittedEvents
  /** Where others are unseen: those whose numbers are known. */
  readonly numbered?: readonly TaskEvent[]
}

/**
 * Thrown by `runGroup` when another process holds a lock, or the server cannot be reached: nothing has happened, and the same group may be
 * run again.
 */
export class LedgerBusy extends Error {
  /** How long the attempt waited for the lock, in milliseconds. */
  readonly waitedMs: number

  /** `cause`: what was in the way, if it is known. */
  constructor(waitedMs = 0, cause?: unknown) {
    super('the ledger is busy', { cause })
    this.waitedMs = waitedMs
  }
}

/** The error of a step whose statement the database refused. `code`: the code of the database. */
export function refusedStep(step: Step, error: Error, code: Record<string, string | undefined>): ErrandError {
  const message = `The ledger refused the step "${step.name}" (${error.message}). No change of the step was stored.`
  return new ErrandError('LEDGER_WRITE_FAILED', message, { step: step.name, ...code }, error)
}

/** Thrown by `runGroup` when the commit itself failed: whether the group is in the ledger is unknown. */
export class CommitFailed extends Error {
  /** How many steps, from the first of the group on, were in the transaction. Undefined: all. */
  steps: number | undefined

  /** The same, of the first steps only. */
  of(steps: number): this {
    this.steps = steps
    return this
  }
}

/** Begins the time of a transaction; what it returns says whether it may begin another step. */
export type StartTimer = () => () => boolean

export interface GroupRunner {
  /** Runs the steps, or those that begin in time, in one transaction. @throws when nothing, or nothing for certain, is in the ledger. */
  runGroup(group: readonly QueuedStep[], startTimer: StartTimer): CommittedGroup | Promise<CommittedGroup>
}

/** A group of which nothing, or nothing for certain, is in the ledger. */
interface FailedGroup {
  readonly error: unknown
  readonly isUnknown: boolean
  /** How many steps it concerns, from the first on; the others are queued again, first. Undefined: all. */
  readonly steps?: number | undefined
}

/** The maximum of steps in one transaction: keeps a single commit, and with it the longest stall, short. */
const maxGroupSize = 1_000
/** After this time a transaction begins no further step, because others wait for its locks. */
const maxGroupMs = 250
/** How long a busy ledger is tried again before the steps are refused. */
const busyPatienceMs = 10_000

export class GroupCommit {
  readonly #runner: GroupRunner
  readonly #observers: LedgerObservers
  readonly #clock: Clock
  readonly #random: () => number
  #queue: QueuedStep[] = []
  /** The number of steps, from the first in the queue on, that are a group of their own. */
  #left: number | undefined
  #scheduled = false
  #running: Promise<void> | undefined
  #closed = false
  /** How long steps may still wait for another process; bounded once the ledger closes. */
  #patienceLeftMs = Number.POSITIVE_INFINITY

  constructor(runner: GroupRunner, observers: LedgerObservers, clock: Clock, random: () => number) {
    this.#runner = runner
    this.#observers = observers
    this.#clock = clock
    this.#random = random
  }

  add<R>(step: Step<R>): Promise<R> {
    if (this.#closed)
      return Promise.reject(new ErrandError('ENGINE_CLOSED', 'The ledger is closed; open it again to write.'))
    return new Promise<R>((resolve, reject) => {
      this.#queue.push({ step, resolve, reject })
      this.#schedule()
    })
  }

  /**
   * Refuses new steps and resolves when all earlier ones are done. Steps that still wait for another process after `withinMs` are refused
   * with LEDGER_BUSY.
   */
  async close(withinMs = busyPatienceMs): Promise<void> {
    this.#closed = true
    this.#patienceLeftMs = withinMs
    while (this.#queue.length > 0 || this.#running) {
      if (this.#running) await this.#running
      else await this.#flush()
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#running) return
    this.#scheduled = true
    inNextTurn(() => {
      this.#scheduled = false
      if (!this.#running && this.#queue.length > 0) void this.#flush()
    })
  }

  #flush(): Promise<void> {
    const group = inOrder(this.#queue.splice(0, this.#left ?? maxGroupSize))
    this.#left = undefined
    const since = this.#clock.now()
    const result = this.#attempt(group)
    if (result instanceof Promise) {
      this.#running = result
        .then((settled) => this.#answer(group, settled, since))
        .finally(() => {
          this.#running = undefined
          if (this.#queue.length > 0) this.#schedule()
        })
      return this.#running
    }
    this.#answer(group, result, since)
    if (this.#queue.length > 0) this.#schedule()
    return Promise.resolve()
  }

  #attempt(group: readonly QueuedStep[]): CommittedGroup | FailedGroup | Promise<CommittedGroup | FailedGroup> {
    try {
      const result = this.#runner.runGroup(group, this.#startTimer)
      return result instanceof Promise ? result.catch((error: unknown) => this.#whenFailed(group, error)) : result
    } catch (error) {
      return this.#whenFailed(group, error)
    }
  }

  readonly #startTimer: StartTimer = () => {
    const since = this.#clock.now()
    return () => this.#clock.now() - since < maxGroupMs
  }

  #whenFailed(group: readonly QueuedStep[], error: unknown): FailedGroup | Promise<CommittedGroup | FailedGroup> {
    return error instanceof LedgerBusy ? this.#tryAgain(group, error) : failed(error)
  }

  /**
   * Waits with jitter, so that two processes that collided do not collide again. The pauses are added up instead of reading the clock: a
   * wall clock that jumps says nothing about how long the ledger has been busy.
   */
  async #tryAgain(group: readonly QueuedStep[], first: LedgerBusy): Promise<CommittedGroup | FailedGroup> {
    let busy = first
    let waitedMs = 0
    const wait = (ms: number): void => {
      waitedMs += ms
      this.#patienceLeftMs -= ms
    }
    wait(busy.waitedMs)
    for (let attempt = 1; ; attempt++) {
      if (waitedMs >= busyPatienceMs || this.#patienceLeftMs <= 0) {
        return failed(stillBusy(Math.round(waitedMs), attempt, busy.cause))
      }
      const pauseMs = Math.max(1, this.#random() * Math.min(100, 4 * 2 ** attempt))
      await new Promise<void>((resume) => this.#clock.setTimeout(() => resume(), pauseMs))
      wait(pauseMs)
      try {
        return await this.#runner.runGroup(group, this.#startTimer)
      } catch (error) {
        if (!(error instanceof LedgerBusy)) return failed(error)
        busy = error
        wait(error.waitedMs)
      }
    }
  }

  /** Steps that came later do not join them if one is decided last: group after group, it would wait for others. */
  #queueAgain(left: readonly QueuedStep[]): void {
    this.#queue = [...left, ...this.#queue]
    if (left.some(({ step }) => step.last)) this.#left = left.length
  }

  /** Callers first, then observers, in the same turn: an observer reads the ledger before any caller goes on. */
  #answer(group: readonly QueuedStep[], result: CommittedGroup | FailedGroup, since: number): void {
    const isFailed = 'error' in result
    const count = (isFailed ? result.steps : result.outcomes.length) ?? group.length
    if (count < group.length) this.#queueAgain(group.slice(count))
    if (isFailed) {
      for (const queued of group.slice(0, count)) queued.reject(result.error)
      if (result.isUnknown) this.#observers.changed()
      return
    }
    for (let index = 0; index < count; index++) {
      const queued = group[index] as QueuedStep
      const outcome = result.outcomes[index] as StepOutcome
      if (outcome.ok) queued.resolve(outcome.value as never)
      else queued.reject(outcome.error)
    }
    this.#observers.measured(Math.max(0, this.#clock.now() - since))
    this.#observers.committed(result.events)
  }
}

/** The observers of a ledger, and what each receives; the same on every dialect. */
export class LedgerObservers {
  readonly #observers = new Map<LedgerObserver, { watchOthers: boolean }>()

  add(observer: LedgerObserver, options: { watchOthers: boolean }): void {
    this.#observers.set(observer, options)
  }

  remove(observer: LedgerObserver): void {
    this.#observers.delete(observer)
  }

  clear(): void {
    this.#observers.clear()
  }

  /** Whether any observer follows the commits of other processes. */
  get watchOthers(): boolean {
    return [...this.#observers.values()].some((options) => options.watchOthers)
  }

  /** Notifies observers of a successful commit of this process. */
  committed(events: CommittedEvents): void {
    if (events.length === 0) return
    for (const observer of this.#observers.keys()) {
      if (events === 'unseen') observer.changed()
      else observer.committed(events)
    }
  }

  /** Notifies observers of a commit of this process that may have succeeded. */
  changed(): void {
    for (const observer of this.#observers.keys()) observer.changed()
  }

  /** Notifies observers that another process may have committed. */
  othersChanged(): void {
    for (const [observer, { watchOthers }] of this.#observers) if (watchOthers) observer.changed()
  }

  measured(durationMs: number): void {
    for (const observer of this.#observers.keys()) observer.measured?.(durationMs)
  }

  failed(error: unknown): void {
    for (const observer of this.#observers.keys()) observer.failed(error)
  }
}

/** The steps that are decided last are at the end; otherwise in the order in which they came. */
function inOrder(group: readonly QueuedStep[]): readonly QueuedStep[] {
  const last = group.filter(({ step }) => step.last)
  return last.length === 0 ? group : [...group.filter(({ step }) => !step.last), ...last]
}

function stillBusy(waitedMs: number, attempts: number, cause: unknown): ErrandError {
  const why =
    cause instanceof Error
      ? `The ledger could not be written for ${waitedMs} ms (${cause.message})`
      : `Another process has held the ledger's write lock for ${waitedMs} ms`
  return new ErrandError(
    'LEDGER_BUSY',
    `${why}. No change of the step was stored; try again.`,
    { waitedMs, attempts },
    cause,
  )
}

function failed(error: unknown): FailedGroup {
  if (ErrandError.isInstance(error)) return { error, isUnknown: false }
  if (error instanceof CommitFailed) {
    const message = `The commit failed (${error.message}), so the step may or may not be stored. Check the ledger, or repeat the step with the same key.`
    return { error: new ErrandError('OUTCOME_UNKNOWN', message, {}, error.cause), isUnknown: true, steps: error.steps }
  }
  const message = `The ledger could not be written (${error instanceof Error ? error.message : String(error)}). No change of the step was stored.`
  return { error: new ErrandError('LEDGER_WRITE_FAILED', message, {}, error), isUnknown: false }
}
