// The state machine of tasks as the engine exports it, with the current state and the path of the task.

import { useEffect, useRef, useState } from 'preact/hooks'
import { problemOf } from '../live/api-client.ts'
import { clockTime, dateTime } from '../model/format.ts'
import type { PlacedGraph } from '../model/graph-layout.ts'
import type { PathStep } from '../model/history.ts'
import { stateLooks } from '../model/lifecycle.ts'
import { smoothPath } from '../model/smooth-path.ts'
import { type ChartEdge, narrowGraphOf, type StateGraph, stateGraphOf } from '../model/state-graph.ts'
import type { Machine, MachineConfig, Problem, TaskStatus } from '../model/wire.ts'
import { api } from '../state/api.ts'
import { ProblemBox, useWidth } from './elements.tsx'

let machine: Promise<MachineConfig> | undefined

/** The same for every task, so it is read once. */
function taskMachine(): Promise<MachineConfig> {
  machine ??= api
    .get<{ machines: Machine[] }>('machines')
    .then(({ machines }) => {
      const found = machines.find(({ id }) => id === 'task')
      if (found === undefined) throw new Error('The server does not export the state machine of tasks.')
      return found.config
    })
    .catch((error: unknown) => {
      machine = undefined
      throw error
    })
  return machine
}

interface Chart extends StateGraph {
  placed: PlacedGraph
}

type PlaceGraph = typeof import('../model/graph-layout.ts').placeGraph

/** From left to right if the page is wide enough, else from top to bottom. */
function chartOf(graph: StateGraph, width: number, placeGraph: PlaceGraph): Chart {
  const wide = placeGraph(graph.nodes, graph.edges, { direction: 'LR', nodeGap: 26, rankGap: 34 })
  if (wide.width <= width) return { ...graph, placed: wide }
  const narrow = narrowGraphOf(graph)
  return { ...narrow, placed: placeGraph(narrow.nodes, narrow.edges, { direction: 'TB', nodeGap: 8, rankGap: 16 }) }
}

export function StateChart({ status, path }: { status: TaskStatus; path: PathStep[] }) {
  const [chart, setChart] = useState<Chart | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const key = path.length
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  useEffect(() => {
    if (width === 0) return
    let disposed = false
    Promise.all([taskMachine(), import('../model/graph-layout.ts')])
      .then(([config, { placeGraph }]) => {
        if (!disposed) setChart(chartOf(stateGraphOf(config, path), width, placeGraph))
      })
      .catch((error: unknown) => setProblem(problemOf(error)))
    return () => {
      disposed = true
    }
  }, [key, width])
  if (problem !== null) return <ProblemBox problem={problem} />
  return (
    <div ref={box} class="chart-box" role="group" aria-label="State chart">
      {chart === null ? <p class="note">Drawing…</p> : <Drawing chart={chart} status={status} path={path} />}
    </div>
  )
}

function Drawing({ chart, status, path }: { chart: Chart; status: TaskStatus; path: PathStep[] }) {
  const { width, height } = chart.placed
  return (
    <>
      <svg
        class="chart"
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`State chart: the task is ${stateLooks[status].word} after ${path.length} transitions`}
      >
        <ArrowHeads />
        {chart.edges.map((edge) => (
          <Edge key={edge.id} edge={edge} placed={chart.placed} latest={path.length} />
        ))}
        {chart.nodes.map((node) => (
          <StateNode key={node.id} {...node} placed={chart.placed} current={node.id === status} />
        ))}
      </svg>
      <PathList path={path.map((step) => ({ ...step, event: step.event ?? 'moved', to: stateLooks[step.to].word }))} />
    </>
  )
}

export function ArrowHeads() {
  return (
    <defs>
      {['plain', 'taken', 'latest'].map((kind) => (
        <marker
          key={kind}
          id={`arrow-${kind}`}
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="7"
          markerHeight="7"
          orient="auto"
        >
          <path class={`arrow-head ${kind}`} d="M0,0.5L8,4L0,7.5z" />
        </marker>
      ))}
    </defs>
  )
}

export function Edge({ edge, placed, latest }: { edge: ChartEdge; placed: PlacedGraph; latest: number }) {
  const place = placed.edges.get(edge.id)
  if (place === undefined) return null
  const last = edge.steps.at(-1)
  const kind = last === undefined ? 'plain' : last.n === latest ? 'latest' : 'taken'
  return (
    <g class={`edge ${kind}`}>
      <path d={smoothPath(place.points)} marker-end={`url(#arrow-${kind})`} />
      {place.label === null ? null : (
        <text x={place.label.x} y={place.label.y + 3.5} text-anchor="middle">
          {edge.text}
        </text>
      )}
      {edge.steps.length === 0 ? null : (
        <title>{edge.steps.map(({ n, at }) => `${n}. ${edge.event} at ${dateTime(at)}`).join('\n')}</title>
      )}
    </g>
  )
}

interface StateNodeProps {
  id: string
  width: number
  height: number
  placed: PlacedGraph
  current: boolean
}

function StateNode({ id, width, height, placed, current }: StateNodeProps) {
  const { x, y } = placed.nodes.get(id) ?? { x: 0, y: 0 }
  const look = stateLooks[id as TaskStatus]
  return (
    <g
      class={`node state-${id}${current ? ' current' : ''}`}
      transform={`translate(${x - width / 2},${y - height / 2})`}
    >
      <rect width={width} height={height} rx={14} />
      <text x={width / 2} y={height / 2 + 4} text-anchor="middle">
        {look === undefined ? id : `${look.glyph} ${look.word}`}
      </text>
    </g>
  )
}

const shownSteps = 12

export interface ListedStep {
  n: number
  event: string
  to: string
  at: number
}

/** The path as text, with times. */
export function PathList({ path }: { path: ListedStep[] }) {
  const [whole, setWhole] = useState(false)
  if (path.length === 0) return <p class="note">It has not left its first state yet.</p>
  const shown = whole ? path : path.slice(-shownSteps)
  return (
    <ol class="path" start={shown[0]?.n ?? 1} aria-label="Path taken">
      {shown.length < path.length ? (
        <li value={(shown[0]?.n ?? 1) - 1}>
          <button type="button" class="link" onClick={() => setWhole(true)}>
            {path.length - shown.length} earlier
          </button>
        </li>
      ) : null}
      {shown.map(({ n, event, to, at }) => (
        <li key={n} value={n}>
          {event} → {to}{' '}
          <time dateTime={new Date(at).toISOString()} title={dateTime(at)}>
            {clockTime(at)}
          </time>
        </li>
      ))}
    </ol>
  )
}
