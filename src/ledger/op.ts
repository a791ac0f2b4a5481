// Work inside a transaction: what every verb of the port returns.

/**
 * Work inside a transaction, written as a generator: SQLite runs it synchronously, PostgreSQL awaits each request, and both run the same
 * text. Its yields are internal to the ledger; `yield*` the verbs of `Tx` only.
 */
export type Op<R> = Generator<unknown, R, any>
