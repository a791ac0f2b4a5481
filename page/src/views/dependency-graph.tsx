// What a task comes after, and what comes after it.

import { useMemo, useRef } from 'preact/hooks'
import { clipped } from '../../../src/core/storable-text.ts'
import { nodeHeight, type PlacedDependencies, placeDependencies } from '../model/dependency-layout.ts'
import { stateLooks, wordOf } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import type { TaskRow } from '../model/wire.ts'
import { useWidth } from './elements.tsx'
import { ArrowHeads } from './state-chart.tsx'

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
  const idsOf = (rows: readonly TaskRow[]) => rows.map(({ id }) => id)
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const key = [...idsOf(before), own.id, ...idsOf(after)].join(' ')
  const placed = useMemo(
    () => placeDependencies({ before: idsOf(before), own: own.id, after: idsOf(after) }, width),
    [key, width],
  )
  return (
    <div ref={box} role="group" aria-label="Dependencies">
      {width === 0 ? null : (
        <svg
          class="family"
          width={placed.width}
          height={placed.height}
          role="group"
          aria-label="What it comes after, and what comes after it"
        >
          <ArrowHeads />
          {[...placed.arrows].map(([id, d]) => (
            <path key={id} class="family-edge" d={d} marker-end="url(#arrow-plain)" />
          ))}
          {[...before, own, ...after].map((row) => (
            <TaskNode key={row.id} row={row} placed={placed} own={row.id === own.id} />
          ))}
        </svg>
      )}
      {left === 0 ? null : <p class="note">{left.toLocaleString('en')} more are not drawn.</p>}
    </div>
  )
}

const letterWidth = 7

function TaskNode({ row, placed, own }: { row: TaskRow; placed: PlacedDependencies; own: boolean }) {
  const { nodes, nodeWidth } = placed
  const place = nodes.get(row.id)
  if (place === undefined) return null
  const word = wordOf(row)
  const maxNameLength = Math.floor((nodeWidth - 18) / letterWidth)
  const name = clipped(row.name, maxNameLength)
  return (
    <a href={linkTo({ view: 'task', id: row.id })} aria-label={`${row.name}: ${word}${own ? ', this task' : ''}`}>
      <g class={`family-node state-${row.status}${own ? ' own' : ''}`} transform={`translate(${place.x},${place.y})`}>
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
