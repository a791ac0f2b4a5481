// Commands that people can copy. Whatever is shown as "type this" is quoted for a POSIX shell.

export function shellQuote(word: string): string {
  return /^[\w@%+=:,./#-]+$/.test(word) && !word.startsWith('#') ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

export function shellCommand(...words: string[]): string {
  return words.map(shellQuote).join(' ')
}
