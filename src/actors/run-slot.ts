// A slot: one open run of this engine, from the first line of its executor until the run is closed. Ending and closing
// are two things: a run that has ended (paused, canceled, settled) is closed when its executor and its calls have
// settled or their grace is over, and never while a process that it started is alive.

import { debuglog } from 'node:util'
import { ErrandError } from '../core/errors.ts'
import { isRedactFailure } from '../core/redact.ts'
import { sleep, untilAborted } from '../core/signals.ts'
import { retryAfterOf, toStoredError } from '../core/stored-error.ts'
import type { CallRecord } from '../entities/call.ts'
import type { EventType } from '../entities/event.ts'
import type { AnyExecutor } from '../entities/executor.ts'
import { type TaskRecord, titleOf } from '../entities/task.ts'
import type { RetryPolicy } from '../entities/task-fields.ts'
import { tracedWithin } from '../entities/telemetry.ts'
import type { RunningTask } from '../entities/views.ts'
import type { Step } from '../ledger/ledger.ts'
import { closeRun } from '../operations/steps/close-run.ts'
import type { RunRef } from '../operations/steps/journal.ts'
import { type ExecutorOutcome, settleRun } from '../operations/steps/settle-run.ts'
import { toTask } from '../operations/steps/views.ts'
import type { RunLife } from './actor-logic.ts'
import { invokeExecutor } from './invoke-executor.ts'
import { RunCalls } from './run-calls.ts'
import { RunConversation } from './run-conversation.ts'
import { RunCore, type RunHost } from './run-core.ts'
import type { RunParts } from './run-handle.ts'
import { RunOutput } from './run-output.ts'
import { beginTrace, endOf } from './run-trace.ts'
import { RunWaits } from './run-waits.ts'

export interface SlotHost extends RunHost {
  retryOf(task: TaskRecord): RetryPolicy
  /** Called when a step that frees a slot is queued: an admission may share its commit. */
  freeing(): void
  /**
   * The run is closed, or nothing more may be written. Called before anything else follows from that, and once more at
   * the end.
   */
  closed(slot: RunSlot): void
  /** The actor of the run frees its slot. */
  freed(slot: RunSlot): void
  /** A run has lent its slot to others, or has one again. */
  lent(): void
}

/** Events of a run that goes on: nothing becomes due, ready or free with them, and there are many. */
export const withinRuns: ReadonlySet<EventType> = new Set<EventType>([
  'call.started',
  'call.completed',
  'call.failed',
  'output.written',
])

/** Printed with NODE_DEBUG=errand. */
const debug = debuglog('errand')

/** Delay before a refused write is retried: the first, and the maximum. */
const pauseMs = 200
const maxPauseMs = 10_000

export class RunSlot implements RunLife {
  readonly task: TaskRecord
  readonly ref: RunRef
  /** When the run started, in epoch milliseconds. */
  readonly since: number
  readonly #closing = Promise.withResolvers<void>()
  readonly #former: RunSlot | undefined
  readonly #executor: AnyExecutor
  readonly #host: SlotHost
  readonly #parts: RunParts
  /** Resolves when the function of the executor has ended, or nothing waits for it any more. */
  readonly #outcome = Promise.withResolvers<ExecutorOutcome | undefined>()
  readonly #givenUp = Promise.withResolvers<void>()
  /** Of a suspended run: what its function holds is released. */
  #released: Promise<void> | undefined
  #grace: unknown
  #isOver = false
  #isParked = false

