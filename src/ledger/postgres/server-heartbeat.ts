// Keeps the lease of one engine on a server. A thread renews it (heartbeat-worker.ts), and asks before each time whether the event loop turns.
// Where the thread cannot, the engine renews it by itself, on the connection of the watch. An engine that cannot renew at all is notified in time:
// it ends its runs before another engine may begin them.
import type { Worker } from 'node:worker_threads'
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { waitAtMost } from '../../core/signals.ts'
import { messageOf } from '../../core/stored-error.ts'
import type { Lease, LeaseNotices } from '../ledger.ts'
import { startWorker } from '../start-worker.ts'
import type { PostgresClient } from './client.ts'
import {
  beat,
  beatEveryMs,
  type EngineMessage,
  type Heartbeats,
  retryAfterMs,
  type WorkerMessage,
} from './heartbeat.ts'
import type { ServerHost } from './server-url.ts'

/** How long the thread may take to end, in milliseconds. */
const endWithinMs = 1_000
/** What remains of a lease when an engine that cannot renew it ends its runs. */
const reserveMs = 1_000
/** A timer that fires later was delayed by work of the event loop: the thread has had no answer meanwhile. */
const delayedMs = 50
/** How long a heartbeat that was delayed by it may take. */
const lateAnswerMs = 1_000

export interface HeartbeatHost extends Omit<Heartbeats, 'renewedAt'> {
  readonly clock: Clock
  readonly watch: Required<PostgresClient>
  /** Since when this process has held the lock of the instance; undefined: it does not. */
  heldSince(): number | undefined
}

export class ServerHeartbeat implements Lease {
  readonly #host: HeartbeatHost
  readonly #notices: LeaseNotices
  #worker: Worker | undefined
  #exited: Promise<unknown> = Promise.resolve()
  #ended = false
  /** The thread writes to it. */
  readonly #renewedByThread = new BigInt64Array(new SharedArrayBuffer(8))
  /** When the last heartbeat that succeeded was sent, or earlier. */
  #renewedAt: number | undefined
  /** Without a thread. */
  #isAlone = false
  #isFailing = false
  #hasLapsed = false
  #lapse: unknown
  #nextBeat: unknown
  #beating: Promise<void> | undefined

  constructor(host: HeartbeatHost, notices: LeaseNotices) {
    this.#host = host
    this.#notices = notices
    this.#lapseUnlessRenewed(host.clock.now())
    this.#start()
    // The thread takes some time to start.
    void this.#beatHere()
  }

