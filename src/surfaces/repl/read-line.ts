// Parses a line of the REPL: a message for a task (`@ref text`), a command (`/verb …`), or JavaScript. A regular expression begins
// like a command; a line is one if its first word is not a verb and a second slash follows.

export type Line = { kind: 'message'; ref: string; text: string } | { kind: 'command'; verb: string; rest: string }

const messagePattern = /^@(?:"([^"\n]+)"|([^\s"@]+))(?:\s+([\s\S]*))?$/
const commandPattern = /^\/([a-z][a-z-]*)(?:\s+([\s\S]*))?$/

/** Returns undefined for JavaScript. */
export function readLine(text: string, isVerb: (word: string) => boolean): Line | undefined {
  const line = text.trim()
  if (line.startsWith('@')) {
    const [, quoted, bare, message = ''] = messagePattern.exec(line) ?? []
    return { kind: 'message', ref: quoted ?? bare ?? '', text: message.trim() }
  }
  const [, verb, rest = ''] = commandPattern.exec(line) ?? []
  if (verb === undefined || (!isVerb(verb) && rest.includes('/'))) return undefined
  return { kind: 'command', verb, rest: rest.trim() }
}

/** The next word of a command, which may be quoted, and the rest; undefined at the end. */
export function takeWord(text: string): { word: string; rest: string } | undefined {
  const [, double, single, bare, rest = ''] = /^\s*(?:"([^"]*)"|'([^']*)'|(\S+))([\s\S]*)$/.exec(text) ?? []
  const word = double ?? single ?? bare
  return word === undefined ? undefined : { word, rest: rest.trim() }
}

/** All words of a command. */
export function wordsOf(text: string): string[] {
  const words: string[] = []
  for (let left = takeWord(text); left !== undefined; left = takeWord(left.rest)) words.push(left.word)
  return words
}
