// What ledgers on a server have yet to answer, for tests that let an engine come to rest: a server answers after any number of turns of the
// event loop.
const underWay = new Set<Promise<unknown>>()

export function noteUnderWay<R>(work: Promise<R>): Promise<R> {
  underWay.add(work)
  const end = () => underWay.delete(work)
  work.then(end, end)
  return work
}

/** Resolves when no ledger on a server has an answer to give. */
export async function ledgersAtRest(): Promise<void> {
  while (underWay.size > 0) await Promise.allSettled(underWay)
}
