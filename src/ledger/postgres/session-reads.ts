// Reads over a connection that answers one request at a time: each has a snapshot of its own.
import { ErrandError } from '../../core/errors.ts'
import type { Op, Reads, Tx } from '../ledger.ts'
import { StatementFailed } from './client.ts'
import { drive, type Session } from './session.ts'

export class SessionReads {
  readonly #session: Session
  readonly #tx: Tx

  constructor(session: Session, tx: Tx) {
    this.#session = session
    this.#tx = tx
  }

  read<R>(query: (tx: Reads) => Op<R>, signal: AbortSignal | undefined): Promise<R> {
    const session = this.#session
    return session.alone(async () => {
      signal?.throwIfAborted()
      try {
        // One snapshot for all statements of the query; by default each would see a later state than the one before.
        await session.begin('begin isolation level repeatable read read only')
        return await drive(query(this.#tx), (request) => {
          signal?.throwIfAborted()
          return session.reply(request)
        })
      } catch (error) {
        if (!(error instanceof StatementFailed)) throw error
        throw new ErrandError('LEDGER_UNAVAILABLE', `The ledger could not be read (${error.message}).`, {}, error)
      } finally {
        await session.rollback()
      }
    })
  }

  settled(): Promise<void> {
    return this.#session.settled()
  }
}
