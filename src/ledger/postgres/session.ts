// One connection with one transaction at a time: begins, replies to requests, and leaves nothing open.
import type { Op } from '../ledger.ts'
import { isSeveral } from '../op.ts'
import type { Asked, Request } from '../statement.ts'
import { type PostgresClient, StatementFailed } from './client.ts'

export class Session {
  readonly #client: PostgresClient
  #turn: Promise<unknown> = Promise.resolve()
  /** A rollback failed: unless the connection is closed, its transaction is still open. */
  #leftOpen = false

  constructor(client: PostgresClient) {
    this.#client = client
  }

  /** One transaction at a time. */
  alone<R>(work: () => Promise<R>): Promise<R> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }

  /** First ends a transaction whose rollback failed: its writes would be committed with the next group. */
  async begin(text: string): Promise<void> {
    try {
      await this.#client.ensure?.()
    } catch (error) {
      throw new StatementFailed(error)
    }
    if (this.#leftOpen) await this.request('rollback')
    this.#leftOpen = false
    await this.request(text)
  }

  /** Ends any open transaction. A closed connection has none. */
  async rollback(): Promise<void> {
    await this.#client.query('rollback').catch(() => {
      this.#leftOpen = this.#client.ensure === undefined
    })
  }

  async reply({ sql, parameters, want }: Request): Promise<unknown> {
    const { rows, affectedRows } = await this.request(sql, [...parameters])
    if (want === 'rows') return rows
    return want === 'seq' ? (rows[0] as { seq: number }).seq : (affectedRows ?? 0)
  }

  async request(sql: string, parameters?: unknown[]): Promise<Awaited<ReturnType<PostgresClient['query']>>> {
    try {
      return await this.#client.query(sql, parameters)
    } catch (error) {
      throw new StatementFailed(error)
    }
  }

  /** The transaction may be run again: another session was in the way, or the connection was lost and can be made anew. */
  isRetried(error: unknown): error is StatementFailed {
    if (!(error instanceof StatementFailed)) return false
    return error.isContention || (error.isLost && this.#client.ensure !== undefined)
  }

  /** Resolves when no transaction is under way. */
  async settled(): Promise<void> {
    await this.#turn
  }
}

/** Runs work to its end, with a reply to each of its requests. */
export async function drive<R>(op: Op<R>, replyTo: (request: Request) => Promise<unknown>): Promise<R> {
  let next = op.next()
  while (!next.done) {
    let reply: unknown
    try {
      reply = await answeredTogether(next.value as Asked, replyTo)
    } catch (error) {
      next = op.throw(error)
      continue
    }
    next = op.next(reply)
  }
  return next.value
}

/** Several requests are sent without waiting for the replies in between; the server answers them in order. */
async function answeredTogether(asked: Asked, replyTo: (request: Request) => Promise<unknown>): Promise<unknown> {
  if (!isSeveral(asked)) return await replyTo(asked)
  const settled = await Promise.allSettled(asked.map(replyTo))
  return settled.map((each) => {
    // After a failure the server refuses all that follow: the first one says why.
    if (each.status === 'rejected') throw each.reason
    return each.value
  })
}
