// Work inside a transaction: what every verb of the port gives back.

/**
 * Work inside a transaction, written as a generator: SQLite runs it synchronously, PostgreSQL awaits each request, and both
 * run the same text. What is yielded is the ledger's own business; `yield*` the verbs of `Tx`, never anything else.
 */
export type Op<R> = Generator<unknown, R, any>
