// Where the tasks are drawn that a task comes after, and those that come after it.

import type { Point } from './graph-layout.ts'

export interface PlacedDependencies {
  width: number
  height: number
  nodeWidth: number
  /** Upper left corner of each task. */
  nodes: Map<string, Point>
  /** SVG path of each arrow, by the id of the other task. */
  arrows: Map<string, string>
}

interface Dependencies {
  before: readonly string[]
  own: string
  after: readonly string[]
}

export const nodeHeight = 40
const wideNode = 168
const gap = 10
const columnGap = 44
/** Room at the left of a narrow drawing, in which its arrows run. */
const indent = 28
/** So that the lines at the edges are drawn whole. */
const margin = 2

/** Columns from left to right if they fit into the width, else a list in which arrows run at the left. In pixels. */
export function placeDependencies(dependencies: Dependencies, width: number): PlacedDependencies {
  const { before, own, after } = dependencies
  const columns = [before, [own], after].filter((ids) => ids.length > 0)
  const wide = columns.length * wideNode + (columns.length - 1) * columnGap + 2 * margin
  return wide <= width ? inColumns(dependencies, columns, wide) : asList(dependencies, width)
}

function inColumns(
  { before, own, after }: Dependencies,
  columns: ReadonlyArray<readonly string[]>,
  width: number,
): PlacedDependencies {
  const heightOf = (count: number) => count * (nodeHeight + gap) - gap
  const height = heightOf(Math.max(...columns.map(({ length }) => length))) + 2 * margin
  const nodes = new Map<string, Point>()
  for (const [column, ids] of columns.entries()) {
    const top = (height - heightOf(ids.length)) / 2
    for (const [row, id] of ids.entries())
      nodes.set(id, { x: margin + column * (wideNode + columnGap), y: top + row * (nodeHeight + gap) })
  }
  const arrow = (from: string, to: string): string => {
    const [start, end] = [nodes.get(from) as Point, nodes.get(to) as Point]
    const [x1, y1, x2, y2] = [start.x + wideNode, start.y + nodeHeight / 2, end.x, end.y + nodeHeight / 2]
    const middle = (x1 + x2) / 2
    return `M${x1},${y1}C${middle},${y1} ${middle},${y2} ${x2},${y2}`
  }
  const arrows = new Map([
    ...before.map((id): [string, string] => [id, arrow(id, own)]),
    ...after.map((id): [string, string] => [id, arrow(own, id)]),
  ])
  return { width, height, nodeWidth: wideNode, nodes, arrows }
}

function asList({ before, own, after }: Dependencies, width: number): PlacedDependencies {
  const ids = [...before, own, ...after]
  const nodes = new Map(
    ids.map((id, row) => [id, { x: margin + (id === own ? 0 : indent), y: margin + row * (nodeHeight + gap) }]),
  )
  const line = margin + indent / 2
  const middleOf = (id: string): number => (nodes.get(id) as Point).y + nodeHeight / 2
  const top = (nodes.get(own) as Point).y
  const arrows = new Map([
    ...before.map((id): [string, string] => [id, `M${margin + indent},${middleOf(id)}H${line}V${top}`]),
    ...after.map((id): [string, string] => [id, `M${line},${top + nodeHeight}V${middleOf(id)}H${margin + indent}`]),
  ])
  const nodeWidth = Math.max(0, width - indent - 2 * margin)
  return { width, height: ids.length * (nodeHeight + gap) - gap + 2 * margin, nodeWidth, nodes, arrows }
}
