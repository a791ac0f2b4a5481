// The chart of a machine as boxes and arrows, with the path of a task.

import type { GraphEdge, GraphNode } from './graph-layout.ts'
import type { PathStep } from './history.ts'
import type { MachineConfig } from './wire.ts'

export interface ChartEdge extends GraphEdge {
  event: string
  text: string
  /** Steps of the task along this edge. */
  steps: Array<Pick<PathStep, 'n' | 'at'>>
}

export interface StateGraph {
  nodes: GraphNode[]
  edges: ChartEdge[]
}

export const letterWidth = 6.6
const maxSteps = 3

/** Numbers of the steps along an edge, shortened: `2, 4, 7 +12`. */
export function stepNumbers(steps: ReadonlyArray<Pick<PathStep, 'n'>>): string {
  const shown = steps.slice(0, maxSteps).map(({ n }) => n)
  return steps.length > maxSteps ? `${shown.join(', ')} +${steps.length - maxSteps}` : shown.join(', ')
}

export const labelOf = (text: string) => ({ width: text.length * letterWidth + 6, height: 15 })

export function stateGraphOf({ states }: MachineConfig, path: readonly PathStep[]): StateGraph {
  const names = Object.keys(states)
  const nodes = names.map((id) => ({ id, width: Math.max(72, id.length * letterWidth + 30), height: 28 }))
  const edges = names.flatMap((from) =>
    targetsOf(states[from]).map(({ event, to }) => {
      const steps = path.filter((step) => step.from === from && step.to === to)
      const text = steps.length === 0 ? event : `${event} ${stepNumbers(steps)}`
      return {
        id: `${from}.${event}`,
        from,
        to,
        event,
        text,
        steps,
        label: labelOf(text),
      }
    }),
  )
  return { nodes, edges }
}

/** The events that leave a state. Alternatives by guards lead to the same state; transitions without a target stay in it. */
function targetsOf(state: MachineConfig['states'][string] | undefined): Array<{ event: string; to: string }> {
  return Object.entries(state?.on ?? {}).flatMap(([event, given]) => {
    const exits = Array.isArray(given) ? given : [given]
    const [to] = exits.flatMap((exit) => (typeof exit === 'string' ? [exit] : (exit.target ?? [])))
    return to === undefined ? [] : [{ event, to }]
  })
}

/**
 * The chart for a narrow page: each state on a rank of its own, in the order of the machine. An arrow has only the numbers of its steps; the
 * list of the path, which stands below the chart, names their events.
 */
export function narrowGraphOf({ nodes, edges }: StateGraph): StateGraph {
  const rankOf = new Map(nodes.map(({ id }, rank) => [id, rank]))
  return {
    nodes,
    edges: edges.map(({ id, from, to, event, steps }) => {
      const text = stepNumbers(steps)
      const ranks = Math.max(1, (rankOf.get(to) ?? 0) - (rankOf.get(from) ?? 0))
      return { id, from, to, event, steps, text, ranks, ...(text === '' ? {} : { label: labelOf(text) }) }
    }),
  }
}
