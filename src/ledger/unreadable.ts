// A stored JSON text that is none: something else than errand has written it. In a task a value stands for it, so that one such row
// keeps no other from being read, and the task can still be looked at, canceled and deleted. Written back, it is the text that it was.
import { clipped } from '../core/storable-text.ts'

const texts = new WeakMap<object, string>()

/** Makes a value the stand-in for a text. */
export function standingFor<T extends object>(text: string, value: T): T {
  texts.set(value, text)
  return value
}

/** What is shown in place of a value of any kind. */
export function unreadableValue(text: string): object {
  return { unreadable: clipped(text, 200) }
}

/** The text that a value stands for; undefined for any other value. */
export function unreadableText(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? texts.get(value) : undefined
}

/** Names of the fields of a record that could not be read. */
export function unreadableFields(record: object): string[] {
  const found: string[] = []
  // Asked of every task that starts.
  for (const field in record) if (unreadableText(record[field as keyof typeof record]) !== undefined) found.push(field)
  return found
}
