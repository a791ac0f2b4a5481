// The related tasks: parent, children, blockers and dependents.

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { GraphEdge, PlacedGraph } from '../model/graph-layout.ts'
import { stateLooks } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import { smoothPath } from '../model/smooth-path.ts'
import type { TaskRow } from '../model/wire.ts'
import { ArrowHeads } from './state-chart.tsx'

const nodeWidth = 168
const nodeHeight = 40
const maxChildren = 24

interface FamilyGraphProps {
  own: TaskRow
  parent: TaskRow | undefined
  children: TaskRow[]
  dependencies: TaskRow[]
  dependents: TaskRow[]
}

interface Edge extends GraphEdge {
  kind: 'after' | 'child'
}

function edgesOf({ own, parent, children, dependencies, dependents }: FamilyGraphProps): Edge[] {
  const edge = (kind: Edge['kind'], from: string, to: string): Edge => ({ id: `${kind}:${from}>${to}`, kind, from, to })
  return [
    ...(parent === undefined ? [] : [edge('child', parent.id, own.id)]),
    ...dependencies.map(({ id }) => edge('after', id, own.id)),
    ...dependents.map(({ id }) => edge('after', own.id, id)),
    ...children.map(({ id }) => edge('child', own.id, id)),
  ]
}

export function FamilyGraph(family: FamilyGraphProps) {
  const { own, parent, children, dependencies, dependents } = family
  const shown = { ...family, children: children.slice(0, maxChildren) }
  const rows = new Map(
    [own, ...(parent === undefined ? [] : [parent]), ...shown.children, ...dependencies, ...dependents].map((row) => [
      row.id,
      row,
    ]),
  )
  const edges = edgesOf(shown)
  const key = edges.map(({ id }) => id).join(' ')
  const [placed, setPlaced] = useState<PlacedGraph | null>(null)
  const stable = useMemo(() => ({ ids: [...rows.keys()], edges }), [key])
  useEffect(() => {
    let disposed = false
    void import('../model/graph-layout.ts').then(({ placeGraph }) => {
      if (disposed) return
      const nodes = stable.ids.map((id) => ({ id, width: nodeWidth, height: nodeHeight }))
      setPlaced(placeGraph(nodes, stable.edges, { direction: 'LR', nodeGap: 10, rankGap: 44 }))
    })
    return () => {
      disposed = true
    }
  }, [stable])
  if (edges.length === 0) return <p class="note">It stands alone: no parent, no children, no dependencies.</p>
  if (placed === null) return <p class="note">Drawing…</p>
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="Family and dependencies">
      <svg class="family" width={placed.width} height={placed.height} role="group" aria-label="Graph of related tasks">
        <ArrowHeads />
        {edges.map((edge) => (
          <path
            key={edge.id}
            class={`family-edge ${edge.kind}`}
            d={smoothPath(placed.edges.get(edge.id)?.points ?? [])}
            marker-end="url(#arrow-plain)"
          />
        ))}
        {[...rows.values()].map((row) => (
          <TaskNode key={row.id} row={row} placed={placed} own={row.id === own.id} />
        ))}
      </svg>
      <p class="note legend">
        <span class="line-after" aria-hidden="true" /> comes after <span class="line-child" aria-hidden="true" /> parent
        and child
        {children.length > maxChildren
          ? `. ${children.length - maxChildren} more children are in the list of tasks.`
          : ''}
      </p>
    </div>
  )
}

const maxNameLength = 22

function TaskNode({ row, placed, own }: { row: TaskRow; placed: PlacedGraph; own: boolean }) {
  const place = placed.nodes.get(row.id)
  if (place === undefined) return null
  const { glyph, word } = stateLooks[row.status]
  const name = row.name.length > maxNameLength ? `${row.name.slice(0, maxNameLength - 1)}…` : row.name
  return (
    <a href={linkTo({ view: 'task', id: row.id })} aria-label={`${row.name}: ${word}${own ? ', this task' : ''}`}>
      <g
        class={`family-node state-${row.status}${own ? ' own' : ''}`}
        transform={`translate(${place.x - nodeWidth / 2},${place.y - nodeHeight / 2})`}
      >
        <rect width={nodeWidth} height={nodeHeight} rx={6} />
        <text class="family-name" x={10} y={17}>
          {name}
        </text>
        <text class="family-state" x={10} y={32}>
          {glyph} {word}
        </text>
        <title>{row.name}</title>
      </g>
    </a>
  )
}
