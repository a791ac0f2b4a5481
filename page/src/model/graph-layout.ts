// Layout of boxes and arrows for the state chart. Loaded only where a graph is drawn.

import { Graph, layout } from '@dagrejs/dagre'

export interface GraphNode {
  id: string
  width: number
  height: number
  /** The frame around it. */
  frame?: string
}

/** A frame around boxes, and around other frames. */
export interface GraphFrame {
  id: string
  frame?: string
}

export interface GraphEdge {
  id: string
  from: string
  to: string
  /** Size of the label, in pixels. */
  label?: { width: number; height: number }
  /** Number of ranks between its ends, at least; 1 without it. */
  ranks?: number
}

export interface Point {
  x: number
  y: number
}

/** Center and size. */
export interface PlacedFrame extends Point {
  width: number
  height: number
}

export interface PlacedGraph {
  width: number
  height: number
  /** Center of each box. */
  nodes: Map<string, Point>
  frames: Map<string, PlacedFrame>
  /** Points of each arrow, and the center of its label. */
  edges: Map<string, { points: Point[]; label: Point | null }>
}

export interface LayoutOptions {
  direction: 'LR' | 'TB'
  nodeGap: number
  rankGap: number
}

/** A state may have a box and a frame. */
const frameId = (id: string) => `frame:${id}`

/** Space around the drawing. */
const margin = 8

export function placeGraph(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  { direction, nodeGap, rankGap }: LayoutOptions,
  frames: readonly GraphFrame[] = [],
): PlacedGraph {
  const graph = new Graph({ multigraph: true, compound: true })
  graph.setGraph({
    rankdir: direction,
    nodesep: nodeGap,
    ranksep: rankGap,
    edgesep: 12,
    marginx: margin,
    marginy: margin,
  })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height })
  for (const { id } of frames) graph.setNode(frameId(id), {})
  for (const { id, frame } of nodes) if (frame !== undefined) graph.setParent(id, frameId(frame))
  for (const { id, frame } of frames) if (frame !== undefined) graph.setParent(frameId(id), frameId(frame))
  for (const { id, from, to, label, ranks = 1 } of edges) {
    graph.setEdge(from, to, label === undefined ? { minlen: ranks } : { ...label, labelpos: 'c', minlen: ranks }, id)
  }
  layout(graph)
  const whole = graph.graph() as { width?: number; height?: number }
  const routes = new Map(
    edges.map(({ id, from, to }) => [id, graph.edge(from, to, id) as { points?: Point[]; x?: number; y?: number }]),
  )
  // The layout counts arrows only where they have a label.
  const sides = [...routes.values()].flatMap(({ points = [] }) => points.map(({ x }) => x))
  const left = Math.min(0, ...sides.map((x) => x - margin))
  const right = Math.max(whole.width ?? 0, ...sides.map((x) => x + margin))
  const moved = ({ x, y }: Point): Point => ({ x: x - left, y })
  return {
    width: right - left,
    height: whole.height ?? 0,
    nodes: new Map(nodes.map(({ id }) => [id, moved(graph.node(id) as Point)])),
    frames: new Map(
      frames.map(({ id }) => {
        const placed = graph.node(frameId(id)) as PlacedFrame
        return [id, { ...placed, ...moved(placed) }]
      }),
    ),
    edges: new Map(
      edges.map(({ id, label }) => {
        const { points = [], x, y = 0 } = routes.get(id) ?? {}
        return [
          id,
          { points: points.map(moved), label: label === undefined || x === undefined ? null : moved({ x, y }) },
        ]
      }),
    ),
  }
}
