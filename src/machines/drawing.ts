// A machine as data: its configuration as JSON, and a Mermaid diagram of its edges.
import type { AnyStateMachine } from 'xstate'
import type { ChartConfig, MachineChart } from './chart.ts'
import { edgeList } from './decide.ts'

/** The configuration is a copy, so that editing a chart does not change what the engine does. Its context is left out: it is a function. */
export function chartOf<Name extends string>(id: Name, machine: AnyStateMachine): MachineChart<Name> {
  return { id, config: JSON.parse(JSON.stringify(machine.config)) as ChartConfig, mermaid: toMermaid(machine) }
}

/** A Mermaid state diagram of a machine. States without exits are final. */
export function toMermaid(machine: AnyStateMachine): string {
  const lines = ['stateDiagram-v2', `  [*] --> ${machine.config.initial as string}`]
  const edges = edgeList(machine)
  for (const state of Object.keys(machine.states)) {
    const exits = edges.filter(({ from }) => from === state)
    for (const { from, event, to } of exits) lines.push(`  ${from} --> ${to}: ${event}`)
    if (exits.length === 0) lines.push(`  ${state} --> [*]`)
  }
  return lines.join('\n')
}
