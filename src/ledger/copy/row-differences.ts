// What must be written so that a table has the rows of another one. Both are read once, by their keys.

import type { RowChange } from '../copy-target.ts'
import type { StoredRow, TableShape } from '../snapshot.ts'

type Batches = AsyncIterable<readonly StoredRow[]> | Iterable<readonly StoredRow[]>

/** Rows that are read before a change is passed on, also an empty one: for progress. */
const changeRows = 1_000

export interface Difference extends RowChange {
  /** Rows of the original that this covers. */
  readonly read: number
}

/** Compares the rows of `original` with those of `copy`. Both are sorted by key, texts in the order of their bytes. */
export async function* rowDifferences(table: TableShape, original: Batches, copy: Batches): AsyncGenerator<Difference> {
  const wanted = new Rows(original)
  const stored = new Rows(copy)
  let put: StoredRow[] = []
  let remove: StoredRow[] = []
  let read = 0
  for (let [want, have] = [await wanted.next(), await stored.next()]; want !== undefined || have !== undefined; ) {
    const order = want === undefined ? 1 : have === undefined ? -1 : compareKeys(table, want, have)
    if (order > 0) remove.push(have as StoredRow)
    else if (order < 0 || !isEqual(table, want as StoredRow, have as StoredRow)) put.push(want as StoredRow)
    if (order <= 0) {
      read++
      want = await wanted.next()
    }
    if (order >= 0) have = await stored.next()
    if (read + remove.length < changeRows) continue
    yield { put, remove, read }
    put = []
    remove = []
    read = 0
  }
  yield { put, remove, read }
}

/** Rows one by one, out of batches. */
class Rows {
  readonly #batches: AsyncIterator<readonly StoredRow[]> | Iterator<readonly StoredRow[]>
  #batch: readonly StoredRow[] = []
  #at = 0

  constructor(batches: Batches) {
    this.#batches = Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : batches[Symbol.iterator]()
  }

  async next(): Promise<StoredRow | undefined> {
    while (this.#at === this.#batch.length) {
      const { done, value } = await this.#batches.next()
      if (done === true) return undefined
      this.#batch = value
      this.#at = 0
    }
    return this.#batch[this.#at++]
  }
}

function isEqual({ columns }: TableShape, one: StoredRow, other: StoredRow): boolean {
  return columns.every((column) => one[column] === other[column])
}

function compareKeys({ key }: TableShape, one: StoredRow, other: StoredRow): number {
  for (const column of key) {
    const order = compareValues(one[column] ?? null, other[column] ?? null)
    if (order !== 0) return order
  }
  return 0
}

function compareValues(one: string | number | null, other: string | number | null): number {
  if (one === other) return 0
  if (typeof one === 'number' && typeof other === 'number') return one - other
  // JavaScript orders texts by UTF-16 units, which differs from the order of bytes beyond U+D7FF.
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)))
}
