// What a task comes after, and what comes after it.

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { GraphEdge, PlacedGraph } from '../model/graph-layout.ts'
import { stateLooks, wordOf } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import { smoothPath } from '../model/smooth-path.ts'
import type { TaskRow } from '../model/wire.ts'
import { ArrowHeads } from './state-chart.tsx'

const nodeWidth = 168
const nodeHeight = 40
/** Number of tasks drawn on each side. */
const maxOnOneSide = 24

interface DependencyGraphProps {
  own: TaskRow
  dependencies: TaskRow[]
  dependents: TaskRow[]
}

export function DependencyGraph({ own, dependencies, dependents }: DependencyGraphProps) {
  const before = dependencies.slice(0, maxOnOneSide)
  const after = dependents.slice(0, maxOnOneSide)
  const left = dependencies.length + dependents.length - before.length - after.length
  const rows = new Map([own, ...before, ...after].map((row) => [row.id, row]))
  const edge = (from: string, to: string): GraphEdge => ({ id: `${from}>${to}`, from, to })
  const edges = [...before.map(({ id }) => edge(id, own.id)), ...after.map(({ id }) => edge(own.id, id))]
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
  if (placed === null) return <p class="note">Drawing…</p>
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="Dependencies">
      <svg
        class="family"
        width={placed.width}
        height={placed.height}
        role="group"
        aria-label="What it comes after, and what comes after it"
      >
        <ArrowHeads />
        {edges.map((edge) => (
          <path
            key={edge.id}
            class="family-edge"
            d={smoothPath(placed.edges.get(edge.id)?.points ?? [])}
            marker-end="url(#arrow-plain)"
          />
        ))}
        {[...rows.values()].map((row) => (
          <TaskNode key={row.id} row={row} placed={placed} own={row.id === own.id} />
        ))}
      </svg>
      {left === 0 ? null : <p class="note">{left.toLocaleString('en')} more are not drawn.</p>}
    </div>
  )
}

const maxNameLength = 22

function TaskNode({ row, placed, own }: { row: TaskRow; placed: PlacedGraph; own: boolean }) {
  const place = placed.nodes.get(row.id)
  if (place === undefined) return null
  const word = wordOf(row)
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
          {stateLooks[row.status].glyph} {word}
        </text>
        <title>{row.name}</title>
      </g>
    </a>
  )
}
