// Finds regular expressions whose time can grow faster than the text: with a repetition inside of another one there are many ways to match the
// same letters, and all are tried. A repeated part is harmless if it begins with letters that no other piece of it matches, because then there
// is only one way.

interface Group {
  /** Its pieces: letters, classes, escapes, and whole groups as text. */
  pieces: string[]
  repeats: boolean
}

/** The first repeated part of a pattern that contains a repetition; undefined for none. `literal` includes slashes and flags. */
export function nestedRepetition(literal: string): string | undefined {
  const pattern = literal.slice(1, literal.lastIndexOf('/'))
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
    const repeated = isUnbounded(quantifier)
    const text = closed === undefined ? piece : `(${closed.pieces.join('')})`
    if (repeated && closed?.repeats && !isLedByItsOwnLetters(closed.pieces)) return `${text}${quantifier}`
    group.repeats ||= repeated || closed?.repeats === true
    group.pieces.push(`${text}${quantifier}`)
  }
  return undefined
}

/** Unbounded, or with a bound too high to matter. */
function isUnbounded(quantifier: string): boolean {
  if (/^[*+]/.test(quantifier)) return true
  const [, min = '', comma, max = ''] = /^\{(\d+)(,)?(\d*)\}/.exec(quantifier) ?? []
  return min !== '' && (comma === undefined ? Number(min) : max === '' ? Infinity : Number(max)) > 10
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

/** Whether the first piece is one required letter or class that no other piece matches. */
function isLedByItsOwnLetters(pieces: readonly string[]): boolean {
  const [first = '', ...others] = pieces
  if (pieces.includes('|') || first.startsWith('(') || pieceAt(first, 0) !== first) return false
  const leading = letters.filter((letter) => matches(first, letter))
  return leading.length > 0 && others.every((piece) => !leading.some((letter) => matches(piece, letter)))
}

function matches(piece: string, letter: string): boolean {
  try {
    return new RegExp(piece, 's').test(letter)
  } catch {
    return true
  }
}
