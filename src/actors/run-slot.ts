// A slot: one open executor run of this engine, from its executor's first line until the run is closed. Ending and closing are two
// things: a run that has ended (paused, canceled, settled) is closed when its executor and its calls have settled or their grace is
// over, and never while a process that it started is alive.
import type { TaskRecord } from '../entities/task.ts'
import type { RetryPolicy } from '../entities/task-fields.ts'
import type { ErrandError } from '../errors.ts'
import type { Step } from '../ledger/ledger.ts'
import { rest, untilAborted } from '../signals.ts'
import { closeRun } from '../steps/close-run.ts'
import { type ExecutorOutcome, settleRun } from '../steps/settle-run.ts'
import type { EngineHost } from './engine-host.ts'
import type { LiveRun } from './live-run.ts'
import type { RunHost } from './run-core.ts'

export interface SlotHost
  extends Pick<EngineHost, 'ledger' | 'clock' | 'abortGraceMs' | 'moment' | 'chance' | 'report'>,
    Pick<RunHost, 'stopped'> {
  retryOf(task: TaskRecord): RetryPolicy
  /** A step that makes room is queued: an admission may share its commit. */
  freeing(): void
  /** The run is closed, or nothing more is to be written. Called before anything else follows from that, and once more at the end. */
  freed(slot: RunSlot): void
}

/** How long a ledger that refused is left alone before it is asked again: at first, and at most. */
const pauseMs = 200
const longestPauseMs = 10_000

export class RunSlot {
  readonly task: TaskRecord
  readonly live: LiveRun
  /** When the run started, in epoch milliseconds. */
  readonly since: number
  /** Resolves when the run is closed, or nothing more is to be written. */
  readonly closed: Promise<void>
  readonly #host: SlotHost
  readonly #givenUp = Promise.withResolvers<void>()
  #grace: unknown

  /** `former`: a run of the same task that another engine has closed and whose executor is still to settle here. */
  constructor(task: TaskRecord, live: LiveRun, since: number, former: RunSlot | undefined, host: SlotHost) {
    this.task = task
    this.live = live
    this.since = since
    this.#host = host
    this.closed = this.#follow(former)
  }

  /** The run has ended: its executor gets its grace to notice. */
  end(reason?: ErrandError): void {
    this.live.end(reason)
    const { clock, abortGraceMs } = this.#host
    this.#grace ??= clock.setTimeout(() => this.giveUp(), abortGraceMs)
  }

  /** The grace is over: what the executor returns from now on is ignored. */
  giveUp(): void {
    this.live.end()
    this.#givenUp.resolve()
  }

  async #follow(former: RunSlot | undefined): Promise<void> {
    await former?.closed
    const outcome = await Promise.race([this.live.execute(), this.#givenUp.promise])
    if ((outcome ?? null) === null || (await this.#settle(outcome as ExecutorOutcome))) await this.#close()
    this.#host.clock.clearTimeout(this.#grace)
    this.live.end()
    this.#host.freed(this)
  }

  /** Resolves to whether the run is still open. */
  async #settle(outcome: ExecutorOutcome): Promise<boolean> {
    const { task, live } = this
    const { diverged, journaled, readThrough } = live
    const open = await this.#write(
      'settle run',
      ({ moment, chance, retryOf }) =>
        settleRun({
          ...moment(),
          taskId: task.id,
          run: live.number,
          outcome,
          retry: retryOf(task),
          chance: chance(),
          diverged,
          journaled,
          readThrough,
        }),
      (isOpen) => !isOpen,
    )
    return open ?? true
  }

  async #close(): Promise<void> {
    const { live } = this
    this.end()
    await Promise.race([live.callsSettled(), this.#givenUp.promise])
    await untilAborted(live.processesEnded(), this.#host.stopped).catch(() => {})
    await this.#write(
      'close run',
      ({ moment }) => closeRun(live.ref, moment()),
      () => true,
    )
  }

  /** A ledger that refuses is asked again, because until then the task belongs to the run. Undefined when it is too late for that. */
  async #write<R>(
    doing: string,
    stepOf: (host: SlotHost) => Step<R>,
    closes: (written: R) => boolean,
  ): Promise<R | undefined> {
    const { clock, stopped, report, freed } = this.#host
    for (let restMs = pauseMs; !stopped.aborted; restMs = Math.min(restMs * 2, longestPauseMs)) {
      try {
        const writing = this.#host.ledger.step(stepOf(this.#host)).then((written) => {
          if (closes(written)) freed(this)
          return written
        })
        this.#host.freeing()
        return await writing
      } catch (error) {
        if (stopped.aborted) return undefined
        report(error, { ...this.live.ref, doing })
        await rest(clock, restMs, stopped)
      }
    }
    return undefined
  }
}
