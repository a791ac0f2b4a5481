// JSON that a person reads before deciding: what cannot be seen, or moves what can, is written as an escape, so that the text shows all of the value and
// still encodes the same one.

/**
 * Controls, format characters (direction marks and overrides), all that terminals and browsers may show as nothing (zero-width characters, tags,
 * variants, fillers), the blank pattern of Braille, and all white space but the space and the line break.
 */
const invisible = /(?![ \n])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** The JSON text with each invisible character as `\uXXXX`. */
export function visibleJson(json: string): string {
  return json.replace(invisible, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  )
}

const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`

/** Characters that a person can be expected to read. */
export const maxReadLength = 20_000

/**
 * All of an input, for a person who decides about it, as a block of code: a surface that renders Markdown would hide parts of a text. No line of
 * JSON begins with the marks that would end the block. Undefined if it is too long to be read.
 */
export function inputToRead(input: unknown): string | undefined {
  const json = visibleJson(JSON.stringify(input, null, 2))
  return json.length > maxReadLength ? undefined : `\`\`\`json\n${json}\n\`\`\``
}
