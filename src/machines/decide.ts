// Asks a machine what an event means, without an actor: which transitions follow, and which named actions each has. XState answers. Its
// answer for a transition that raises nothing is remembered, because it depends on the state, the event's type and the guards only; the
// guards are evaluated each time.
import {
  type AnyStateMachine,
  type AnyStateNode,
  type EventFromLogic,
  getMicrosteps,
  getNextTransitions,
  type SnapshotFrom,
} from 'xstate'

/** One transition: its event, the state after it, and its actions in order. */
export interface Microstep<Event> {
  event: Event
  to: string
  actions: readonly NamedAction[]
}

export interface NamedAction {
  type: string
  params: unknown
}

type Known = Pick<Microstep<never>, 'to' | 'actions'> | 'raises'

/** The transitions of a machine in a state on an event, in order; undefined when the state does not accept the event. */
export type Decide<Event> = (state: string, event: Event) => ReadonlyArray<Microstep<Event>> | undefined

/** The machine's states must be flat, and its guards be given by name. */
export function decider<M extends AnyStateMachine>(machine: M): Decide<EventFromLogic<M>> {
  type Event = EventFromLogic<M> & { type: string }
  const known = new Map<string, Known>()
  const choose = chooser(machine)
  const snapshots = new Map(Object.keys(machine.states).map((state) => [state, snapshotOf(machine, state)]))
  return (state, given) => {
    const event = given as Event
    const index = choose(state, event)
    if (index < 0) return undefined
    const snapshot = snapshots.get(state) as SnapshotFrom<M>
    const key = `${state} ${event.type} ${index}`
    const found = known.get(key)
    if (found !== undefined && found !== 'raises') return [{ event, ...found }]
    const steps = getMicrosteps(machine, snapshot, event).map(([next, actions]) =>
      toMicrostep<Event>(next, actions, event),
    )
    const [first] = steps
    known.set(key, first !== undefined && steps.length === 1 ? { to: first.to, actions: first.actions } : 'raises')
    return steps
  }
}

/** A state, or a state in another one. */
export type StateValue = string | Readonly<Record<string, string>>

export const stateKey = (value: StateValue): string =>
  typeof value === 'string' ? value : (Object.entries(value)[0] as [string, string]).join('.')

function valuesOf(machine: AnyStateMachine): StateValue[] {
  return Object.entries(machine.states as Record<string, AnyStateNode>).flatMap(([name, { states }]): StateValue[] => {
    const within = Object.keys(states)
    return within.length === 0 ? [name] : within.map((each) => ({ [name]: each }))
  })
}

/** Which of the transitions of a state (by its key) on an event its guards choose: its index, -1 when the state does not accept the event. */
export function chooser(machine: AnyStateMachine): (state: string, event: { type: string }) => number {
  const guards = new Map<string, Array<string | undefined>>()
  for (const value of valuesOf(machine)) {
    // Those of the state, before those of the states around it and of the machine.
    for (const { eventType, guard } of getNextTransitions(snapshotOf(machine, value))) {
      const key = `${stateKey(value)} ${eventType}`
      guards.set(key, [...(guards.get(key) ?? []), guard as string | undefined])
    }
  }
  return (state, event) => {
    const possible = guards.get(`${state} ${event.type}`) ?? []
    return possible.findIndex((guard) => guard === undefined || holds(machine, guard, event))
  }
}

function snapshotOf<M extends AnyStateMachine>(machine: M, value: StateValue): SnapshotFrom<M> {
  return machine.resolveState({ value, context: {} }) as SnapshotFrom<M>
}

function holds(machine: AnyStateMachine, guard: string, event: object): boolean {
  const test = machine.implementations.guards[guard] as (
    given: { context: object; event: object },
    params: undefined,
  ) => boolean
  return test({ context: {}, event }, undefined)
}

/** The event of a transition is known by its actions: it may be one that an earlier transition has raised. */
function toMicrostep<Event>(
  next: SnapshotFrom<AnyStateMachine>,
  actions: ReadonlyArray<{ type: string; params: unknown; info: { event: unknown } }>,
  given: Event,
): Microstep<Event> {
  return {
    event: (actions[0]?.info.event ?? given) as Event,
    to: next.value as string,
    actions: actions.filter(({ type }) => !type.startsWith('xstate.')).map(({ type, params }) => ({ type, params })),
  }
}

export interface MachineEdge {
  from: string
  event: string
  to: string
}

/** The states of a machine, each followed by those in it. */
function nodesOf({ states }: { states: Record<string, AnyStateNode> }): AnyStateNode[] {
  return Object.values(states).flatMap((node) => [node, ...nodesOf(node)])
}

/** The transitions of a machine that have a target, each once, whatever its guards. */
export function edgeList(machine: AnyStateMachine): MachineEdge[] {
  const edges = new Map<string, MachineEdge>()
  for (const { key: from, on } of nodesOf(machine)) {
    for (const [event, transitions] of Object.entries(on)) {
      for (const { target } of transitions) {
        const to = target?.[0]?.key
        if (to !== undefined) edges.set(`${from} ${event} ${to}`, { from, event, to })
      }
    }
  }
  return [...edges.values()]
}

/** For each state of a machine the events that leave it, each with the next state. */
export function edgesOf(machine: AnyStateMachine): Record<string, Record<string, string>> {
  const table: Record<string, Record<string, string>> = {}
  for (const { key } of nodesOf(machine)) table[key] = {}
  for (const { from, event, to } of edgeList(machine)) (table[from] as Record<string, string>)[event] = to
  return table
}

/** The states that accept an event, for the WHERE of a statement that stands for the machine. */
export function statesIn<S extends string>(edges: Readonly<Record<S, object>>, event: string): S[] {
  return (Object.keys(edges) as S[]).filter((state) => event in edges[state])
}
