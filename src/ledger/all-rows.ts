// Reading a list to its end, for those that need it whole: page by page, so that no statement's limit is silently the end of it.
import type { Op } from './ledger.ts'

const rowsAtOnce = 1_000

/**
 * All rows of a list that is read in the order of `seq`, which rises and is above 0, or those of them that are wanted. They are held
 * together in memory.
 */
export function* everyRow<T extends { seq: number }>(
  page: (after: number, limit: number) => Op<T[]>,
  isWanted: (row: T) => boolean = () => true,
): Op<T[]> {
  const found: T[] = []
  for (let after = 0; ; ) {
    const rows = yield* page(after, rowsAtOnce)
    for (const row of rows) if (isWanted(row)) found.push(row)
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsAtOnce) return found
    after = last.seq
  }
}
