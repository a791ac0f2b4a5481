// Long texts in short ones: what a summary or an episode quotes of them.

/** At most so many characters, on one line. */
export function shortened(text: string, characters: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= characters ? line : `${line.slice(0, characters - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
