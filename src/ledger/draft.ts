// What a step has decided and what it knows: its writes are kept until it is over, or until it reads something else than a row by its
// id. A row that it has read or written is answered from here, as the database would return it by now. A step that is refused before
// anything was written loses its draft, and that is all.
import type { Request, Statement } from './statement.ts'

type Row = Record<string, unknown>

interface Known {
  keys: readonly string[]
  /** As they are stored, by the values of the keys. */
  rows: Map<string, Row>
}

export class Draft {
  #writes: Request[] = []
  /** By table. */
  readonly #known = new Map<string, Known>()

  /** Keeps a write for later. */
  add(write: Request): void {
    this.#writes.push(write)
    this.noteWrite(write)
  }

  /** The writes that were kept, in order: they are to be run now. */
  take(): readonly Request[] {
    const writes = this.#writes
    if (writes.length > 0) this.#writes = []
    return writes
  }

  /** What a read by id finds, if that is known. */
  answer({ statement, parameters }: Request): Row[] | undefined {
    const known = statement && this.#knownBy(statement)
    const row = known?.rows.get(keyOf(statement as Statement, parameters))
    // A copy: a row is turned into the record in place.
    return row && [{ ...row }]
  }

  noteRead({ statement, parameters }: Request, [row]: readonly Row[]): void {
    if (statement?.byKey === undefined || row === undefined) return
    const { table, keys } = statement.byKey
    if (!this.#known.has(table)) this.#known.set(table, { keys, rows: new Map() })
    this.#knownBy(statement)?.rows.set(keyOf(statement, parameters), { ...row })
  }

  /** One row follows the write; of a table that a set statement has written nothing is known any more. */
  noteWrite({ statement, parameters }: Request): void {
    if (statement?.inserts) return
    if (statement?.changes === undefined) this.#known.clear()
    else if (this.#knownBy(statement) === undefined) this.#known.delete(statement.changes)
    else this.#change(statement, parameters)
  }

  #change(statement: Statement, parameters: readonly unknown[]): void {
    const row = this.#knownBy(statement)?.rows.get(keyOf(statement, parameters))
    if (row === undefined) return
    for (const [index, name] of statement.names.entries()) if (name !== undefined) row[name] = parameters[index]
    if (statement.byKey?.counted) row['version'] = (row['version'] as number) + 1
  }

  /** What is known of a table by the very keys that a statement goes by. */
  #knownBy({ byKey }: Statement): Known | undefined {
    const known = byKey && this.#known.get(byKey.table)
    return known?.keys.join() === byKey?.keys.join() ? known : undefined
  }
}

function keyOf({ byKey, names }: Statement, parameters: readonly unknown[]): string {
  const values = byKey?.keys.map((key) => parameters[names.indexOf(key)])
  return values?.length === 1 ? String(values[0]) : JSON.stringify(values)
}
