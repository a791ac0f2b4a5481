// The lifecycles as plain data for whoever draws or checks them: each as the configuration of an XState machine and as a Mermaid
// diagram, both derived from the transition table that judges. What is written here knows no machine of its own.
import { callTransitions } from './call-machine.ts'
import { toMermaid } from './diagram.ts'
import { objectiveTransitions } from './objective-machine.ts'
import { runTransitions } from './run-machine.ts'
import { stintTransitions } from './stint-machine.ts'
import { supervisorTransitions } from './supervisor-machine.ts'
import { taskTransitions } from './task-machine.ts'

/** What a task, one of its runs, a call, an objective, a stint and an engine go through. */
export const machineNames = ['task', 'run', 'call', 'objective', 'stint', 'supervisor'] as const
export type MachineName = (typeof machineNames)[number]

/** A state: the events that it accepts and where each leads. One without exits is final. */
export interface ChartState {
  readonly type?: 'final'
  readonly on?: Readonly<Record<string, string>>
}

/** The configuration of a machine as JSON: what XState's `createMachine` and the Stately editor take. */
export interface ChartConfig {
  readonly id: string
  readonly initial: string
  readonly states: Readonly<Record<string, ChartState>>
}

export interface MachineChart {
  readonly id: MachineName
  readonly config: ChartConfig
  /** A Mermaid state diagram, without a fence around it. */
  readonly mermaid: string
}

type Table = Readonly<Record<string, Readonly<Record<string, string | undefined>>>>

/**
 * The lifecycles by name, as plain JSON.
 *
 * @example
 * const chart = createMachine(machines.task.config) // XState's
 */
export const machines: Readonly<Record<MachineName, MachineChart>> = {
  task: toChart('task', 'submitted', taskTransitions),
  run: toChart('run', 'live', runTransitions),
  call: toChart('call', 'pending', callTransitions),
  objective: toChart('objective', 'todo', objectiveTransitions),
  stint: toChart('stint', 'active', stintTransitions),
  supervisor: toChart('supervisor', 'standby', supervisorTransitions),
}

/** All of them, in the order of `machineNames`. */
export function charts(): MachineChart[] {
  return machineNames.map((name) => machines[name])
}

function toChart(id: MachineName, initial: string, table: Table): MachineChart {
  const states = Object.fromEntries(Object.entries(table).map(([state, exits]) => [state, toState(exits)]))
  return { id, config: { id, initial, states }, mermaid: toMermaid(initial, table) }
}

function toState(exits: Readonly<Record<string, string | undefined>>): ChartState {
  const on = Object.entries(exits).filter((edge): edge is [string, string] => edge[1] !== undefined)
  return on.length === 0 ? { type: 'final' } : { on: Object.fromEntries(on) }
}
