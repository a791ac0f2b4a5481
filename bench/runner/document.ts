// The results as Markdown between two marks of docs/understand/benchmarks.md: a table for each row, the peers that were better, and the goals that
// were missed.

import { durabilityText, figureText, goalText, ratioText } from './print.ts'
import type { AnyRow, FigureKind } from './row.ts'
import type { RowResult } from './run-row.ts'
import { shortNumber } from './run-row.ts'

export interface Shown {
  row: AnyRow
  result: RowResult
}

const [from, to] = ['<!-- figures -->', '<!-- /figures -->']

/** @throws if the document has no marks. */
export function withFigures(document: string, shown: readonly Shown[]): string {
  const [start, end] = [document.indexOf(from), document.indexOf(to)]
  if (start < 0 || end < start) throw new Error(`The document has no marks for the figures: ${from} … ${to}.`)
  return `${document.slice(0, start + from.length)}\n\n${figuresOf(shown)}\n${document.slice(end)}`
}

function figuresOf(shown: readonly Shown[]): string {
  const parts = [
    `${circumstances(shown)}\n`,
    ...shown.map(sectionOf),
    '### Where other projects are faster\n',
    listOf(shown.flatMap(lossesOf), 'No other project was faster.'),
    '### Goals that were missed\n',
    listOf(
      shown.flatMap(({ row, result }) =>
        result.goals.filter(({ isMet }) => !isMet).map((goal) => `${row.title}: ${goalText(goal, row)}`),
      ),
      'None.',
    ),
  ]
  return `${parts.join('\n')}\n`
}

const listOf = (lines: readonly string[], none: string): string =>
  `${lines.length === 0 ? none : lines.map((line) => `- ${line}`).join('\n')}\n`

/** When, on which machine, and whether it was calm. */
export function circumstances(shown: readonly Shown[]): string {
  const results = shown.map(({ result }) => result)
  const first = results[0]
  if (first === undefined) return ''
  const { machine, startedAt } = first
  const rounds = results.flatMap((result) => result.rounds)
  const restless = rounds.filter(({ isCalm }) => !isCalm).length
  const sizes = [...new Set(results.map(({ size }) => size))]
  const calm =
    rounds.length === 0
      ? 'The rounds did not wait until the machine was calm.'
      : restless === 0
        ? 'The machine was calm before every round.'
        : `The machine was not calm before ${restless} of ${rounds.length} rounds.`
  const quick = sizes.includes('full') ? '' : ' This was a quick run with smaller sizes.'
  const revisions = [...new Set(results.map(({ revision }) => revision).filter((each) => each))]
  const code = revisions.length === 0 ? '' : ` The code is that of ${revisions.join(' and ')}.`
  return `${startedAt.slice(0, 10)}, ${machine.processors}, ${machine.platform}, Node ${machine.node.slice(1)}.${code} ${calm}${quick}`
}

function sectionOf({ row, result }: Shown): string {
  const kinds = Object.entries(row.figures)
  const head = ['case', 'side', 'durability', ...kinds.map(([, { label }]) => label), 'errand / it']
  const lines = result.cases.flatMap(({ case: name, sides }) =>
    sides.map((side, index) => [
      index === 0 ? name : '',
      side.side === 'errand' ? '**errand**' : side.side,
      durabilityText(side),
      ...kinds.map(([figure, kind]) => figureText(side, figure, kind)),
      ratioText(side, kinds[0]),
    ]),
  )
  // A column without any text is left out, as the ratios are where errand is alone.
  const columns = head.map((_, column) => column).filter((column) => lines.some((cells) => cells[column] !== ''))
  const table = [head, head.map((_, column) => (column < 3 ? '---' : '--:')), ...lines].map((cells) =>
    columns.map((column) => cells[column]),
  )
  return [
    `### ${row.title}\n`,
    `${row.method} (\`npm run bench -- ${row.name}\`)\n`,
    ...table.map((cells) => `| ${cells.join(' | ')} |`),
    '',
  ].join('\n')
}

/** Peers that are better in the first figure. A floor is always better. */
function lossesOf({ row, result }: Shown): string[] {
  const [figure, kind] = Object.entries(row.figures)[0] as [string, FigureKind]
  return result.cases.flatMap(({ case: name, sides }) =>
    sides.flatMap((side) => {
      const ratio = side.ratios[figure]?.median
      if (ratio === undefined || side.side in row.sides) return []
      const advantage = kind.better === 'more' ? 1 / ratio : ratio
      if (advantage <= 1) return []
      return [`${row.title}, ${name}: ${side.side} is ${shortNumber(advantage)} times better (${side.durability}).`]
    }),
  )
}
