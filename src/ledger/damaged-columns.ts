// A stored JSON text that cannot be parsed: another program has written it. In a task a value replaces it, so that such a row does not
// prevent others from being read, and the task can still be shown, canceled and deleted. Written back, it is the same text again.
import { ErrandError } from '../core/errors.ts'
import { clipped } from '../core/storable-text.ts'
import { messageOf } from '../core/stored-error.ts'

const texts = new WeakMap<object, string>()

/** Marks a value as the replacement of a text. */
export function standingFor<T extends object>(text: string, value: T): T {
  texts.set(value, text)
  return value
}

/** What is shown instead of a value of any kind. */
export function unreadableValue(text: string): object {
  return { unreadable: clipped(text, 200) }
}

/** The text that a value replaces; undefined for any other value. */
export function unreadableText(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? texts.get(value) : undefined
}

/** Names of the fields of a record that could not be read. */
export function unreadableFields(record: object): string[] {
  const found: string[] = []
  // Checked for every task that starts.
  for (const field in record) if (unreadableText(record[field as keyof typeof record]) !== undefined) found.push(field)
  return found
}

/** The error of a row with a text that is not JSON, where no value may stand for it. */
export function unreadableRow(
  table: string,
  column: string,
  row: Record<string, unknown>,
  cause: unknown,
): ErrandError {
  const keys = ['id', 'seq', 'taskId', 'number', 'n', 'name', 'board'].filter((key) => typeof row[key] !== 'object')
  const named = Object.fromEntries(keys.flatMap((key) => (row[key] === undefined ? [] : [[key, row[key]]])))
  return new ErrandError(
    'LEDGER_CORRUPT',
    `A row of the ledger cannot be read: column ${column} of ${table} ${JSON.stringify(named)} is not JSON (${messageOf(cause)}). Another program has written it: correct it with sqlite3, or restore a backup.`,
    { table, column, ...named },
    cause,
  )
}
