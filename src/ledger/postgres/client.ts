// What the ledger requires of a PostgreSQL connection, small enough for PGlite in process and for a driver over the network; and the errors
// that distinguish a refusal of the server from a lost connection.

/** One connection for the ledger alone. Whole numbers (int8 too) are returned as JavaScript numbers. */
export interface PostgresClient {
  query(sql: string, parameters?: unknown[]): Promise<{ rows: unknown[]; affectedRows?: number | undefined }>
  /** Before a transaction: connects again if the connection was lost. Absent where it cannot be lost. */
  ensure?(): Promise<void>
}

/** A statement that failed. `sqlState` is undefined when the server did not answer. */
export class StatementFailed extends Error {
  readonly sqlState: string | undefined

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    const code = (cause as { code?: unknown } | null)?.code
    // No SQLSTATE begins with E, and some errors of Node do (EPIPE).
    this.sqlState = typeof code === 'string' && /^(?!E)[0-9A-Z]{5}$/.test(code) ? code : undefined
  }

  /** For a lock that the server was asked for without waiting, and that another session has. */
  static met(message: string): StatementFailed {
    return new StatementFailed(Object.assign(new Error(message), { code: '55P03' }))
  }

  /**
   * The server did not answer, has ended the session, or is a standby, to which a pool leads until it has noticed a failover: it refuses
   * to write (25006), and to name its timeline (55000).
   */
  get isLost(): boolean {
    return this.sqlState === undefined || /^(?:08|57P|25P03|25006|55000)/.test(this.sqlState)
  }

  /** The server rolled back for another session; the same transaction may be run again. */
  get isContention(): boolean {
    return this.isTimeout || ['40001', '40P01'].includes(this.sqlState ?? '')
  }

  /** A lock was not to be had, at once or in the time allowed for it. */
  get isTimeout(): boolean {
    return this.sqlState === '55P03'
  }
}
