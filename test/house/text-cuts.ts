// Texts are cut by `startOf` and `clipped` (src/core/storable-text.ts), because half of a surrogate pair cannot be stored and is shown as
// a box. The reader of source knows no types, so a text is what the file says is one: by an annotation, a test with typeof, a name that
// always means a text, a call that returns one, or its place in a template. Lists and positions that were found are not caught.
import type { SourceFile } from './source.ts'

const helper = 'src/core/storable-text.ts'

/** A cut at a length: a number, or what is called a maximum or a limit. Other ends are positions that were found in the text. */
const cut = /\.(?:slice|substring|substr)\(\s*0,\s*((?:[^()]|\([^()]*\))*?)\s*\)/g
const isLength = /^[\d_]+$|\b(?:max\w*|limit|\w*Length|columns|characters|width)\b/
const alwaysTexts =
  /^(?:text|line|message|name|goal|title|description|content|body|reason|question|note|label|statement|summary|url)$/
/** Digits in hexadecimal. */
const isDigest = /(?:\bsha256\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\bdigest\([^()]*\))$/
const returnsText = /\b(?:trim|trimEnd|trimStart|replace|replaceAll|toString|stringify|text|String|clean\w*)\($/

export function cutsOfTexts(files: SourceFile[]): string[] {
  return files
    .filter((file) => file.path !== helper && !file.path.startsWith('src/testing/'))
    .flatMap((file) =>
      Array.from(file.code.matchAll(cut)).flatMap((match) => {
        const before = file.code.slice(0, match.index)
        const after = file.code.slice(match.index + match[0].length)
        const length = match[1] as string
        if (length.startsWith('-') || !isLength.test(length) || after.startsWith('.toWellFormed()')) return []
        if (isDigest.test(before) || !(isWholePart(before, after) || isText(before, file))) return []
        return [`${file.path}:${before.split('\n').length} cuts a text with slice; use startOf or clipped`]
      }),
    )
}

/** The cut ends a part of a template, as in `${text.slice(0, max)}…`. */
function isWholePart(before: string, after: string): boolean {
  return after.startsWith('}') && /[`} ]\s*\{[^{};,]*$/.test(before)
}

function isText(before: string, { code, text }: SourceFile): boolean {
  const receiver = before.replace(/\?$/, '').trimEnd()
  if (receiver.endsWith(')')) return returnsText.test(receiver.slice(0, openingOf(receiver) + 1))
  if (/\.split\([^()]*\)(?:\?\.)?\[\d+\]$/.test(receiver)) return true
  const name = /[A-Za-z_$][\w$]*$/.exec(receiver)?.[0]
  if (name === undefined) return false
  const word = name.replace('$', String.raw`\$`)
  if (declares(code, word, String.raw`(?:readonly [\w<>]+\[\]|[\w<>]+\[\]|(?:Readonly)?Array<)`)) return false
  return (
    alwaysTexts.test(name) ||
    declares(code, word, String.raw`string\b(?!\[)`) ||
    isTested(text.slice(0, before.length), word)
  )
}

function declares(code: string, name: string, type: string): boolean {
  return new RegExp(String.raw`(?<![\w$])${name}\??: ${type}`).test(code)
}

/** The nearest test before the cut says that it is a text. */
function isTested(before: string, name: string): boolean {
  return before.lastIndexOf(`typeof ${name} === 'string'`) > before.lastIndexOf(`Array.isArray(${name})`)
}

/** The position of the bracket that the last one closes. */
function openingOf(receiver: string): number {
  let depth = 0
  for (let at = receiver.length - 1; at >= 0; at--) {
    if (receiver[at] === ')') depth++
    else if (receiver[at] === '(' && --depth === 0) return at
  }
  return -1
}
