// A machine as data: its configuration as JSON, and a Mermaid diagram of its edges.
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import type { ChartConfig, MachineChart } from './chart.ts'
import { edgeList, type MachineEdge } from './decide.ts'

/** The configuration is a copy, so that editing a chart does not change what the engine does. Its context is left out: it is a function. */
export function chartOf<Name extends string>(id: Name, machine: AnyStateMachine): MachineChart<Name> {
  return { id, config: JSON.parse(JSON.stringify(machine.config)) as ChartConfig, mermaid: toMermaid(machine) }
}

/** A Mermaid state diagram of a machine. States without exits are final. */
export function toMermaid(machine: AnyStateMachine): string {
  const lines = ['stateDiagram-v2', `  [*] --> ${machine.config.initial as string}`]
  return [...lines, ...drawn(machine, edgeList(machine), '  ')].join('\n')
}

function drawn(
  parent: { states: Record<string, AnyStateNode> },
  edges: readonly MachineEdge[],
  indent: string,
): string[] {
  return Object.values(parent.states).flatMap((node) => {
    const exits = edges.filter(({ from }) => from === node.key)
    const lines = exits.map(({ from, event, to }) => `${indent}${from} --> ${to}: ${event}`)
    if (node.type === 'compound') {
      const within = [`  [*] --> ${node.config.initial as string}`, ...drawn(node, edges, '  ')]
      return [`${indent}state ${node.key} {`, ...within.map((line) => indent + line), `${indent}}`, ...lines]
    }
    return lines.length === 0 ? [`${indent}${node.key} --> [*]`] : lines
  })
}
