// The figures that are compared most as bars in an SVG, each with its number.

import { circumstances, type Shown } from './document.ts'
import type { FigureKind } from './row.ts'
import { shortNumber } from './run-row.ts'

interface Panel {
  row: string
  case: string
  figure: string
  title: string
}

const panels: readonly Panel[] = [
  { row: 'throughput', case: 'concurrency 10', figure: 'rate', title: 'Create and run, concurrency 10' },
  { row: 'throughput', case: 'concurrency 100', figure: 'rate', title: 'Create and run, concurrency 100' },
  { row: 'steps', case: 'concurrency 10', figure: 'rate', title: 'Journaled calls, ten in a task' },
  { row: 'dispatch', case: 'idle', figure: 'p50', title: 'From create to the start of the executor, idle, p50' },
]

const width = 760
const [labelWidth, numberWidth] = [150, 110]
const [lineHeight, barHeight, titleHeight, gap] = [22, 14, 26, 18]

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 }
  .small { font-size: 10px }
  .ours { fill: #0969da } .floor { fill: #d0d7de } .peer { fill: #8c959f }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .ours { fill: #4493f8 } .floor { fill: #3d444d } .peer { fill: #6e7681 }
  }`

export function chartOf(shown: readonly Shown[]): string {
  let top = gap
  const parts: string[] = []
  for (const panel of panels) {
    const bars = barsOf(panel, shown)
    if (bars.length === 0) continue
    const most = Math.max(...bars.map(({ value }) => value))
    parts.push(text(0, top + 12, `${panel.title} (${bars[0]?.better === 'less' ? 'less' : 'more'} is better)`, 'title'))
    top += titleHeight
    for (const { side, value, unit } of bars) {
      const length = Math.max(1, (value / most) * (width - labelWidth - numberWidth))
      const kind = side === 'errand' ? 'ours' : side.startsWith('floor') ? 'floor' : 'peer'
      parts.push(text(labelWidth - 8, top + 11, side, '', 'end'))
      parts.push(
        `<rect class="${kind}" x="${labelWidth}" y="${top}" width="${length.toFixed(1)}" height="${barHeight}" rx="2"/>`,
      )
      parts.push(
        text(labelWidth + length + 6, top + 11, `${shortNumber(value)}${unit.startsWith('/') ? '' : ' '}${unit}`),
      )
      top += lineHeight
    }
    top += gap
  }
  parts.push(text(0, top, circumstances(shown), 'small'))
  top += gap
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" width="${width}" height="${top}" role="img">`
  return `${[head, '<title>errand beside the floor and its peers</title>', `<style>${style}\n</style>`, ...parts, '</svg>'].join('\n')}\n`
}

interface Bar extends Pick<FigureKind, 'unit' | 'better'> {
  side: string
  value: number
}

/** The best first. */
function barsOf(panel: Panel, shown: readonly Shown[]): Bar[] {
  const found = shown.find(({ row }) => row.name === panel.row)
  const kind = found?.row.figures[panel.figure]
  if (found === undefined || kind === undefined) return []
  const sides = found.result.cases.find((each) => each.case === panel.case)?.sides ?? []
  const bars = sides.flatMap(({ side, figures }) => {
    const value = figures[panel.figure]?.median
    return value === undefined ? [] : [{ side, value, unit: kind.unit, better: kind.better }]
  })
  return bars.toSorted((a, b) => (kind.better === 'more' ? b.value - a.value : a.value - b.value))
}

function text(x: number, y: number, content: string, kind = '', anchor = ''): string {
  const attributes = [kind && `class="${kind}"`, anchor && `text-anchor="${anchor}"`].filter(Boolean).join(' ')
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped}</text>`
}
