// Columns of clean text, as wide as they need to be; the last one takes what is left of the terminal.
import { cleanLine, displayWidth, fitWidth, padWidth } from './terminal-text.ts'

const gap = 2

export function formatTable(
  header: readonly string[],
  rows: ReadonlyArray<readonly string[]>,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const lines = [header, ...rows].map((cells) => cells.map(cleanLine))
  const widths = header.map((_, column) => Math.max(...lines.map((cells) => displayWidth(cells[column] ?? ''))))
  return lines.map((cells) => {
    const line = cells.map((cell, column) => padWidth(cell, (widths[column] as number) + gap)).join('')
    return fitWidth(line.trimEnd(), columns)
  })
}
