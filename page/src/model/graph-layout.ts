// Layout of boxes and arrows for the state chart and the dependencies. Loaded only where a graph is drawn.

import { Graph, layout } from '@dagrejs/dagre'

export interface GraphNode {
  id: string
  width: number
  height: number
}

export interface GraphEdge {
  id: string
  from: string
  to: string
  /** Size of the label, in pixels. */
  label?: { width: number; height: number }
}

export interface Point {
  x: number
  y: number
}

export interface PlacedGraph {
  width: number
  height: number
  /** Center of each box. */
  nodes: Map<string, Point>
  /** Points of each arrow, and the center of its label. */
  edges: Map<string, { points: Point[]; label: Point | null }>
}

export interface LayoutOptions {
  direction: 'LR' | 'TB'
  nodeGap: number
  rankGap: number
}

export function placeGraph(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  { direction, nodeGap, rankGap }: LayoutOptions,
): PlacedGraph {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: direction, nodesep: nodeGap, ranksep: rankGap, edgesep: 12, marginx: 8, marginy: 8 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height })
  for (const { id, from, to, label } of edges) {
    graph.setEdge(from, to, label === undefined ? {} : { ...label, labelpos: 'c' }, id)
  }
  layout(graph)
  const whole = graph.graph() as { width?: number; height?: number }
  return {
    width: whole.width ?? 0,
    height: whole.height ?? 0,
    nodes: new Map(nodes.map(({ id }) => [id, pointOf(graph.node(id) as Point)])),
    edges: new Map(
      edges.map(({ id, from, to, label }) => {
        const placed = graph.edge(from, to, id) as { points?: Point[]; x?: number; y?: number }
        const middle = label === undefined || placed.x === undefined ? null : { x: placed.x, y: placed.y ?? 0 }
        return [id, { points: (placed.points ?? []).map(pointOf), label: middle }]
      }),
    ),
  }
}

function pointOf({ x, y }: Point): Point {
  return { x, y }
}
