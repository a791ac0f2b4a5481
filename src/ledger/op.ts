// Work inside a transaction: what every verb of the port returns.

/**
 * Work inside a transaction, written as a generator: SQLite runs it synchronously, PostgreSQL awaits each request, and both run the same
 * text. Its yields are internal to the ledger; `yield*` the verbs of `Tx` only.
 */
export type Op<R> = Generator<unknown, R, any>

type Results<Ops extends ReadonlyArray<Op<unknown>>> = {
  -readonly [I in keyof Ops]: Ops[I] extends Op<infer R> ? R : never
}

/** Runs reads that do not depend on each other, and returns their results in order. On a server their requests share a round trip. */
export function* all<const Ops extends ReadonlyArray<Op<unknown>>>(ops: Ops): Op<Results<Ops>> {
  const reads = ops.map((op) => ({ op, next: op.next() }))
  for (;;) {
    const open = reads.filter(({ next }) => !next.done)
    if (open.length === 0) return reads.map(({ next }) => next.value) as Results<Ops>
    const replies = (yield open.flatMap(({ next }) => next.value)) as unknown[]
    for (const read of open) {
      const asked = read.next.value
      read.next = read.op.next(Array.isArray(asked) ? replies.splice(0, asked.length) : replies.shift())
    }
  }
}
