// Reads a list to its end, page by page, so that no limit of a statement silently cuts it.
import type { Op } from './ledger.ts'

const rowsAtOnce = 1_000

/** All rows of a list in the order of `seq` (rising, above 0), or those that pass the filter. They are held in memory together. */
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
