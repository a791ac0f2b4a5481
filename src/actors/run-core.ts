// What the parts of a live run share: its task, the journal of earlier runs, what is in flight, and whether the run has
// ended.

import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { checkText } from '../core/json.ts'
import { omitUndefined } from '../core/omit-undefined.ts'
import { sleep } from '../core/signals.ts'
import { type CallKind, type CallRecord, identOf } from '../entities/call.ts'
import { type AnyExecutor, isExecutor } from '../entities/executor.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { OnInterrupt } from '../entities/task-fields.ts'
import type { RunTrace } from '../entities/telemetry.ts'
import type { NewCall, NewMessage, Step } from '../ledger/ledger.ts'
import { paramsToStore } from '../ledger/redacted-content.ts'
import { RunJournal } from '../machines/run-journal.ts'
import type { TaskDraft } from '../operations/drafts/draft.ts'
import { type RunRef, runEnded } from '../operations/steps/journal.ts'
import { entriesOfMachine, type MachineStep } from '../operations/steps/machine.ts'
import { dueAfter, type StepContext } from '../operations/steps/step-context.ts'
import { type CallScope, type EntryDescription, executing, scopeWithin } from './call-scope.ts'
import { DivergenceGuard } from './divergence.ts'
import type { EngineHost } from './engine-host.ts'
import { RunEnd } from './run-end.ts'

/** What a run requires of its engine. */
export interface RunHost extends EngineHost {
  /** Aborts when nothing more may be written. */
  readonly stopped: AbortSignal
  /** Called when a timer row was written: no event reports it. */
  timerSet(): void
  /** Called when the step that creates these trees below the task of the run is queued; see `Admission`. */
  admitWithCreation(creation: Promise<unknown>, trees: ReadonlyArray<readonly TaskDraft[]>, taskId: string): void
}

/** What a run waits for: answers, other tasks, times. */
export interface WaitsOfRun {
  readonly isWaiting: boolean
  /** The run has lent its slot to others. */
  readonly isParked: boolean
  /** Resolves when it holds one. */
  slot(): Promise<void>
  /** Called when nothing of the run is in flight. */
  whenIdle(): void
  /** The run has ended: nothing waits any more. */
  end(): void
  /** The same for a run whose function still ends: what it waits for rejects with this reason. */
  refuse(reason: ErrandError): void
}

/** Delay before the ledger is read again after a failure: the first, and the maximum. */
const pauseMs = 200
const maxPauseMs = 5_000

export class RunCore {
  readonly task: TaskRecord
  readonly ref: RunRef
  readonly attempt: number
  readonly host: RunHost
  /** Default for calls without `onInterrupt` of their own: what a later run does with an interrupted call. */
  readonly onInterrupt: OnInterrupt
  /**
   * The same for a call whose command may still run. The default of an executor does not count: `shell` runs a command again because what the
   * interrupted one left has been ended.
   */
  readonly onInterruptInDoubt: OnInterrupt
  readonly divergence: DivergenceGuard
  /** Undefined without telemetry, and before the function of the executor begins. */
  trace: RunTrace | undefined
  #journal: RunJournal | undefined
  /** The run has journal entries, new or loaded: its end must check for open ones. */
  journaled = false
  /**
   * What the run waits for; RunWaits sets it. With closures in its place, an ended run outlives all minor garbage collections (measured with
   * V8 13.6), and that of ten thousand runs adds up before a major one.
   */
  waits: WaitsOfRun | undefined
  /** Rejects the pending requests of the executor. */
  readonly #pending = new Set<(reason: ErrandError) => void>()
  readonly #end: RunEnd
  #inFlight = 0
  #next: { input: unknown } | undefined
  #resting: MachineStep | undefined
  readonly #isMachine: boolean
  /** Of each pause of the run: the call that it is made in. */
  readonly #pauses = new Set<{ scope: CallScope | null }>()

  constructor(task: TaskRecord, executor: AnyExecutor, host: RunHost) {
    const { onInterrupt, divergence, divergenceWaitMs, machine } = isExecutor(executor) ? executor : {}
    this.#isMachine = machine !== undefined
    this.task = task
    this.ref = { taskId: task.id, run: task.run }
    this.#end = new RunEnd(this.ref)
    this.attempt = task.attempt
    this.host = host
    this.onInterrupt = task.policy.onInterrupt ?? onInterrupt ?? host.onInterrupt
    this.onInterruptInDoubt = task.policy.onInterrupt ?? host.onInterrupt
    this.divergence = new DivergenceGuard(this, divergence ?? task.policy.divergence, divergenceWaitMs)
  }

