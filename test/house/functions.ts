// Finds the functions of a source file and their numbers of lines, by braces and the words before them, because TypeScript 7 has no parser API.

export interface FunctionSize {
  /** Empty for an anonymous function. */
  name: string
  /** From the line of its header to that of its closing brace. */
  lines: number
}

const noFunction = /^(?:if|for|while|switch|catch|with)$/

/** The maximum of characters of a header. */
const maxHeader = 2_000

/** The functions with more lines than the limit. `code` has comments and the insides of literals blanked out. */
export function functionsLongerThan(limit: number, code: string): FunctionSize[] {
  return blocksOf(code).flatMap(({ open, close }) => {
    const from = Math.max(0, open - maxHeader)
    const upToClose = linesIn(code.slice(from, close))
    if (upToClose <= limit) return []
    const header = headerOf(code.slice(from, open).trimEnd())
    if (header === undefined) return []
    const lines = linesIn(code.slice(from + header.start, close))
    return lines > limit ? [{ name: header.name, lines }] : []
  })
}

const linesIn = (text: string) => text.split('\n').length

function blocksOf(code: string): Array<{ open: number; close: number }> {
  const blocks: Array<{ open: number; close: number }> = []
  const opened: number[] = []
  for (let at = 0; at < code.length; at++) {
    if (code[at] === '{') opened.push(at)
    const open = code[at] === '}' ? opened.pop() : undefined
    if (open !== undefined) blocks.push({ open, close: at })
  }
  return blocks
}

/** The header of the function whose body follows; undefined if the block is a statement, an object or a class. */
function headerOf(before: string): { name: string; start: number } | undefined {
  const arrow = before.endsWith('=>')
  const end = arrow ? endOfParameters(before.slice(0, -2).trimEnd()) : endOfParameters(before)
  if (end === undefined) return arrow ? { name: '', start: before.length } : undefined
  const start = startOfParameters(before, end)
  const [, name = ''] = /([\w$#]*)\s*(?:<[^<>()]*(?:<[^<>()]*>[^<>()]*)*>)?\s*$/.exec(before.slice(0, start)) ?? []
  if (noFunction.test(name) || (!arrow && name === '')) return undefined
  return { name: arrow ? nameOfConstant(before.slice(0, start)) : name, start }
}

/** Where the list of parameters ends, before the type of the result. */
function endOfParameters(before: string): number | undefined {
  if (before.endsWith(')')) return before.length - 1
  const typed = /\)\s*:\s*[^(){};=\n]*(?:\([^()\n]*\)[^(){};=\n]*|\{[^{}\n]*\}[^(){};=\n]*)*$/.exec(before)
  return typed?.index
}

function startOfParameters(before: string, end: number): number {
  let depth = 0
  for (let at = end; at >= 0; at--) {
    if (before[at] === ')') depth++
    if (before[at] === '(') depth--
    if (depth === 0) return at
  }
  return 0
}

const nameOfConstant = (before: string) => /([\w$#]+)\s*(?::[^=]*)?=\s*(?:async\s*)?$/.exec(before)?.[1] ?? ''
