// Text that nobody here wrote: of models, of errors, of whatever a tool came upon. It is made fit for every ledger instead of
// being refused, because a refusal would fail a task for a character that no one chose.

/**
 * The text with NUL and halves of surrogate pairs (an answer cut off within an emoji has one) replaced by U+FFFD, so that
 * `checkText` takes it if it is not too long.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD')
}