  /** What earlier runs recorded, and what this one asks for. */
  get journal(): RunJournal {
    this.#journal ??= new RunJournal()
    return this.#journal
  }

  get taskId(): string {
    return this.ref.taskId
  }

  /** The caller of abilities: derived from the task, never from what a model writes. */
  get caller(): Caller {
    const { owner, policy } = this.task
    // The bus refuses a caller with an empty key.
    return omitUndefined({ surface: 'run', ...this.ref, owner: owner ?? undefined, abilities: policy.abilities })
  }

  /** Aborts when the run ends, with the reason. */
  get signal(): AbortSignal {
    return this.#end.signal
  }

  get hasEnded(): boolean {
    return this.#end.isOver
  }

  /** Why the run has ended; undefined while it is open. */
  get ended(): ErrandError | undefined {
    return this.#end.reason
  }

  get isIdle(): boolean {
    return this.#inFlight === 0 && !this.hasEnded
  }

  get isWaiting(): boolean {
    return this.waits?.isWaiting ?? false
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Whether its functions wait only for time, for a person, or for other tasks. */
  get isAtRest(): boolean {
    if (this.#pending.size + this.#pauses.size === 0) return false
    const paused = Array.from(this.#pauses, ({ scope }) => scope)
    return this.#inFlight <= executing([...paused, ...this.divergence.heldIn]).size
  }

  /** Resolves after a time, or when the run ends. For what is tried again in the same run. */
  async pause(ms: number): Promise<void> {
    const pause = { scope: scopeWithin(this) }
    this.#pauses.add(pause)
    await sleep(this.host.clock, ms, this.signal)
    this.#pauses.delete(pause)
  }

  /** Ends the run: aborts its signal and rejects all pending requests. */
  end(why: string | undefined): void {
    this.#end.end(why)
    this.divergence.end()
    this.waits?.end()
    for (const reject of this.#pending) reject(this.ended as ErrandError)
    this.#pending.clear()
  }

  /**
   * Ends the run because it only waits: its pending and further requests never settle, and nothing refers to them any more. Resolves when the
   * executor has released what it holds.
   */
  suspend(): Promise<void> {
    this.#pending.clear()
    const released = this.#end.suspend((error) => this.#releaseFailed(error))
    this.divergence.end()
    this.waits?.end()
    return released
  }

  get isSuspended(): boolean {
    return this.#end.isSuspended
  }

  onSuspend(release: () => unknown): () => void {
    return this.#end.onSuspend(release, (error) => this.#releaseFailed(error))
  }

  #releaseFailed(error: unknown): void {
    this.host.report(error, { ...this.ref, doing: 'release what a suspended run holds' })
  }

  /** The next generation begins with this input when the function of the executor has returned. Further requests are refused. */
  continueWith(input: unknown): void {
    this.#next = { input }
    // A run that waits could be suspended before its function returns.
    this.waits?.refuse(this.#continues)
  }

  get #continues(): ErrandError {
    return runEnded(this.ref, 'it goes on as a new generation')
  }

  /** The machine of the run only waits: its last step is written when the executor has returned, and closes the run. */
  restWith(resting: MachineStep): void {
    this.#resting = resting
  }

  get resting(): MachineStep | undefined {
    return this.#resting
  }

  /** What the next generation begins with; undefined for a run that is not to be followed by one. */
  get next(): { input: unknown } | undefined {
    return this.#next
  }

  /** The function of the executor has ended. */
  returned(): void {
    this.#end.released()
  }

  /**
   * A request of the executor: refused after the end of the run, and never an unhandled rejection when the executor
   * ignores it.
   */
  request<R>(work: () => R | Promise<R>): Promise<R> {
    const promise = new Promise<R>((resolve, reject) => {
      if (this.isSuspended) return
      if (this.ended) return reject(this.ended)
      if (this.#next !== undefined) return reject(this.#continues)
      this.#pending.add(reject)
      const slot = this.waits?.isParked === true ? this.waits.slot() : undefined
      void (async () => (slot === undefined ? work() : slot.then(work)))().then(
        (value) => {
          if (this.#pending.delete(reject)) resolve(value)
        },
        (error: unknown) => this.#refused(reject, error),
      )
    })
    promise.catch(() => {})
    return promise
  }

  async #refused(reject: (reason: unknown) => void, error: unknown): Promise<void> {
    if (isRunOver(error) && !this.hasEnded) {
      // The ledger knows of the end first. The feed says whether it is a suspension.
      const { feed } = this.host
      feed.changed()
      await feed.caughtUp()
    }
    if (this.#pending.delete(reject)) reject(error)
  }

  /** Counts work in flight; when the last ends, the run may have become quiet. */
  async busy<R>(work: () => Promise<R>): Promise<R> {
    this.#inFlight++
    try {
      return await work()
    } finally {
      this.#inFlight--
      this.divergence.settled()
      this.waits?.whenIdle()
    }
  }

  /** Reads what earlier runs recorded; retries while the ledger is unavailable and the run is open. */
  async loadJournal(): Promise<void> {
    const { attempt, host } = this
    const { id, generation } = this.task
    // Set before the read: there may be entries, even if they cannot be read.
    this.journaled = true
    for (let restMs = pauseMs; !this.hasEnded; restMs = Math.min(2 * restMs, maxPauseMs)) {
      try {
        const isMachine = this.#isMachine
        const journal = await host.read(function* (tx) {
          return new RunJournal(
            isMachine ? yield* entriesOfMachine(tx, id) : yield* tx.call.ofGeneration(id, generation),
            yield* tx.message.ofGeneration(id, generation),
            attempt,
          )
        })
        journal.onFewer = () => this.divergence.releaseIfDone()
        this.#journal = journal
        return
      } catch (error) {
        if (!isUnavailable(error)) throw error
        host.report(error, { ...this.ref, doing: 'read the journal' })
        await sleep(host.clock, restMs, this.signal)
      }
    }
  }

  /** The call in whose function the current code runs; null outside of any call. */
  scope(): CallScope | null {
    this.divergence.asked()
    return scopeWithin(this)
  }

  /**
   * Claims the ordinal of an entry: synchronously, so that concurrent requests are numbered in the order they were
   * made.
   */
  describe(kind: CallKind, name: string, params: unknown, key?: string, identity: unknown = params): EntryDescription {
    const { redaction } = this.host
    const kept = paramsToStore(redaction, kind, params)
    const ident = identOf(key, identity === params ? kept : paramsToStore(redaction, kind, identity))
    checkText(name, 'the name of an entry')
    const scope = this.scope()
    return { kind, name, ident, ordinal: this.journal.claim(kind, name, ident, scope?.entryKey), params: kept, scope }
  }

  /** Whether the retry that began this attempt named this entry: its recorded outcome does not count. */
  repeats(found: CallRecord | undefined): boolean {
    return found !== undefined && this.task.policy.repeat?.includes(found.id) === true
  }

  find(entry: EntryDescription): CallRecord | undefined {
    return this.journal.find(entry.kind, entry.name, entry.ident, entry.ordinal)
  }

  /** Creates the row of a new entry. */
  entryOf(entry: EntryDescription, dueInMs?: number, onInterrupt: OnInterrupt = 'fail'): NewCall {
    this.journaled = true
    const { at } = this.host.stepContext()
    const { scope, ...described } = entry
    return {
      ...described,
      ...this.ref,
      id: this.host.nextId('call'),
      generation: this.task.generation,
      attempt: this.attempt,
      status: 'pending',
      onInterrupt,
      parentId: scope?.callId ?? null,
      details: null,
      result: null,
      resultLost: null,
      error: null,
      startMessageId: null,
      endMessageId: null,
      dueAt: dueInMs === undefined ? null : dueAfter(at, dueInMs),
      createdAt: at,
      updatedAt: at,
    }
  }

  /** Creates the row of a new message. */
  messageOf(
    message: Pick<NewMessage, 'id' | 'role' | 'content' | 'step' | 'ident' | 'ordinal'>,
    { at }: StepContext,
  ): NewMessage {
    this.journaled = true
    const { taskId, run } = this.ref
    return {
      ...message,
      taskId,
      announcement: false,
      delivery: null,
      run,
      generation: this.task.generation,
      timestamp: at,
    }
  }

  step<R>(step: Step<R>): Promise<R> {
    return this.host.step(step)
  }
}

/**
 * The run has ended or its engine has closed, maybe before the feed has published it here: nothing more of the run is
 * recorded.
 */
export function isRunOver(error: unknown): boolean {
  return ErrandError.isInstance(error) && (error.code === 'RUN_ENDED' || error.code === 'ENGINE_CLOSED')
}

function isUnavailable(error: unknown): boolean {
  return ErrandError.isInstance(error) && (error.code === 'LEDGER_UNAVAILABLE' || error.code === 'LEDGER_BUSY')
}
