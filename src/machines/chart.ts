// The shape of a machine as data.

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
  /** The states in it, and the one of them that it begins with. */
  readonly initial?: string
  readonly states?: Readonly<Record<string, ChartState>>
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
