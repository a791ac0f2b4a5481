// Reads source files for the house rules: separates comments, string literals and code, and finds the imports. Written by hand, with just enough
// of the language for that, because TypeScript 7 has no parser API.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'

export interface SourceFile {
  /** From the root of the repository, with forward slashes: `src/ledger/ledger.ts`. */
  path: string
  text: string
  /** The text with comments and the insides of literals blanked out; every character keeps its position. */
  code: string
  literals: string[]
  /** Regular expression literals, with slashes and flags. */
  patterns: string[]
  /** Imported specifiers, in any form: `from`, bare `import`, `import()`, `require()`, `import('…').Type`. */
  imports: string[]
}

interface Token {
  kind: 'space' | 'comment' | 'literal' | 'regex' | 'word' | 'punctuation'
  text: string
  start: number
}

const shapes = {
  space: /\s+/y,
  comment: /\/\/[^\n]*|\/\*[\s\S]*?\*\//y,
  string: /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y,
  template: /[`}](?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y,
  regex: /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y,
  word: /[\w$#@]+/y,
}

const wordsBeforeRegex = /^(?:return|typeof|case|in|of|delete|void|throw|new|instanceof|yield|await|else|do)$/

function matchAt(shape: RegExp, text: string, at: number): string | undefined {
  shape.lastIndex = at
  return shape.exec(text)?.[0]
}

function regexMayFollow(previous: Token | undefined): boolean {
  if (previous === undefined) return true
  if (previous.kind === 'word') return wordsBeforeRegex.test(previous.text)
  return previous.kind === 'punctuation' && !/[)\]}]/.test(previous.text)
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  const braces: ('block' | 'template')[] = []
  let previous: Token | undefined
  let at = 0

  const next = (): Omit<Token, 'start'> => {
    const space = matchAt(shapes.space, text, at)
    if (space) return { kind: 'space', text: space }
    const comment = matchAt(shapes.comment, text, at)
    if (comment) return { kind: 'comment', text: comment }
    const string = matchAt(shapes.string, text, at)
    if (string) return { kind: 'literal', text: string }
    if (text[at] === '`' || (text[at] === '}' && braces.at(-1) === 'template')) {
      const chunk = matchAt(shapes.template, text, at) ?? text.slice(at)
      if (chunk.startsWith('}')) braces.pop()
      if (chunk.endsWith('${')) braces.push('template')
      return { kind: 'literal', text: chunk }
    }
    const regex = regexMayFollow(previous) ? matchAt(shapes.regex, text, at) : undefined
    if (regex) return { kind: 'regex', text: regex }
    const word = matchAt(shapes.word, text, at)
    if (word) return { kind: 'word', text: word }
    if (text[at] === '{') braces.push('block')
    if (text[at] === '}') braces.pop()
    return { kind: 'punctuation', text: text.charAt(at) }
  }

  while (at < text.length) {
    const token: Token = { ...next(), start: at }
    tokens.push(token)
    if (token.kind !== 'space' && token.kind !== 'comment') previous = token
    at += token.text.length
  }
  return tokens
}

const blank = (text: string) => text.replaceAll(/[^\n]/g, ' ')

function codeOf(token: Token): string {
  if (token.kind === 'comment' || token.kind === 'regex') return blank(token.text)
  if (token.kind !== 'literal') return token.text
  const inside = token.text.slice(1, -1)
  return token.text.charAt(0) + blank(inside) + token.text.charAt(token.text.length - 1)
}

const beforeSpecifier = /(?:\bfrom|\bimport|\b(?:import|require|require\.resolve)\s*\()\s*$/

export function parse(path: string, text: string): SourceFile {
  const tokens = tokenize(text)
  const code = tokens.map(codeOf).join('')
  const literals = tokens.filter((token) => token.kind === 'literal')
  const imports = literals.filter((token) =>
    beforeSpecifier.test(code.slice(Math.max(0, token.start - 80), token.start)),
  )
  const contentOf = (token: Token) => token.text.slice(1, -1)
  const patterns = tokens.filter((token) => token.kind === 'regex').map((token) => token.text)
  return { path, text, code, literals: literals.map(contentOf), patterns, imports: imports.map(contentOf) }
}

/** All files below a folder of the repository whose name ends with `ending`; none if the folder does not exist. */
export function readFolder(root: string, folder: string, ending: string): SourceFile[] {
  const start = join(root, folder)
  if (!existsSync(start)) return []
  const entries = readdirSync(start, { recursive: true, withFileTypes: true })
  return (
    entries
      .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
      .map((entry) => join(entry.parentPath, entry.name))
      // A fixture may have packages of its own, which are not checked.
      .filter((file) => !relative(root, file).split(sep).includes('node_modules'))
      .toSorted()
      .map((file) => parse(relative(root, file).replaceAll(sep, '/'), readFileSync(file, 'utf8')))
  )
}

const codeEndings = /\.(?:ts|tsx|js)$/
const textEndings = /\.(?:ts|tsx|js|md|txt|html|css|svg|yaml)$/

/** A file or a folder of the repository, with everything that a person reads in it: code, documents, pages and plans. */
export function readTexts(root: string, path: string): SourceFile[] {
  const read = (file: string): SourceFile => {
    const text = readFileSync(join(root, file), 'utf8')
    return codeEndings.test(file)
      ? parse(file, text)
      : { path: file, text, code: '', literals: [], patterns: [], imports: [] }
  }
  if (textEndings.test(path)) return [read(path)]
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && textEndings.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .filter((file) => !file.split('/').includes('node_modules'))
    .toSorted()
    .map(read)
}

/** The path of a relative import; undefined for a package. */
export function targetOf(file: SourceFile, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return posix.join(posix.dirname(file.path), specifier)
}

/** The package a specifier names, without its subpath: `kysely/helpers/sqlite` is `kysely`. */
export function packageOf(specifier: string): string {
  const depth = specifier.startsWith('@') ? 2 : 1
  return specifier.split('/').slice(0, depth).join('/')
}
