// Quotes suggested commands for a POSIX shell, so that people can copy them.

function shellQuote(word: string): string {
  return /^[\w@%+=:,./#-]+$/.test(word) && !word.startsWith('#') ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

export function shellCommand(...words: string[]): string {
  return words.map(shellQuote).join(' ')
}
