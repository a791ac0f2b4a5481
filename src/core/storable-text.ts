// Text from models, errors and tools is repaired instead of refused, because a refusal would fail a task for a character that
// its author did not choose.

/**
 * The text with NUL and halves of surrogate pairs (an answer cut off within an emoji has one) replaced by U+FFFD, so that
 * `checkText` takes it if it is not too long.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD')
}

/** Why not every database keeps the text. */
export function textFault(text: string): string | undefined {
  if (text.includes('\u0000')) return 'it holds a NUL character, which PostgreSQL cannot store'
  if (!text.isWellFormed()) return 'it holds half of a surrogate pair, which no UTF-8 store can keep'
  return undefined
}

/** At most the first `maxLength` UTF-16 units, and never half a surrogate pair: every text that is stored or shown is cut by this. */
export function startOf(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const start = text.slice(0, maxLength)
  return /[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start
}

/** The same, with an ellipsis at the end of a text that is cut. */
export function clipped(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${startOf(text, maxLength - 1)}…`
}
