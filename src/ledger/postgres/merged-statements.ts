// The many form of a statement: the same statement for many rows of values in one execution, made from its text. A statement of another shape
// has none, and is executed once for each.
import type { Request } from '../statement.ts'

/** One execution that answers several requests. */
export interface Many {
  readonly sql: string
  readonly parameters: unknown[]
  /** The reply to each request. */
  repliesOf(rows: unknown[]): Reply[]
}

/** `rows`: of an insert that numbers its rows, `{ seq }`. `changes`: the number of rows that were written. */
export interface Reply {
  readonly rows: unknown[]
  readonly changes: number
}

interface InsertForm {
  sql: string
  columns: readonly string[]
  places: readonly number[]
  wantsSeq: boolean
}

interface UpdateForm {
  sql: string
  /** The column whose type each value has. */
  columns: readonly string[]
}

const inserts = new Map<string, InsertForm | undefined>()
const updates = new Map<string, UpdateForm | undefined>()

/** Of equal statements that write. Undefined if there is none. */
export function manyWrites(requests: readonly Request[]): Many | undefined {
  const [{ sql }] = requests as [Request]
  const insert = made(inserts, sql, insertForm)
  if (insert !== undefined) return manyInserted(insert, requests)
  const update = made(updates, sql, updateForm)
  if (update === undefined) return undefined
  const rows = requests.map(({ parameters }) =>
    Object.fromEntries(update.columns.map((column, at) => [column, parameters[at]])),
  )
  return {
    sql: update.sql,
    parameters: [JSON.stringify(rows)],
    repliesOf(found) {
      const changes = requests.map(() => 0)
      for (const { i } of found as Array<{ i: number }>) changes[i - 1] = (changes[i - 1] as number) + 1
      return changes.map((each) => ({ rows: [], changes: each }))
    },
  }
}

function made<F>(forms: Map<string, F>, sql: string, make: (sql: string) => F): F {
  if (!forms.has(sql)) forms.set(sql, make(sql))
  return forms.get(sql) as F
}

function insertForm(sql: string): InsertForm | undefined {
  const found = /^insert into "(\w+)" \(([^()]*)\) values \((\$\d+(?:, \$\d+)*)\)( returning "seq")?$/.exec(sql)
  if (found === null) return undefined
  const [, table, list = '', holes = '', wantsSeq] = found
  const columns = list.split(', ').map((column) => column.replaceAll('"', ''))
  // By the id of its record, because the order of returned rows is not promised.
  if (wantsSeq !== undefined && !columns.includes('id')) return undefined
  return {
    sql: `insert into "${table}" (${list}) select ${list} from json_populate_recordset(null::"${table}", $1::json)${wantsSeq === undefined ? '' : ' returning "seq", "id"'}`,
    columns,
    places: holes.split(', ').map((hole) => Number(hole.slice(1)) - 1),
    wantsSeq: wantsSeq !== undefined,
  }
}

function manyInserted({ sql, columns, places, wantsSeq }: InsertForm, requests: readonly Request[]): Many {
  const rows = requests.map(({ parameters }) =>
    Object.fromEntries(columns.map((column, at) => [column, parameters[places[at] as number]])),
  )
  return {
    sql,
    parameters: [JSON.stringify(rows)],
    repliesOf(found) {
      if (!wantsSeq) return requests.map(() => ({ rows: [], changes: 1 }))
      const seqs = new Map((found as Array<{ id: string; seq: number }>).map(({ id, seq }) => [id, seq]))
      return rows.map((row) => ({ rows: [{ seq: seqs.get(row['id'] as string) }], changes: 1 }))
    },
  }
}

function updateForm(sql: string): UpdateForm | undefined {
  const found = /^update "?(\w+)"?\s+set (.+?) where (.+)$/s.exec(sql)
  if (found === null || /\b(?:select|from)\b/.test(sql)) return undefined
  const [, table] = found
  const columns: string[] = []
  for (const [, column = '', hole] of sql.matchAll(/"?(\w+)"? (?:=|\+) \$(\d+)/g)) columns[Number(hole) - 1] = column
  const holes = sql.match(/\$\d+/g)?.length
  if (columns.length !== holes || new Set(columns).size !== holes || columns.includes(undefined as never))
    return undefined
  const values = columns.map((column, at) => `"${column}" as p${at + 1}`).join(', ')
  const from = ` from (select ${values}, ordinality as i from json_populate_recordset(null::"${table}", $1::json) with ordinality) as v where `
  const filled = sql.replace(/\$(\d+)/g, 'v.p$1')
  return { sql: `${filled.replace(/ where /, from)} returning v.i`, columns }
}

/** Of equal statements that read. */
export function manyReads(requests: readonly Request[]): Many {
  const [{ sql, parameters: first }] = requests as [Request]
  // What is the same for all stays a value of its own: a limit may be nothing else.
  const shared = first.map((value, at) => requests.every(({ parameters }) => parameters[at] === value))
  const types = first.map((_value, at) => typeOf(requests.map(({ parameters }) => parameters[at])))
  const own: string[] = []
  const values: unknown[] = []
  const text = sql.replace(/\$(\d+)/g, (_hole, digits: string) => {
    const at = Number(digits) - 1
    if (!shared[at]) {
      const column = `p${digits} ${types[at]}`
      if (!own.includes(column)) own.push(column)
      return `k.p${digits}`
    }
    values.push(first[at])
    return `$${values.length + 1}`
  })
  const columns = ['i int', ...own].join(', ')
  const rows = requests.map(({ parameters }, i) => ({
    i,
    ...Object.fromEntries(parameters.flatMap((value, at) => (shared[at] ? [] : [[`p${at + 1}`, value]]))),
  }))
  return {
    sql: `select k.i as "~", q.* from json_to_recordset($1::json) as k(${columns}) cross join lateral (${text}) as q`,
    parameters: [JSON.stringify(rows), ...values],
    repliesOf(found) {
      const replies = requests.map((): { rows: unknown[]; changes: number } => ({ rows: [], changes: 0 }))
      for (const row of found as Array<Record<string, unknown>>) {
        const i = row['~'] as number
        delete row['~']
        replies[i]?.rows.push(row)
      }
      return replies
    },
  }
}

function typeOf(values: readonly unknown[]): 'text' | 'bigint' | 'float8' {
  if (!values.some((value) => typeof value === 'number')) return 'text'
  return values.every((value) => typeof value !== 'number' || Number.isSafeInteger(value)) ? 'bigint' : 'float8'
}

/** By statement: the places of its limits and offsets. */
const limits = new Map<string, readonly number[]>()

/** A limit or an offset may not differ between the requests of one execution. */
export function readKey({ sql, parameters }: Request): string {
  const places = made(limits, sql, limitPlaces)
  return places.length === 0 ? sql : `${sql} ${places.map((at) => parameters[at]).join()}`
}

function limitPlaces(sql: string): number[] {
  return Array.from(sql.matchAll(/\b(?:limit|offset) \$(\d+)/g), ([, hole]) => Number(hole) - 1)
}
