// Whether a regular expression can take time that grows faster than the text: a repetition inside of another one lets the engine share
// out the same letters in ever so many ways before it gives up. A repeated part is harmless when it begins with letters that nothing
// else in it takes: then there is but one way to share them out.

interface Group {
  /** What stands in it, piece by piece: letters, classes, escapes, and whole groups as their own text. */
  pieces: string[]
  repeats: boolean
}

/** The first repeated part of a pattern (as it is written, with slashes and flags) that repeats something itself; undefined for none. */
export function nestedRepetition(written: string): string | undefined {
  const pattern = written.slice(1, written.lastIndexOf('/'))
  const above: Group[] = []
  let group: Group = { pieces: [], repeats: false }
  for (let at = 0; at < pattern.length; ) {
    const piece = pieceAt(pattern, at)
    at += piece.length
    if (piece.startsWith('(')) {
      above.push(group)
      group = { pieces: [], repeats: false }
      continue
    }
    const closed = piece === ')' ? group : undefined
    if (closed !== undefined) group = above.pop() ?? group
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})[?+]?/.exec(pattern.slice(at))?.[0] ?? ''
    at += quantifier.length
    const repeated = isEndless(quantifier)
    const text = closed === undefined ? piece : `(${closed.pieces.join('')})`
    if (repeated && closed?.repeats && !isLedByItsOwnLetters(closed.pieces)) return `${text}${quantifier}`
    group.repeats ||= repeated || closed?.repeats === true
    group.pieces.push(`${text}${quantifier}`)
  }
  return undefined
}

/** So often that it does not matter whether there is an end. */
function isEndless(quantifier: string): boolean {
  if (/^[*+]/.test(quantifier)) return true
  const [, least = '', comma, most = ''] = /^\{(\d+)(,)?(\d*)\}/.exec(quantifier) ?? []
  return least !== '' && (comma === undefined ? Number(least) : most === '' ? Infinity : Number(most)) > 10
}

/** A class, an escape, the head of a group, or one letter. */
function pieceAt(pattern: string, at: number): string {
  const rest = pattern.slice(at)
  const shapes = [
    /^\((?:\?(?:[:=!]|<[=!]|<\w+>|[a-z-]+:))?/,
    /^\[(?:[^\]\\]|\\.)*\]/s,
    /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|k<\w+>|.)/s,
  ]
  for (const shape of shapes) {
    const piece = shape.exec(rest)?.[0]
    if (piece !== undefined) return piece
  }
  return rest.charAt(0)
}

const letters = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code))

/** One letter, or one of a class, that must be there, once. */
function isLedByItsOwnLetters(pieces: readonly string[]): boolean {
  const [first = '', ...others] = pieces
  if (pieces.includes('|') || first.startsWith('(') || pieceAt(first, 0) !== first) return false
  const leading = letters.filter((letter) => takes(first, letter))
  return leading.length > 0 && others.every((piece) => !leading.some((letter) => takes(piece, letter)))
}

function takes(piece: string, letter: string): boolean {
  try {
    return new RegExp(piece, 's').test(letter)
  } catch {
    return true
  }
}
