// A stored JSON text that cannot be parsed: another program has written it. In a task a value replaces it, so that such a row does not
// prevent others from being read, and the task can still be shown, canceled and deleted. Written back, it is the same text again.
import { clipped } from '../core/storable-text.ts'

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
