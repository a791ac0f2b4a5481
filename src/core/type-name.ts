// The word for the type of a value in messages about a wrong one.

/** The type of a value for messages: like `typeof`, but with `null` and `array`. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
