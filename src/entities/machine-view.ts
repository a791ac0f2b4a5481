// A machine of users as it is shown: its situation, its latest moves, and the structure of its definition, which the ledger keeps for
// processes that do not have the definition.

/** A transition of a state. */
export interface DrawnTransition {
  /** The event; '' for one that needs no event; `xstate.done.…` and `xstate.error.…` for ends of states and actors. */
  event: string
  /** Ids of the states that it leads to; none: the machine stays where it is. */
  targets: string[]
  /** The name of its guard; `(inline)` for a function without one. */
  guard?: string
  /** Milliseconds, or the name of the delay, after which it happens by itself. */
  delay?: number | string
}

export interface DrawnState {
  /** `order.open`: unique in the machine. */
  id: string
  /** `open`: its name in its parent. */
  key: string
  type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history'
  /** The key of the state in it with which it begins; of a compound one. */
  initial?: string
  /** Of a history state. */
  history?: 'shallow' | 'deep'
  transitions: DrawnTransition[]
  /** The actors that run while the machine is in it. */
  invokes: Array<{ id: string; src: string }>
  states: DrawnState[]
}

/** The structure of a definition, without its code. */
export interface MachineChartView {
  /** The id of the machine. */
  id: string
  root: DrawnState
  /** Those of its actors that are machines, by the name of their logic. */
  actors: Record<string, MachineChartView>
}

/** A move of a machine: the event that it consumed, and the state value that followed. */
export interface MachineMove {
  event: string
  value: unknown
  /** Epoch milliseconds. */
  at: number
  /** Position in the feed. */
  seq: number
}

/** The machine of a task. */
export interface TaskMachine {
  /** The id of the definition; null as long as no engine that has it has worked on this ledger. */
  id: string | null
  /** The state value, as XState has it. */
  value: unknown
  context: unknown
  /** Descriptors of the events that the present states handle. */
  accepts: string[]
  /** What it gets by itself next, and when, in epoch milliseconds. */
  next: { event: string; dueAt: number } | null
  /** The number of its macrosteps so far. */
  step: number
  /** Null as `id`. */
  chart: MachineChartView | null
  /** The latest 100 moves, oldest first. */
  path: MachineMove[]
}

/** A state value of XState in a line: `reserved`, `on.idle`, or `audio.on, video.off`. */
export function stateText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([key, inner]) =>
      typeof inner === 'object' && Object.keys(inner as object).length === 0 ? key : `${key}.${stateText(inner)}`,
    )
    .join(', ')
}
