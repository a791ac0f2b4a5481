// The results of a row as a table for a terminal: medians, and comparisons with the range of their rounds.
import { shortNumber } from '../runner/run-row.ts'
import { median } from '../runner/statistics.ts'
import type { Compared, Found } from './rounds.ts'
import type { Figures } from './sample.ts'

const columns: ReadonlyArray<[keyof Figures, string]> = [
  ['rate', 'rate /s'],
  ['nodeCpu', 'Node ms'],
  ['serverCpu', 'server ms'],
  ['p50', 'start p50'],
  ['p99', 'p99'],
  ['statements', 'statements'],
  ['roundTrips', 'round trips'],
]

/** Milliseconds of CPU time, statements and round trips are those of a task or call. */
export function sampleTable(names: readonly string[], found: Found): string {
  const lines = names.map((name) => [
    `  ${name}`,
    ...columns.map(([figure]) => {
      const values = (found[name] ?? []).map((figures) => figures[figure]).filter((value) => value !== undefined)
      return values.length === 0 ? '' : shortNumber(median(values))
    }),
  ])
  const all = [['', ...columns.map(([, label]) => label)], ...lines]
  const widths = all[0]?.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0))) ?? []
  return all
    .map((cells) =>
      cells
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] as number) : cell.padStart(widths[at] as number)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export function comparisonText({ comparison, spread, isMet }: Compared): string {
  const { title, of, beside, unit, atLeast, atMost } = comparison
  const range = spread.all.length > 1 ? ` (${shortNumber(spread.least)}–${shortNumber(spread.most)})` : ''
  const aim = isMet === undefined ? '' : `; aim: ${atLeast === undefined ? 'at most' : 'at least'} ${atLeast ?? atMost}`
  const verdict = isMet === undefined ? '' : isMet ? 'met: ' : 'MISSED: '
  const what = `${title}, ${of}${beside === undefined ? '' : ` / ${beside}`}`
  return `  ${verdict}${what}: ${shortNumber(spread.median)} ${unit}`.trimEnd() + range + aim
}
