// Tables of clean text. Columns are as wide as their cells, and lines are cut to the width of the terminal.
import { type CommandIo, columnsOf, type JsonFlag, printItems } from './io.ts'
import { cleanLine, displayWidth, fitWidth, padWidth } from './terminal-text.ts'

const gap = 2

/** The cell of an item for each column, by heading; null and undefined are empty cells. */
export type Columns<T> = Readonly<Record<string, (item: T) => string | number | null | undefined>>

/** The header, and one line per item. */
export function formatTable<T>(items: readonly T[], columns: Columns<T>, width = Number.POSITIVE_INFINITY): string[] {
  const cellsOf = (item: T) => Object.values(columns).map((cell) => cleanLine(`${cell(item) ?? ''}`))
  const lines = [Object.keys(columns), ...items.map(cellsOf)]
  const widths = Object.keys(columns).map((_, column) =>
    lines.reduce((widest, cells) => Math.max(widest, displayWidth(cells[column] ?? '')), 0),
  )
  return lines.map((cells) => {
    const line = cells.map((cell, column) => padWidth(cell, (widths[column] as number) + gap)).join('')
    return fitWidth(line.trimEnd(), width)
  })
}

/** Prints items as a table, or `none` if there are none; with `--json` one value per line. */
export function printTable<T>(
  io: CommandIo,
  flags: JsonFlag,
  items: readonly T[],
  none: string,
  columns: Columns<T>,
): void {
  printItems(io, flags, items, items.length === 0 ? none : formatTable(items, columns, columnsOf(io.stdout)))
}