  /** `former`: a run of the same task that another engine has closed and whose executor has not settled here yet. */
  constructor(task: TaskRecord, executor: AnyExecutor, since: number, former: RunSlot | undefined, host: SlotHost) {
    this.task = task
    this.ref = { taskId: task.id, run: task.run }
    this.since = since
    this.#executor = executor
    this.#host = host
    const core = new RunCore(task, executor, host)
    const output = new RunOutput(core)
    const waits = new RunWaits(core, output)
    this.#parts = {
      core,
      output,
      waits,
      calls: new RunCalls(core, output, waits),
      conversation: new RunConversation(core),
    }
    this.#former = former
  }

  /** Resolves when the run is closed, or nothing more may be written. */
  get closed(): Promise<void> {
    return this.#closing.promise
  }

  /** The run is closed in the ledger, or nothing more may be written. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Runs the executor to its end, in a later turn: the actor of the run starts in the middle of a transition. */
  begin(): void {
    void Promise.resolve()
      .then(() => this.#runToEnd(this.#former))
      .then(() => this.#closing.resolve())
  }

  /** The run is closed in the ledger: its slot is free. */
  freeSlot(): void {
    this.#host.freed(this)
  }

  /** Others may have its slot: it waits in memory. */
  get isParked(): boolean {
    return this.#isParked
  }

  lendSlot(): void {
    this.#isParked = true
    this.#host.lent()
  }

  goOn(): void {
    this.#isParked = false
    this.#parts.waits.goOn()
    this.#host.lent()
  }

  /** What the status of the engine shows of it. */
  get shown(): RunningTask {
    const { task, ref, since } = this
    const shown = { taskId: task.id, name: task.name, executor: task.executor as string, run: ref.run, since }
    return { ...shown, parked: this.#isParked }
  }

  /** Whether its functions wait only for time, for a person, or for other tasks. */
  get isAtRest(): boolean {
    return this.#parts.core.isAtRest
  }

  get callsWithProcesses(): CallRecord[] {
    return this.#parts.calls.withProcesses
  }

  /** The run has ended: starts the grace of its executor. */
  abort(why?: string): void {
    this.#abort(why)
    const { clock, abortGraceMs } = this.#host
    this.#grace ??= clock.setTimeout(() => this.giveUp(), abortGraceMs)
  }

  /** The grace is over: what the executor returns from now on is ignored. */
  giveUp(): void {
    this.#abort()
    this.#parts.core.trace?.end({ outcome: 'ended' })
    this.#outcome.resolve(undefined)
    this.#givenUp.resolve()
  }

  /** The run only waits: it is closed without its function. */
  leaveFunction(): void {
    const { core, calls } = this.#parts
    if (core.hasEnded) return
    this.#released = core.suspend()
    core.trace?.end({ outcome: 'suspended' })
    calls.drain.end()
    this.#outcome.resolve(undefined)
  }

  /** Ends the run at its next safe point: when no call is in flight. */
  drain(): void {
    if (this.#isParked) this.leaveFunction()
    else this.#parts.calls.drain.whenNone(() => this.#abort('the engine is closing'))
  }

  /** Checks whether a wait of the open run is over; if so, the run continues in place. */
  wake(callId: string): void {
    this.#parts.waits.wake(callId)
  }

  /** Aborts the run and rejects its pending requests. */
  #abort(why?: string): void {
    const { core, calls } = this.#parts
    if (core.hasEnded) return
    core.end(why)
    calls.drain.end()
  }

  async #runToEnd(former: RunSlot | undefined): Promise<void> {
    await former?.closed
    void this.#execute().then(this.#outcome.resolve)
    const outcome = await this.#outcome.promise
    if (outcome === undefined || (await this.#settle(outcome))) await this.#close()
    this.#host.clock.clearTimeout(this.#grace)
    this.#abort()
    this.#noteClosed()
  }

  #noteClosed(): void {
    this.#isOver = true
    this.#host.closed(this)
  }

  /**
   * Runs the executor to its end; never rejects. Undefined for a run that has ended: its result or error is ignored.
   */
  async #execute(): Promise<ExecutorOutcome | undefined> {
    const { core, output } = this.#parts
    const { redaction } = this.#host
    let outcome: ExecutorOutcome
    try {
      if (this.ref.run > 1 || this.task.forkedFrom !== null) await core.loadJournal()
      const { telemetry } = this.#host
      if (telemetry !== undefined && !core.hasEnded) core.trace = await beginTrace(telemetry, this.task, this.#host)
      if (core.hasEnded) {
        core.trace?.end({ outcome: 'ended' })
        return undefined
      }
      const task = toTask(this.task, [], [])
      const result = await tracedWithin(core.trace, () =>
        invokeExecutor(this.#executor, task, this.#parts, (loss) =>
          this.#host.report(loss, { ...this.ref, doing: 'store the result' }),
        ),
      )
      if (core.resting) outcome = { kind: 'rests', step: core.resting }
      else if (core.next) outcome = { kind: 'continued', ...core.next }
      else outcome = { kind: 'returned', result: redaction.value(result, 'task', 'result') }
    } catch (error) {
      const stored = redaction.storedError(toStoredError(error), 'task', 'error')
      outcome = { kind: 'threw', error: stored, retryAfterMs: retryAfterOf(error) }
    }
    core.trace?.end(endOf(outcome, core.hasEnded))
    core.returned()
    if (core.isSuspended) debug(ignored(this.ref, outcome))
    if (!output.isEmpty) await output.flush()
    return core.hasEnded ? undefined : outcome
  }

  /** Resolves to whether the run is still open. */
  async #settle(given: ExecutorOutcome): Promise<boolean> {
    const { task, ref } = this
    const { calls, core, conversation } = this.#parts
    const inFlight = given.kind === 'threw' || given.kind === 'rests' ? [] : calls.namesInFlight
    let outcome = given
    const open = await this.#write(
      'settle run',
      ({ stepContext, chance, retryOf }) =>
        settleRun({
          ...stepContext(),
          ...ref,
          outcome,
          retry: retryOf(task),
          chance: chance(),
          diverged: core.journaled ? core.journal.diverged : [],
          journaled: core.journaled,
          readThrough: conversation.readThrough,
        }),
      (isOpen) => !isOpen,
      (error) => {
        // An event about the outcome cannot be redacted; the run must still end.
        if (isRedactFailure(error)) outcome = { kind: 'threw', error: toStoredError(error), retryAfterMs: undefined }
      },
    )
    if (given.kind === 'rests' && given.step.details.next !== null) this.#host.timerSet()
    if (inFlight.length > 0) this.#host.report(notAwaited(task, inFlight), { ...ref, doing: 'end the run' })
    return open ?? true
  }

  async #close(): Promise<void> {
    const { calls } = this.#parts
    this.abort()
    await Promise.race([calls.allSettled().then(() => this.#released), this.#givenUp.promise])
    await untilAborted(calls.processesEnded(), this.#host.stopped).catch(() => {})
    await this.#write(
      'close run',
      ({ stepContext }) => closeRun(this.ref, stepContext()),
      () => true,
    )
  }

  /**
   * Retries while the ledger refuses, because until then the task belongs to the run. Undefined when the engine has
   * stopped writing.
   */
  async #write<R>(
    doing: string,
    stepOf: (host: SlotHost) => Step<R>,
    closes: (written: R) => boolean,
    refused: (error: unknown) => void = () => {},
  ): Promise<R | undefined> {
    const { clock, stopped, report } = this.#host
    for (let restMs = pauseMs; !stopped.aborted; restMs = Math.min(restMs * 2, maxPauseMs)) {
      try {
        const writing = this.#host.ledger.step(stepOf(this.#host)).then((written) => {
          if (closes(written)) this.#noteClosed()
          return written
        })
        this.#host.freeing()
        return await writing
      } catch (error) {
        if (stopped.aborted) return undefined
        report(error, { ...this.ref, doing })
        refused(error)
        await sleep(clock, restMs, stopped)
      }
    }
    return undefined
  }
}

function ignored({ taskId, run }: RunRef, outcome: ExecutorOutcome): string {
  const what = outcome.kind === 'threw' ? `threw "${outcome.error.message}"` : 'returned'
  return `run ${run} of ${taskId} is suspended; its function ${what} afterwards, which is ignored`
}

/** A warning: the outcome stands, and what becomes of the calls is only in the journal. */
function notAwaited(task: TaskRecord, calls: readonly string[]): ErrandError {
  const named = calls.map((name) => `"${name}"`).join(', ')
  return new ErrandError(
    'CALL_INTERRUPTED',
    `The executor of task ${titleOf(task)} returned before these calls had ended: ${named}. The task does not wait for them. Await every run.call before the executor returns.`,
    { taskId: task.id, calls },
  )
}
