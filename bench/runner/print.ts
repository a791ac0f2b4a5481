// The results of a row as a table for a terminal.
import type { AnyRow, FigureKind } from './row.ts'
import type { GoalResult, RowResult, SideResult } from './run-row.ts'
import { shortNumber } from './run-row.ts'

export function tableOf(row: AnyRow, result: RowResult): string {
  const kinds = Object.entries(row.figures)
  const head = ['', 'durability', ...kinds.map(([, kind]) => kind.label), 'errand / it']
  const lines = result.cases.flatMap(({ case: name, sides }) => [
    [name],
    ...sides.map((side) => [
      `  ${side.side}`,
      durabilityText(side),
      ...kinds.map(([figure, kind]) => figureText(side, figure, kind)),
      ratioText(side, kinds[0]),
    ]),
  ])
  const widths = head.map((_, column) =>
    Math.max(...[head, ...lines].map((cells) => (cells.length === 1 ? 0 : (cells[column]?.length ?? 0)))),
  )
  const text = [head, ...lines].map((cells) =>
    cells
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number),
      )
      .join('  ')
      .trimEnd(),
  )
  return [
    ...text,
    ...result.goals.map((goal) => `  ${goal.isMet ? 'met' : 'MISSED'}: ${goalText(goal, row)}`),
    ...result.notes.map((note) => `  ${note}`),
  ].join('\n')
}

/** Its first word; the results as JSON have the sentence. */
export const durabilityText = ({ durability }: SideResult): string => durability.split(':')[0] ?? ''

export function figureText({ figures, failure }: SideResult, figure: string, { unit }: FigureKind): string {
  const spread = figures[figure]
  if (spread === undefined) return failure === undefined ? '' : 'failed'
  return withUnit(spread.median, unit)
}

const withUnit = (value: number, unit: string): string =>
  `${shortNumber(value)}${unit.startsWith('/') ? '' : ' '}${unit}`

export function ratioText({ ratios }: SideResult, first: [string, FigureKind] | undefined): string {
  const spread = first === undefined ? undefined : ratios[first[0]]
  return spread === undefined
    ? ''
    : `${shortNumber(spread.median)} (${shortNumber(spread.least)}–${shortNumber(spread.most)})`
}

export function goalText(goal: GoalResult, row: AnyRow): string {
  const kind = row.figures[goal.figure] as FigureKind
  const unit = goal.as === 'ratio' ? 'times' : kind.unit
  const other = [goal.beside?.side ?? (goal.beside?.case === undefined ? 'floor' : undefined), goal.beside?.case]
    .filter((each) => each !== undefined)
    .join(', ')
  const beside = goal.as === 'value' ? '' : goal.as === 'ratio' ? ` as a multiple of ${other}` : ` beyond ${other}`
  const bound =
    goal.atLeast === undefined
      ? `at most ${withUnit(goal.atMost as number, unit)}`
      : `at least ${withUnit(goal.atLeast, unit)}`
  return `${kind.label}, ${goal.case}${beside}: ${withUnit(goal.value, unit)} (goal: ${bound})`
}
