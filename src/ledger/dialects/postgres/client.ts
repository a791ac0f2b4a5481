// The least that the ledger asks of a PostgreSQL connection, so that PGlite in process and a driver over the wire both serve,
// and the errors in which its refusals are told apart from a lost connection.

/** One connection, used by nobody else. Whole numbers (int8 too) arrive as JavaScript numbers. */
export interface PostgresClient {
  query(sql: string, parameters?: unknown[]): Promise<{ rows: unknown[]; affectedRows?: number | undefined }>
}

/** A statement that did not succeed. `sqlState` is undefined when the server never answered. */
export class StatementFailed extends Error {
  readonly sqlState: string | undefined

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    const code = (cause as { code?: unknown } | null)?.code
    this.sqlState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
  }

  /** The server gave way to another session; the same transaction may be run again. */
  get isContention(): boolean {
    return ['40001', '40P01', '55P03'].includes(this.sqlState ?? '')
  }
}
