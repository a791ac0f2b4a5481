// Markdown as a tree of plain values, as models write it: headings, lists, quotes, code, tables, emphasis and links. Raw HTML stays text and
// images become links, so nothing is loaded and nothing is executed. Texts from models and users are hostile: depth and size are bounded.

import { startOf } from '../../../src/core/storable-text.ts'
import { type Inline, inlineMarkdown } from './markdown-inline.ts'

export type Block =
  | { kind: 'paragraph'; content: Inline[] }
  | { kind: 'heading'; level: number; content: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; start: number | null; items: ListItem[] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'rule' }

export interface ListItem {
  /** Null unless it is an item of a task list. */
  checked: boolean | null
  blocks: Block[]
}

/** Longer texts are shown as they are, in UTF-16 units. */
export const maxMarkdownLength = 100_000
/** Maximum depth of quotes and lists; deeper ones stay text. */
const maxDepth = 6
const maxColumns = 30

/** Null for texts longer than `maxMarkdownLength`. */
export function markdownOf(text: string): Block[] | null {
  if (text.length > maxMarkdownLength) return null
  return blocksOf(text.replaceAll('\r\n', '\n').replaceAll('\t', '    ').split('\n'), 0)
}

/** What a text with Markdown says, in one line without marks: for labels and cells of a table. @param max of the text, in UTF-16 units. */
export function lineOfMarkdown(text: string, max: number): string {
  const blocks = blocksOf(startOf(text, max).split('\n'), 0)
  return blocks.map(wordsOf).filter(Boolean).join(' ').replace(/\s+/g, ' ')
}

function wordsOf(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
    case 'heading':
      return inlineWords(block.content)
    case 'code':
      return block.text
    case 'quote':
      return block.blocks.map(wordsOf).join(' ')
    case 'list':
      return block.items.flatMap(({ blocks }) => blocks.map(wordsOf)).join(', ')
    case 'table':
      return [block.head, ...block.rows].flatMap((row) => row.map(inlineWords)).join(' ')
    case 'rule':
      return ''
  }
}

function inlineWords(content: readonly Inline[]): string {
  return content.map((part) => ('text' in part ? part.text : inlineWords(part.content))).join('')
}

/** Blocks that begin at a line, and the first line after them; undefined if none of this kind begins there. */
type Taken = { block: Block; next: number } | undefined

function blocksOf(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; ) {
    if (isBlank(lines[at])) {
      at++
      continue
    }
    const { block, next } = takeBlock(lines, at, depth) ?? takeParagraph(lines, at, depth)
    blocks.push(block)
    at = next
  }
  return blocks
}

function takeBlock(lines: readonly string[], at: number, depth: number): Taken {
  const line = lines[at] ?? ''
  const nested = depth < maxDepth
  return (
    takeFence(lines, at) ??
    takeHeading(line, at) ??
    takeRule(line, at) ??
    (nested ? (takeQuote(lines, at, depth) ?? takeList(lines, at, depth)) : undefined) ??
    takeTable(lines, at)
  )
}

const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === ''

/** A paragraph ends before a blank line and before a line with which another block begins. */
function takeParagraph(lines: readonly string[], at: number, depth: number): { block: Block; next: number } {
  let next = at + 1
  while (next < lines.length && !isBlank(lines[next]) && !beginsBlock(lines, next, depth)) next++
  const text = lines
    .slice(at, next)
    .map((line) => line.trim())
    .join('\n')
  return { block: { kind: 'paragraph', content: inlineMarkdown(text) }, next }
}

const fence = /^ {0,3}(`{3,}|~{3,})([^`]*)$/
const heading = /^ {0,3}(#{1,6})(?: +(.*))?$/
const rule = /^ {0,3}([-*_])(?: *\1){2,} *$/
const quote = /^ {0,3}> ?/
const item = /^( {0,3}(?:[-*+]|(\d{1,9})[.)]))(?: {1,4}(?=\S)|(?= *$))/
const checkbox = /^\[([ xX])\] +/

function beginsBlock(lines: readonly string[], at: number, depth: number): boolean {
  const line = lines[at] ?? ''
  if (fence.test(line) || heading.test(line) || rule.test(line)) return true
  return columnsAt(lines, at) !== undefined || (depth < maxDepth && (quote.test(line) || item.test(line)))
}

function takeFence(lines: readonly string[], at: number): Taken {
  const mark = fence.exec(lines[at] ?? '')?.[1]
  if (mark === undefined) return undefined
  let end = at + 1
  while (end < lines.length && !isClosing(lines[end] ?? '', mark)) end++
  return { block: { kind: 'code', text: lines.slice(at + 1, end).join('\n') }, next: end + 1 }
}

