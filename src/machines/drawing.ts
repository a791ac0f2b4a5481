// A machine as data: its configuration as JSON, and a Mermaid diagram of its edges.
import type { AnyStateMachine } from 'xstate'
import { edgeList } from './decide.ts'

/** A transition of a chart. One without a target keeps the state. */
export interface ChartTransition {
  readonly target?: string
  /** The name of its guard. */
  readonly guard?: string
  /** The names of its actions; some have params. */
  readonly actions?: string | readonly ChartAction[]
}

export type ChartAction = string | { readonly type: string; readonly params?: Readonly<Record<string, unknown>> }

/** A state: the events that it accepts, each with its transitions. */
export interface ChartState {
  readonly type?: 'final'
  readonly exit?: string
  readonly on?: Readonly<Record<string, string | ChartTransition | readonly ChartTransition[]>>
}

/** The configuration of a machine as JSON, for XState's `createMachine` and the Stately editor. Guards and actions are names. */
export interface ChartConfig {
  readonly id: string
  readonly initial: string
  readonly states: Readonly<Record<string, ChartState>>
  readonly on?: ChartState['on']
}

export interface MachineChart<Name extends string = string> {
  readonly id: Name
  readonly config: ChartConfig
  /** A Mermaid state diagram, without a code fence. */
  readonly mermaid: string
}

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
