// Reads of a ledger on a server. Those that wait share one snapshot and go in waves, as steps do; they wait for no step.
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { sleep } from '../../core/signals.ts'
import { messageOf } from '../../core/stored-error.ts'
import { nextTurn } from '../../core/turns.ts'
import type { Op, Reads, Tx } from '../ledger.ts'
import { StatementFailed } from './client.ts'
import type { ServerConnection } from './server-connection.ts'
import { currentTimeline, type ServerHistory } from './server-history.ts'
import { Flight } from './wave-flight.ts'
import { WaveStep } from './wave-step.ts'

interface WaitingRead {
  readonly query: (tx: Reads) => Op<unknown>
  readonly signal: AbortSignal | undefined
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
  isAnswered: boolean
}

/** The maximum of reads in one snapshot. */
const maxReads = 200
/** How long reads are repeated while no server can be reached, as steps are, and how often. */
const patienceMs = 10_000
const readAgainMs = 50

export class SnapshotReads {
  readonly #connection: ServerConnection
  readonly #tx: Tx
  readonly #clock: Clock
  readonly #history: Pick<ServerHistory, 'timeline'>
  readonly #begin: string
  #isClosing = false
  #waiting: WaitingRead[] = []
  #underWay: WaitingRead[] = []
  #running: Promise<void> | undefined

  constructor(
    connection: ServerConnection,
    tx: Tx,
    { clock, history }: { clock: Clock; history: Pick<ServerHistory, 'timeline'> },
  ) {
    this.#connection = connection
    this.#tx = tx
    this.#clock = clock
    this.#history = history
    const begin = 'begin isolation level repeatable read read only'
    this.#begin = history.timeline ? `${begin}; select ${currentTimeline} as timeline` : begin
  }

  read<R>(query: (tx: Reads) => Op<R>, signal: AbortSignal | undefined): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      this.#waiting.push({ query, signal, resolve, reject, isAnswered: false })
      // Those of the same turn of the event loop share a snapshot.
      this.#running ??= nextTurn().then(() => this.#run())
    })
  }

  /** Resolves when no read is under way. None is repeated any more. */
  async settled(): Promise<void> {
    this.#isClosing = true
    await this.#running
  }

  /** Refuses all reads, with this reason. */
  fail(reason: ErrandError): void {
    for (const read of [...this.#underWay, ...this.#waiting]) if (!read.isAnswered) this.#refuse(read, reason)
    this.#waiting = []
    this.#connection.drop()
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#underWay = this.#waiting.splice(0, maxReads)
      const since = this.#clock.now()
      for (let open = this.#underWay; open.length > 0; open = open.filter((read) => !read.isAnswered)) {
        try {
          await this.#readTogether(open)
        } catch (error) {
          open = open.filter((read) => !read.isAnswered)
          const lost = this.#isLost(error) ? error : await this.#readApart(open, error)
          if (lost === undefined) continue
          // A session with a standby, to which a pool or a name still leads, is not lost by itself.
          this.#connection.drop()
          const waitedMs = this.#clock.now() - since
          if (waitedMs < patienceMs && !this.#isClosing) await sleep(this.#clock, readAgainMs)
          else for (const read of open) if (!read.isAnswered) this.#refuse(read, busy(lost, waitedMs))
        }
      }
    }
    this.#underWay = []
    this.#running = undefined
  }

  #isLost(error: unknown): boolean {
    if (error instanceof StatementFailed) return error.isLost || !this.#connection.isConnected
    return ErrandError.isInstance(error) && error.code === 'LEDGER_UNAVAILABLE'
  }

  #refuse(read: WaitingRead, error: unknown): void {
    read.isAnswered = true
    read.reject(error)
  }

  /** Another server that still answers, although one has taken over from it, has rows of the past. */
  #requireServerInUse(begun: readonly unknown[]): void {
    const [row] = begun as Array<{ timeline: string }>
    if (row === undefined || row.timeline === this.#history.timeline) return
    this.#connection.drop()
    throw new StatementFailed(new Error('another server has taken over'))
  }

  /**
   * A statement that fails ends the snapshot for all: then each read has one of its own, and fails alone. Ends at the failure by which the
   * connection was lost, and returns it.
   */
  async #readApart(reads: readonly WaitingRead[], error: unknown): Promise<unknown> {
    if (reads.length === 1) this.#refuse(reads[0] as WaitingRead, unreadable(error))
    for (const read of reads.length === 1 ? [] : reads) {
      try {
        await this.#readTogether([read])
      } catch (failure) {
        if (this.#isLost(failure)) return failure
        this.#refuse(read, unreadable(failure))
      }
    }
    return undefined
  }

  async #readTogether(reads: readonly WaitingRead[]): Promise<void> {
    await this.#connection.ensure()
    const steps = reads.map((read, at) => ({
      read,
      step: new WaveStep({ name: 'read', decide: read.query }, at, this.#tx),
    }))
    try {
      let begun: Promise<unknown[]> | undefined
      for (;;) {
        const flight = new Flight(this.#connection, { locksHeads: false })
        for (const { step, read } of steps) advance(step, read, flight)
        if (flight.isEmpty) break
        await flight.send((send) => {
          begun ??= send(this.#begin)
        })
        this.#requireServerInUse(await (begun as Promise<unknown[]>))
        for (const each of steps) {
          each.step.takeReplies()
          settle(each)
        }
      }
    } finally {
      // Of a lost connection nothing is left open.
      this.#connection.query('rollback').catch(() => {})
    }
    for (const each of steps) settle(each)
  }
}

/** Answers a read that has ended, whatever others of its snapshot still read. */
function settle({ step, read }: { step: WaveStep; read: WaitingRead }): void {
  read.isAnswered ||= step.outcome !== undefined
  if (step.outcome?.ok) read.resolve(step.outcome.value as never)
  else if (step.outcome !== undefined) read.reject(step.outcome.error)
}

function advance(step: WaveStep, { signal }: WaitingRead, flight: Flight): void {
  if (step.isDone) return
  try {
    signal?.throwIfAborted()
    step.waiting = step.next(() => false)
    step.isDone = step.waiting.length === 0
    for (const request of step.waiting) flight.addRead(step, request)
  } catch (error) {
    step.outcome = { ok: false, error }
    step.isDone = true
  }
}

/** Nothing is wrong with the reads: they may be made again. */
function busy(error: unknown, waitedMs: number): ErrandError {
  const why = `The ledger could not be read for ${Math.round(waitedMs)} ms (${messageOf(error)}). Try again.`
  return new ErrandError('LEDGER_BUSY', why, { waitedMs }, error)
}

function unreadable(error: unknown): unknown {
  if (!(error instanceof StatementFailed)) return error
  return new ErrandError('LEDGER_UNAVAILABLE', `The ledger could not be read (${error.message}).`, {}, error)
}
