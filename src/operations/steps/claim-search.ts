// A claim may have to look at any number of claimable tasks that do not match it. A step looks at some of them. Then all are searched in a read,
// which gives way to other work, and the step runs again with what the read found.
import { readForProgram } from '../../bus/read-principal.ts'
import { nextTurn } from '../../core/turns.ts'
import type { ClaimFilter, Op, Reads } from '../../ledger/ledger.ts'

/** More than one: other clients claim what is found too. */
const maxFound = 20

class SearchNeeded extends Error {
  readonly filter: ClaimFilter

  constructor(filter: ClaimFilter) {
    super('A claim must look at more tasks than its step may.')
    this.filter = filter
  }
}

/** Refuses the step of a claim; `claimSearching` makes it again. */
export function searchNeeded(filter: ClaimFilter): never {
  throw new SearchNeeded(filter)
}

/**
 * Makes a claim, and searches for it between two attempts if necessary. It takes the best task of the time of the search that is still
 * claimable, or one that this claim itself frees because its lease has ended, or none if there was none at that time.
 * @param attempt receives what the search found, as `among` of its request
 */
export async function claimSearching<R>(
  host: { read<T>(query: (tx: Reads) => Op<T>): Promise<T> },
  attempt: (among: readonly string[] | undefined) => Promise<R>,
): Promise<R> {
  let among: string[] | undefined
  for (;;) {
    try {
      return await attempt(among)
    } catch (error) {
      if (!(error instanceof SearchNeeded)) throw error
      await nextTurn()
      // For the program: a claim is not refused because its client has many reads waiting.
      const found = await readForProgram(() => host.read((tx) => tx.task.claimable(error.filter, maxFound)))
      among = (found ?? []).map(({ id }) => id)
    }
  }
}
