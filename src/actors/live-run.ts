// A run that is alive, as its slot sees it: it runs the executor to its end, and ends when its task is no longer its own.
import type { CallRecord } from '../entities/call.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { ErrandError } from '../errors.ts'
import type { AnyExecutor } from '../executor.ts'
import { type RunRef, runEnded } from '../steps/journal.ts'
import type { ExecutorOutcome } from '../steps/settle-run.ts'
import { toTask } from '../steps/views.ts'
import { retryAfterOf, toStoredError } from '../stored-error.ts'
import { invokeExecutor } from './invoke-executor.ts'
import type { RunHost } from './run-core.ts'
import { RunHandle } from './run-handle.ts'
import { RunParts } from './run-parts.ts'

export class LiveRun {
  readonly #executor: AnyExecutor
  readonly #parts: RunParts

  constructor(task: TaskRecord, executor: AnyExecutor, host: RunHost) {
    this.#executor = executor
    this.#parts = new RunParts(task, executor, host)
  }

  get ref(): RunRef {
    return this.#parts.core.ref
  }

  get number(): number {
    return this.ref.run
  }

  /** It has made entries in the journal, or found some: the end must look for open ones. */
  get journaled(): boolean {
    return this.#parts.core.journaled
  }

  get diverged(): string[] {
    return this.#parts.core.journal.diverged
  }

  /** Number of the last message that it has read; null for a run that reads no conversation. */
  get readThrough(): number | null {
    return this.#parts.conversation.readThrough
  }

  /** Runs the executor to its end; never rejects. Null for a run that has been ended: whatever it returned or threw is ignored. */
  async execute(): Promise<ExecutorOutcome | null> {
    const { core, output } = this.#parts
    let outcome: ExecutorOutcome
    try {
      if (this.number > 1) await core.loadJournal()
      if (core.ended) return null
      const task = toTask(core.task, [], [])
      outcome = { kind: 'returned', result: await invokeExecutor(this.#executor, task, new RunHandle(this.#parts)) }
    } catch (error) {
      const stored = toStoredError(error)
      const retryAfterMs = retryAfterOf(error)
      outcome = {
        kind: 'threw',
        error: stored,
        final: stored.final === true,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      }
    }
    if (!output.isEmpty) await output.flush()
    return core.ended ? null : outcome
  }

  get callsWithProcesses(): CallRecord[] {
    return this.#parts.calls.withProcesses
  }

  callsSettled(): Promise<void> {
    return this.#parts.calls.allSettled()
  }

  processesEnded(): Promise<void> {
    return this.#parts.calls.processesEnded()
  }

  /** The run has ended: aborts, and rejects whatever is pending. */
  end(reason?: ErrandError): void {
    const { core, waits, calls } = this.#parts
    if (core.ended) return
    core.end(reason ?? runEnded(this.ref))
    waits.end()
    calls.end()
  }

  /** Ends the run at its next safe point: when no call is in flight. */
  drain(): void {
    this.#parts.calls.whenNone(() => this.end(runEnded(this.ref, 'the engine is closing')))
  }

  /** A wait may be over while the run is still alive: it goes on in place. */
  poke(callId: string): void {
    this.#parts.waits.poke(callId)
  }
}