  get isCertain(): boolean {
    const heldSince = this.#host.heldSince()
    if (heldSince === undefined || this.#renewedAt === undefined || this.#ended) return false
    return heldSince <= this.#renewedAt && this.#host.clock.now() - this.#renewedAt < this.#limitMs
  }

  /** Renews the lease before it is due. */
  beatNow(): void {
    if (!this.#ended) this.#send('beat now')
  }

  /** The thread connects anew, to this server if it can. */
  reconnect(host: ServerHost | undefined): void {
    if (!this.#ended) this.#send({ reconnect: host })
  }

  report(error: unknown): void {
    if (!this.#ended) this.#notices.report(error)
  }

  async end(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    const { clock } = this.#host
    clock.clearTimeout(this.#lapse)
    clock.clearTimeout(this.#nextBeat)
    const worker = this.#worker
    this.#send('end')
    // A heartbeat that comes later would open the row of the engine again.
    await waitAtMost(clock, endWithinMs, Promise.all([this.#exited, this.#beating]))
    await worker?.terminate()
  }

  /** When the last heartbeat of the thread that succeeded was sent, or earlier; 0 before the first one. */
  get #renewedByThreadAt(): number {
    return Number(Atomics.load(this.#renewedByThread, 0))
  }

  /** How long after a heartbeat the engine may go on without another one. */
  get #limitMs(): number {
    const { leaseMs } = this.#host
    return Math.max(leaseMs - reserveMs, (leaseMs * 2) / 3)
  }

  // ── the thread ──

  #start(): void {
    const { target, instance, leaseMs } = this.#host
    const workerData: Heartbeats = { target, instance, leaseMs, renewedAt: this.#renewedByThread }
    try {
      const worker = startWorker('heartbeat-worker', import.meta.url, workerData)
      if (worker === undefined) throw new Error('its file is not in the bundle of the application')
      worker.on('message', (message: WorkerMessage) => this.#onMessage(message))
      worker.once('error', (error) => this.#goOnWithout(error))
      this.#exited = new Promise<void>((resolve) => {
        worker.once('exit', (code) => {
          resolve()
          this.#goOnWithout(new Error(`it ended with code ${code}`))
        })
      })
      this.#worker = worker
    } catch (error) {
      this.#goOnWithout(error)
    }
  }

  #send(message: EngineMessage): void {
    this.#worker?.postMessage(message)
  }

  #onMessage(message: WorkerMessage): void {
    if (this.#ended) return
    if (message === 'does it turn?') {
      this.#send({ turnsAt: this.#host.clock.now() })
    } else if (message.failure === undefined) this.#renewed(this.#renewedByThreadAt)
    else {
      this.#failed(message.failure)
      void this.#beatHere()
    }
  }

  #goOnWithout(error: unknown): void {
    if (this.#ended || this.#isAlone) return
    this.#isAlone = true
    this.#worker = undefined
    this.#notices.report(
      new ErrandError(
        'LEDGER_UNAVAILABLE',
        `The thread that renews the lease of the engine does not run: ${messageOf(error)}. The engine renews it by itself: work that keeps the event loop busy for longer than the lease loses its runs.`,
        {},
        error,
      ),
    )
    void this.#beatOn()
  }

  // ── heartbeats of the event loop ──

  async #beatOn(): Promise<void> {
    const { clock, leaseMs } = this.#host
    const isRenewed = await this.#beatHere()
    if (this.#ended) return
    this.#nextBeat = clock.setTimeout(
      () => void this.#beatOn(),
      isRenewed ? beatEveryMs(leaseMs) : retryAfterMs(leaseMs),
    )
  }

  /** Resolves to whether the lease was renewed. */
  async #beatHere(): Promise<boolean> {
    if (this.#beating !== undefined) return false
    const { clock, watch } = this.#host
    const since = clock.now()
    let failure: string | undefined
    this.#beating = beat(watch, this.#host, clock).catch((error: unknown) => {
      failure = messageOf(error)
    })
    await this.#beating
    this.#beating = undefined
    if (this.#ended) return false
    if (failure === undefined) this.#renewed(since, { byThread: false })
    else this.#failed(failure)
    return failure === undefined
  }

  // ── the lease ──

  #renewed(since: number, { byThread = true } = {}): void {
    // While the thread fails and the event loop does not, that has been reported once.
    if (byThread || this.#isAlone) this.#isFailing = false
    if (this.#renewedAt !== undefined && since <= this.#renewedAt) return
    this.#renewedAt = since
    this.#lapseUnlessRenewed(since)
    if (!this.#hasLapsed) return
    this.#hasLapsed = false
    this.#notices.renewed()
  }

  #failed(failure: string): void {
    if (this.#isFailing) return
    this.#isFailing = true
    this.#notices.report(
      new ErrandError('LEDGER_UNAVAILABLE', `The lease of the engine could not be renewed: ${failure}.`),
    )
  }

  #lapseUnlessRenewed(since: number): void {
    const { clock } = this.#host
    clock.clearTimeout(this.#lapse)
    if (this.#ended) return
    const dueAt = since + this.#limitMs
    this.#lapse = clock.setTimeout(() => {
      const isDelayed = clock.now() - dueAt > delayedMs
      // The thread gets its answer in this turn of the event loop: a late renewal counts until another engine has taken over.
      this.#lapse = clock.setTimeout(() => this.#lapseNow(), isDelayed ? lateAnswerMs : 0)
    }, dueAt - clock.now())
  }

  #lapseNow(): void {
    if (this.#ended) return
    // Its message may wait behind the work that has kept the event loop busy.
    const renewedAt = this.#renewedByThreadAt
    if (renewedAt > (this.#renewedAt ?? 0) && this.#host.clock.now() - renewedAt < this.#limitMs) {
      this.#renewed(renewedAt)
      return
    }
    this.#hasLapsed = true
    this.#notices.lapsed()
  }
}
