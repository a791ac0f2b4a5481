// How much a page of rows may contain: a row can be megabytes, so a page that is counted in rows alone can be as large as the memory of the process.

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
