// Text that nobody here wrote: of models, of errors, of whatever a tool came upon. It is made fit for every ledger instead of
// being refused, because a refusal would fail a task for a character that no one chose.

/**
 * The text with NUL and halves of surrogate pairs (an answer cut off within an emoji has one) replaced by U+FFFD, so that
 * `checkText` takes it if it is not too long.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD')
}

/** At most so many UTF-16 units; what is cut ends with an ellipsis, and never with half a letter. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text
  const start = text.slice(0, most - 1)
  return `${/[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start}…`
}
