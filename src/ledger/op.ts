// Work inside a transaction: what every verb of the port returns.

/**
 * Work inside a transaction, written as a generator: SQLite runs it synchronously, a server answers what it asks for, and both run the same
 * text. What it yields is internal to the ledger: one request, or an array of reads that is answered by an array. `yield*` the verbs of
 * `Tx`, and `all` of them, only.
 */
export type Op<R> = Generator<unknown, R, any>

/** Whether an Op has yielded several requests at once. */
export const isSeveral = <Request>(asked: Request | readonly Request[]): asked is readonly Request[] =>
  Array.isArray(asked)

type Results<Ops extends ReadonlyArray<Op<unknown>>> = {
  -readonly [I in keyof Ops]: Ops[I] extends Op<infer R> ? R : never
}

/**
 * Runs reads that do not depend on each other, and returns their results in order. On a server their requests share a round trip. If one
 * fails, so do all, and none of them can catch it. @throws TypeError if one writes
 */
export function* all<const Ops extends ReadonlyArray<Op<unknown>>>(ops: Ops): Op<Results<Ops>> {
  const reads = ops.map((op) => ({ op, next: op.next() }))
  for (;;) {
    const open = reads.filter(({ next }) => !next.done)
    if (open.length === 0) return reads.map(({ next }) => next.value) as Results<Ops>
    const requests = open.flatMap(({ next }) => next.value) as Array<{ want?: string }>
    if (requests.some(({ want }) => want !== 'rows')) throw new TypeError('all() runs reads only')
    const replies = (yield requests) as unknown[]
    for (const read of open) {
      const asked = read.next.value
      read.next = read.op.next(Array.isArray(asked) ? replies.splice(0, asked.length) : replies.shift())
    }
  }
}
