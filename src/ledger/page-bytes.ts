// How much a page of rows may contain: a row can be megabytes, so a page that is counted in rows alone can be as large as the memory of the process.
import type { Op, Page } from './ledger.ts'
import { rows, type Statement } from './statement.ts'

/** The maximum of bytes in the long columns of a page; a single row may have more. */
export const maxPageBytes = 4 * 1024 * 1024

/** How many of the first rows make a page. `sizes` in bytes, in the order of the rows. */
export function fitting(sizes: Iterable<number>): number {
  let count = 0
  let bytes = 0
  for (const size of sizes) {
    bytes += size
    if (count > 0 && bytes > maxPageBytes) break
    count++
  }
  return count
}

/**
 * A page of at most `limit` rows. `sizes` finds the bytes in the long columns of at most `limit` rows, which a database reads without the columns
 * themselves; `list` reads the first rows.
 */
export function* pageOf<T>(
  sizes: Statement,
  values: { limit: number } & Record<string, unknown>,
  list: (limit: number) => Op<T[]>,
): Op<Page<T>> {
  const { limit } = values
  const found = yield* rows<{ bytes: number }>(sizes, { ...values, limit: limit + 1 })
  const fit = fitting(found.slice(0, limit).map(({ bytes }) => Number(bytes)))
  const page = fit === 0 ? [] : yield* list(fit)
  return { rows: page, isLast: page.length === 0 || fit === found.length }
}
