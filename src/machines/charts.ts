// The lifecycles as public data: each as the configuration of an XState machine and as a Mermaid diagram, both derived from the
// transition table that the engine enforces.
import {
  callTransitions,
  objectiveTransitions,
  runTransitions,
  stintTransitions,
  supervisorTransitions,
  type Transitions,
} from './lifecycles.ts'
import { taskEdges } from './task-table.ts'

/** The lifecycles of a task, a run, a call, an objective, a stint and an engine. */
export const machineNames = ['task', 'run', 'call', 'objective', 'stint', 'supervisor'] as const
export type MachineName = (typeof machineNames)[number]

/** A state: the events that it accepts and where each leads. One without exits is final. */
export interface ChartState {
  readonly type?: 'final'
  readonly on?: Readonly<Record<string, string>>
}

/** The configuration of a machine as JSON, for XState's `createMachine` and the Stately editor. */
export interface ChartConfig {
  readonly id: string
  readonly initial: string
  readonly states: Readonly<Record<string, ChartState>>
}

export interface MachineChart {
  readonly id: MachineName
  readonly config: ChartConfig
  /** A Mermaid state diagram, without a code fence. */
  readonly mermaid: string
}

/**
 * The lifecycles by name, as plain JSON.
 *
 * @example
 * const chart = createMachine(machines.task.config) // XState's
 */
export const machines: Readonly<Record<MachineName, MachineChart>> = {
  task: toChart('task', 'submitted', taskEdges),
  run: toChart('run', 'live', runTransitions),
  call: toChart('call', 'pending', callTransitions),
  objective: toChart('objective', 'todo', objectiveTransitions),
  stint: toChart('stint', 'active', stintTransitions),
  supervisor: toChart('supervisor', 'standby', supervisorTransitions),
}

/** Copies the table, so that editing a chart does not change what the engine allows. */
function toChart(id: MachineName, initial: string, table: Transitions<string, string>): MachineChart {
  const states = Object.fromEntries(
    Object.entries(table).map(([state, exits]): [string, ChartState] => [
      state,
      Object.keys(exits).length === 0 ? { type: 'final' } : { on: { ...(exits as Record<string, string>) } },
    ]),
  )
  return { id, config: { id, initial, states }, mermaid: toMermaid(initial, table) }
}

/** A Mermaid state diagram of a transition table, drawn for the README and `errand graph --machine`. States without exits are final. */
export function toMermaid(initial: string, table: Transitions<string, string>): string {
  const lines = ['stateDiagram-v2', `  [*] --> ${initial}`]
  for (const [from, exits] of Object.entries(table)) {
    const edges = Object.entries(exits)
    for (const [event, to] of edges) lines.push(`  ${from} --> ${to}: ${event}`)
    if (edges.length === 0) lines.push(`  ${from} --> [*]`)
  }
  return lines.join('\n')
}
