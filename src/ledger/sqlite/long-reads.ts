// Reads whose length grows with the ledger (a search, a board, a graph) run on a connection of their own, in slices between which the
// process does other work. Their transaction stays open meanwhile, so that all slices see the same state, and steps go on on the connection
// of the ledger.
import type { Reader } from '../../bus/read-principal.ts'
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { nextTurn } from '../../core/turns.ts'
import type { Op } from '../ledger.ts'
import { isSeveral } from '../op.ts'
import { type Asked, answered } from '../statement.ts'
import { type Connection, connect, unavailable } from './connection.ts'

/** How long a read runs before it becomes a long one, at its next slice. Almost all take a hundredth of that. */
const shortMs = 15
/** How long a long read runs before other work of the process. */
const sliceMs = 10
/** The maximum pause between two long reads. */
const maxRestMs = 250
/** The maximum of waiting long reads of one principal. A further one is refused: it would wait longer than most clients do. */
export const maxQueuedLongReads = 16

/**
 * Runs a read to its end on a connection in a transaction; undefined if it turns out to be long. Then it is run again from the beginning,
 * so a query must be repeatable.
 */
export function readAtOnce<R>(connection: Connection, op: Op<R>, clock: Clock): { value: R } | undefined {
  const since = clock.now()
  let next = op.next()
  while (!next.done) {
    const asked = next.value as Asked
    const isSlice = isSeveral(asked) ? asked.some(({ slice }) => slice) : asked.slice
    if (isSlice && clock.now() - since >= shortMs) return undefined
    next = op.next(answered(asked, (request) => connection.run(request)))
  }
  return { value: next.value }
}

/** Runs a read to its end, however long it is. */
export function readWhole<R>(connection: Connection, op: Op<R>): R {
  let next = op.next()
  while (!next.done) next = op.next(answered(next.value as Asked, (request) => connection.run(request)))
  return next.value
}

interface QueuedRead {
  /** Runs the read to its end, also a failed one; never rejects. */
  run(): Promise<void>
}

/**
 * Runs one long read at a time: several would only delay each other and hold more of the write-ahead log. Principals take turns, so that
 * one with many reads delays the others by a single one.
 */
export class LongReads {
  readonly #path: string
  readonly #busyTimeoutMs: number
  readonly #clock: Clock
  #connection: Connection | undefined
  /** The waiting reads by principal; undefined is the program itself. The next principal is first; each has at least one read. */
  readonly #queues = new Map<string | undefined, QueuedRead[]>()
  /** Undefined while there is nothing to read. */
  #working: Promise<void> | undefined
  #closed = false
  #begunAt = 0
  #endRest: () => void = () => {}

  constructor(path: string, busyTimeoutMs: number, clock: Clock) {
    this.#path = path
    this.#busyTimeoutMs = busyTimeoutMs
    this.#clock = clock
  }

  /**
   * @throws what the query throws; the reason of the signal; ErrandError RATE_LIMITED, LEDGER_UNAVAILABLE, LEDGER_BUSY; ENGINE_CLOSED when
   *   the ledger is closed meanwhile
   */
  read<R>(query: () => Op<R>, { principal, signal }: Reader = {}): Promise<R> {
    const queue = this.#queues.get(principal) ?? []
    if (principal !== undefined && queue.length >= maxQueuedLongReads) return Promise.reject(tooManyQueued())
    const { promise, resolve, reject } = Promise.withResolvers<R>()
    const read: QueuedRead = {
      run: () => {
        signal?.removeEventListener('abort', drop)
        return this.#read(query, signal).then(resolve, reject)
      },
    }
    const drop = (): void => {
      this.#drop(principal, read)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', drop, { once: true })
    queue.push(read)
    this.#queues.set(principal, queue)
    this.#working ??= this.#work()
    return promise
  }

  #drop(principal: string | undefined, read: QueuedRead): void {
    const left = (this.#queues.get(principal) ?? []).filter((each) => each !== read)
    if (left.length > 0) this.#queues.set(principal, left)
    else this.#queues.delete(principal)
  }

  async #work(): Promise<void> {
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      await next.run()
      await this.#rest()
    }
    this.#working = undefined
  }

  /** The oldest read of the next principal, which then becomes the last. */
  #takeNext(): QueuedRead | undefined {
    for (const [principal, [next, ...left]] of this.#queues) {
      this.#queues.delete(principal)
      if (left.length > 0) this.#queues.set(principal, left)
      return next
    }
    return undefined
  }

  /** Between two reads no snapshot is open for about as long as the last one took: only then can the write-ahead log restart. */
  #rest(): Promise<void> {
    const restMs = Math.min(this.#clock.now() - this.#begunAt, maxRestMs)
    if (this.#closed || restMs <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = this.#clock.setTimeout(() => resolve(), restMs)
      this.#endRest = () => {
        this.#clock.clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Ends the current read. */
  async close(): Promise<void> {
    this.#closed = true
    this.#endRest()
    await this.#working
    this.#connection?.close()
  }

  async #read<R>(query: () => Op<R>, signal: AbortSignal | undefined): Promise<R> {
    const connection = this.#open()
    connection.begin('begin')
    try {
      const op = query()
      let since = this.#clock.now()
      this.#begunAt = since
      let next = op.next()
      while (!next.done) {
        if (this.#clock.now() - since >= sliceMs) {
          await nextTurn()
          this.#requireOpen()
          signal?.throwIfAborted()
          since = this.#clock.now()
        }
        next = op.next(answered(next.value as Asked, (request) => connection.run(request)))
      }
      return next.value
    } finally {
      connection.rollback()
    }
  }

  #open(): Connection {
    this.#requireOpen()
    try {
      this.#connection ??= connect(this.#path, { busyTimeoutMs: this.#busyTimeoutMs, readonly: true, mustExist: true })
    } catch (error) {
      throw unavailable(error, this.#path, 'read')
    }
    return this.#connection
  }

  #requireOpen(): void {
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'The ledger is closed; open it again to read.')
  }
}

function tooManyQueued(): ErrandError {
  return new ErrandError(
    'RATE_LIMITED',
    `Too many long reads: this caller already has ${maxQueuedLongReads} of them queued. Retry when one of them has returned.`,
    { limit: 'maxQueuedLongReads', value: maxQueuedLongReads },
  )
}
