// The chart of a machine as boxes and arrows, with the path of a task.

import type { GraphEdge, GraphNode } from './graph-layout.ts'
import type { PathStep } from './history.ts'
import type { MachineConfig } from './wire.ts'

export interface ChartEdge extends GraphEdge {
  event: string
  text: string
  /** Steps of the task along this edge. */
  steps: PathStep[]
}

export interface StateGraph {
  nodes: GraphNode[]
  edges: ChartEdge[]
}

const letterWidth = 6.6
const maxSteps = 3

/** Numbers of the steps along an edge, shortened: `2, 4, 7 +12`. */
export function stepNumbers(steps: readonly PathStep[]): string {
  const shown = steps.slice(0, maxSteps).map(({ n }) => n)
  return steps.length > maxSteps ? `${shown.join(', ')} +${steps.length - maxSteps}` : shown.join(', ')
}

export function stateGraphOf({ states }: MachineConfig, path: readonly PathStep[]): StateGraph {
  const names = Object.keys(states)
  const nodes = names.map((id) => ({ id, width: Math.max(72, id.length * letterWidth + 30), height: 28 }))
  const edges = names.flatMap((from) =>
    Object.entries(states[from]?.on ?? {}).map(([event, exit]) => {
      const to = typeof exit === 'string' ? exit : exit.target
      const steps = path.filter((step) => step.from === from && step.to === to)
      const text = steps.length === 0 ? event : `${event} ${stepNumbers(steps)}`
      return {
        id: `${from}.${event}`,
        from,
        to,
        event,
        text,
        steps,
        label: { width: text.length * letterWidth + 6, height: 15 },
      }
    }),
  )
  return { nodes, edges }
}