function isClosing(line: string, mark: string): boolean {
  const text = line.trim()
  return text.length >= mark.length && text === (mark[0] as string).repeat(text.length)
}

function takeHeading(line: string, at: number): Taken {
  const match = heading.exec(line)
  if (match === null) return undefined
  const [, marks = '', text = ''] = match
  return {
    block: { kind: 'heading', level: marks.length, content: inlineMarkdown(withoutEnd(text, '#')) },
    next: at + 1,
  }
}

/** `text ##` is a heading `text`. */
function withoutEnd(text: string, mark: string): string {
  let end = text.trimEnd().length
  while (end > 0 && text[end - 1] === mark) end--
  return text.slice(0, end).trim()
}

function takeRule(line: string, at: number): Taken {
  return rule.test(line) ? { block: { kind: 'rule' }, next: at + 1 } : undefined
}

function takeQuote(lines: readonly string[], at: number, depth: number): Taken {
  let next = at
  while (quote.test(lines[next] ?? '')) next++
  if (next === at) return undefined
  const inside = lines.slice(at, next).map((line) => line.replace(quote, ''))
  return { block: { kind: 'quote', blocks: blocksOf(inside, depth + 1) }, next }
}

function takeList(lines: readonly string[], at: number, depth: number): Taken {
  const first = item.exec(lines[at] ?? '')
  if (first === null) return undefined
  const isOrdered = first[2] !== undefined
  const items: ListItem[] = []
  let next = at
  for (let match: RegExpExecArray | null = first; match !== null; match = item.exec(lines[next] ?? '')) {
    if ((match[2] !== undefined) !== isOrdered || rule.test(lines[next] ?? '')) break
    const end = endOfItem(lines, next, match[0].length)
    items.push(itemOf(lines.slice(next, end), match[0].length, depth))
    next = end
  }
  return { block: { kind: 'list', start: isOrdered ? Number(first[2]) : null, items }, next }
}

/** An item goes on with indented lines, with blank lines before such, and with the rest of its paragraph. */
function endOfItem(lines: readonly string[], at: number, indent: number): number {
  let end = at + 1
  for (let next = at + 1; next < lines.length; next++) {
    const line = lines[next] ?? ''
    if (isBlank(line)) continue
    const isAdjacent = next === end && !isBlank(lines[next - 1])
    const isIndented = indentOf(line) >= Math.min(indent, 2)
    if (!isIndented && !(isAdjacent && !beginsBlock(lines, next, 0))) break
    end = next + 1
  }
  // A blank line between two items belongs to the list.
  return isBlank(lines[end]) && item.test(lines[end + 1] ?? '') ? end + 1 : end
}

const indentOf = (line: string): number => line.length - line.trimStart().length

function itemOf(lines: readonly string[], indent: number, depth: number): ListItem {
  const [first = '', ...rest] = lines
  const own = first.slice(indent)
  const box = checkbox.exec(own)
  const inside = [
    box === null ? own : own.slice(box[0].length),
    ...rest.map((line) => line.slice(Math.min(indent, indentOf(line)))),
  ]
  return { checked: box === null ? null : box[1] !== ' ', blocks: blocksOf(inside, depth + 1) }
}

function takeTable(lines: readonly string[], at: number): Taken {
  const columns = columnsAt(lines, at)
  if (columns === undefined) return undefined
  let next = at + 2
  while (next < lines.length && (lines[next] ?? '').includes('|')) next++
  // Missing cells are not added: a wide head above thousands of short lines would make far more cells than there are characters.
  const rows = lines.slice(at + 2, next).map((line) => cellsOf(line).slice(0, columns.length).map(inlineMarkdown))
  return { block: { kind: 'table', head: columns.map(inlineMarkdown), rows }, next }
}

/** The head of the table that begins at a line; undefined if none begins there. */
function columnsAt(lines: readonly string[], at: number): string[] | undefined {
  const head = lines[at] ?? ''
  const marks = lines[at + 1] ?? ''
  if (!head.includes('|') || !/^[ |:-]+$/.test(marks)) return undefined
  const columns = cellsOf(head)
  const cells = cellsOf(marks)
  const isTable = cells.length === columns.length && cells.every((cell) => /^:?-+:?$/.test(cell))
  return isTable && columns.length <= maxColumns ? columns : undefined
}

/** The texts between the bars of a line of a table. An escaped bar is text. */
function cellsOf(line: string): string[] {
  const text = line.trim()
  const cells = text.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
  if (text.startsWith('|')) cells.shift()
  if (text.endsWith('|') && !text.endsWith('\\|')) cells.pop()
  return cells
}
