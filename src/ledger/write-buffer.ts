// The buffer of a step: its writes are kept until it ends, or until it reads something else than a row by its id, or several rows at once. A
// record that it has read or written is answered from here, as the database would return it. A step that is refused before it wrote to the
// database only loses its buffer.
import { isSeveral, type Op } from './op.ts'
import { type Asked, type ByKey, narrowed, type Request } from './statement.ts'

type Fields = Record<string, unknown>

/** A record and the writes to it since; combined only when it is read again, which is rare. */
interface Known {
  record: Fields
  writes: Request[]
  /** A new record, until the database has numbered it. */
  unnumbered: boolean
}

/** The records of a table that have been read or written, by the values of their keys. */
interface KnownTable {
  keys: string
  records: Map<unknown, Known>
}

/** Work with a buffer: yields only what the database has to run. Several requests at once do not depend on each other's replies. */
export function* buffered<R>(op: Op<R>): Generator<Asked, R, unknown> {
  const buffer = new WriteBuffer()
  let next = op.next()
  while (!next.done) {
    const asked = next.value as Asked
    let reply: unknown
    try {
      if (isSeveral(asked)) reply = yield* readSeveral(asked, buffer)
      else if (asked.deferred) buffer.add(asked)
      else reply = buffer.answer(asked) ?? (yield* read(asked, buffer))
    } catch (error) {
      next = op.throw(error)
      continue
    }
    next = op.next(reply)
  }
  yield* flush(buffer)
  return next.value
}

function* read(request: Request, buffer: WriteBuffer): Generator<Asked, unknown, unknown> {
  if (!buffer.isEmpty) {
    yield* flush(buffer)
    // A new record is known once it was written.
    const known = buffer.answer(request)
    if (known !== undefined) return known
  }
  const reply = yield request
  buffer.noteReply(request, reply)
  return reply
}

function* readSeveral(requests: readonly Request[], buffer: WriteBuffer): Generator<Asked, unknown[], unknown> {
  yield* flush(buffer)
  const known = requests.map((request) => buffer.answer(request))
  const found = (yield requests.filter((_, at) => known[at] === undefined)) as unknown[]
  const replies = known.map((reply) => reply ?? found.shift())
  // Only now: a row becomes a record when its reader receives it. Until then no other read may be answered from it.
  for (const [at, request] of requests.entries()) if (known[at] === undefined) buffer.noteReply(request, replies[at])
  return replies
}

function* flush(buffer: WriteBuffer): Generator<Asked, void, unknown> {
  const writes = buffer.take()
  if (writes.length === 0) return
  const replies = (yield writes) as unknown[]
  for (const [at, write] of writes.entries()) buffer.noteReply(write, replies[at])
}

/** The reply to a read by id that is answered from the buffer: a record, not a row to be converted. */
export class KnownRecord {
  readonly record: Fields

  constructor(record: Fields) {
    this.record = record
  }
}

export class WriteBuffer {
  #writes: Request[] = []
  readonly #tables = new Map<string, KnownTable>()

  /** Keeps a write for later. Of a record that is known, it writes only the fields that change. */
  add(given: Request): void {
    const write = this.#narrowed(given)
    if (write === undefined) return
    this.#writes.push(write)
    const { byKey, inserts } = write.statement ?? {}
    if (!inserts) this.#change(write)
    else if (byKey !== undefined) {
      const record = write.values as Fields
      this.#keep(byKey, write, { record, writes: [], unnumbered: write.want === 'seq' })
    }
  }

  get isEmpty(): boolean {
    return this.#writes.length === 0
  }

  /** Returns the kept writes, in order, to be run now. */
  take(): readonly Request[] {
    const writes = this.#writes
    if (writes.length > 0) this.#writes = []
    return writes
  }

  /** The result of a read by id, if it is known. */
  answer(request: Request): KnownRecord[] | undefined {
    const known = this.#find(request)
    if (known === undefined || known.unnumbered) return undefined
    return [new KnownRecord({ ...current(known) })]
  }

  /** Whether a read by id asks for a new record that the database has not numbered yet. */
  isUnnumbered(request: Request): boolean {
    return this.#find(request)?.unnumbered === true
  }

  /** Records that a request was run, at once or from the buffer. The reader converts a found row into its record in place. */
  noteReply(request: Request, reply: unknown): void {
    const { want, deferred, statement, records } = request
    if (records !== undefined) this.#keepAll(records, reply as Fields[])
    else if (want === 'rows') {
      const [record] = reply as Fields[]
      if (statement?.byKey === undefined || record === undefined) return
      this.#keep(statement.byKey, request, { record, writes: [], unnumbered: false })
    } else if (!deferred) {
      if (!statement?.inserts) this.#change(request)
    } else if (want === 'seq') {
      const known = this.#find(request)
      if (known?.unnumbered) Object.assign(known, { record: { seq: reply, ...known.record }, unnumbered: false })
    }
  }

  /** Applies the write to its record; after a set statement no record of the table is known any more. */
  #change(write: Request): void {
    const { changes, byKey } = write.statement ?? {}
    if (changes === undefined) this.#tables.clear()
    else if (byKey?.keys !== this.#tables.get(changes)?.keys) this.#tables.delete(changes)
    else this.#find(write)?.writes.push(write)
  }

  /** The part of a write that changes its record; undefined if nothing changes, unless the write counts as a new version. */
  #narrowed(write: Request): Request | undefined {
    const { narrowed: forms, byKey } = write.statement ?? {}
    const known = forms && this.#find(write)
    if (forms === undefined || known === undefined) return write
    const record = current(known)
    const values = write.values as Fields
    const changed = forms.fields.filter((name) => (values[name] ?? null) !== (record[name] ?? null))
    if (changed.length === forms.fields.length) return write
    return changed.length === 0 && byKey?.counted !== true ? undefined : narrowed(write, forms, changed)
  }

  #find({ statement, parameters }: Request): Known | undefined {
    const key = statement?.byKey
    const table = key && this.#tables.get(key.table)
    return table?.keys === key?.keys ? table?.records.get(keyValue(key as ByKey, parameters)) : undefined
  }

  /** The rows of a list, by their ids, unless the table is known by other keys. A record that has been written since stays as it is. */
  #keepAll(name: string, rows: readonly Fields[]): void {
    const table = this.#tables.get(name) ?? { keys: 'id', records: new Map<unknown, Known>() }
    if (table.keys !== 'id') return
    this.#tables.set(name, table)
    for (const record of rows) {
      if (!table.records.has(record['id'])) table.records.set(record['id'], { record, writes: [], unnumbered: false })
    }
  }

  #keep(key: ByKey, { parameters }: Request, known: Known): void {
    let table = this.#tables.get(key.table)
    if (table?.keys !== key.keys) {
      table = { keys: key.keys, records: new Map() }
      this.#tables.set(key.table, table)
    }
    table.records.set(keyValue(key, parameters), known)
  }
}

/** The record with all writes to it. */
function current(known: Known): Fields {
  if (known.writes.length > 0) {
    known.record = known.writes.reduce(written, { ...known.record })
    known.writes = []
  }
  return known.record
}

function keyValue({ places }: ByKey, parameters: readonly unknown[]): unknown {
  return places.length === 1
    ? parameters[places[0] as number]
    : JSON.stringify(places.map((place) => parameters[place]))
}

function written(record: Fields, { statement, values }: Request): Fields {
  for (const name of statement?.names ?? []) if (name !== undefined) record[name] = (values as Fields)[name] ?? null
  if (statement?.byKey?.counted) record['version'] = (record['version'] as number) + 1
  return record
}
