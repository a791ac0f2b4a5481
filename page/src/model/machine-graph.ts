// The chart of a user's machine as boxes and arrows, with the moves of its task.

import type { DrawnState, DrawnTransition, MachineChartView, MachineMove } from '../../../src/entities/machine-view.ts'
import { duration } from './format.ts'
import type { GraphFrame, GraphNode } from './graph-layout.ts'
import { type ChartEdge, labelOf, letterWidth, stepNumbers } from './state-graph.ts'

export interface StateBox extends GraphNode {
  key: string
  type: DrawnState['type']
}

export interface MachineGraph {
  nodes: StateBox[]
  frames: GraphFrame[]
  edges: ChartEdge[]
}

/** All states but the root, which is drawn only where it has something to draw. */
function statesIn({ root }: MachineChartView): Array<{ state: DrawnState; parent: DrawnState | null }> {
  const below = (state: DrawnState): Array<{ state: DrawnState; parent: DrawnState | null }> =>
    state.states.flatMap((child) => [{ state: child, parent: state === root ? null : state }, ...below(child)])
  const hasOwn = root.states.length === 0 || root.transitions.some(({ targets }) => targets.length > 0)
  return [...(hasOwn ? [{ state: root, parent: null }] : []), ...below(root)]
}

/** The ids of the states that a state value names, the root and the states above them included. */
export function presentStates({ root }: MachineChartView, value: unknown): Set<string> {
  const present = new Set<string>()
  const enter = (state: DrawnState, inner: unknown): void => {
    present.add(state.id)
    const entries = typeof inner === 'string' ? [[inner, undefined] as const] : Object.entries(inner ?? {})
    for (const [key, deeper] of entries) {
      const child = state.states.find((each) => each.key === key)
      if (child !== undefined) enter(child, deeper)
    }
  }
  enter(root, value)
  return present
}

/** `PAY [rich]`, `after 60s`, `done: payment`. */
export function transitionText({ event, guard, delay }: DrawnTransition): string {
  const [, word, id = ''] = /^xstate\.(done|error)\.actor\.(.*)$/s.exec(event) ?? []
  const name =
    delay !== undefined
      ? `after ${typeof delay === 'number' ? duration(delay) : delay}`
      : word !== undefined
        ? `${word}: ${id}`
        : event.startsWith('xstate.done.state.')
          ? 'done'
          : event || 'always'
  return guard === undefined ? name : `${name} [${guard}]`
}

function takes(descriptor: string, event: string): boolean {
  return descriptor.endsWith('*') ? event.startsWith(descriptor.slice(0, -1)) : descriptor === event
}

interface Arrow {
  id: string
  from: string
  to: string
  transition: DrawnTransition
}

/**
 * The arrows of one move. Where none of the event leads into a state that followed, the machine has passed through states on the way, by
 * transitions without an event.
 */
function arrowsOf(arrows: readonly Arrow[], event: string, before: Set<string>, after: Set<string>): Arrow[] {
  const called = arrows.filter(({ from, transition }) => before.has(from) && takes(transition.event, event))
  const direct = called.filter(({ to }) => after.has(to))
  if (direct.length > 0) return direct
  const onwards = (arrow: Arrow, passed: readonly Arrow[]): Arrow[] => {
    const way = [...passed, arrow]
    if (after.has(arrow.to)) return way
    const next = arrows.filter(({ from, transition }) => from === arrow.to && transition.event === '')
    return next.flatMap((each) => (way.includes(each) ? [] : onwards(each, way)))
  }
  return called.flatMap((arrow) => onwards(arrow, []))
}

/** The moves along each arrow, by its id. */
function movesAlong(chart: MachineChartView, arrows: readonly Arrow[], path: readonly MachineMove[]) {
  const along = new Map<string, Array<{ n: number; at: number }>>()
  const states = path.map(({ value }) => presentStates(chart, value))
  for (const [n, { event, at }] of path.entries()) {
    const [before, after] = [states[n - 1], states[n]]
    if (before === undefined || after === undefined) continue
    for (const { id } of new Set(arrowsOf(arrows, event, before, after)))
      along.set(id, [...(along.get(id) ?? []), { n, at }])
  }
  return along
}

/** @param path the moves that are drawn, oldest first; the first is where the drawing begins */
export function machineGraphOf(chart: MachineChartView, path: readonly MachineMove[]): MachineGraph {
  const states = statesIn(chart)
  const drawn = new Set(states.map(({ state }) => state.id))
  const isFramed = (state: DrawnState) => state !== chart.root && state.states.length > 0
  const arrows = states.flatMap(({ state: { id: from, transitions } }) =>
    transitions.flatMap((transition, index) =>
      transition.targets.flatMap((to) =>
        drawn.has(to) ? [{ id: `${from}.${index}.${to}`, from, to, transition }] : [],
      ),
    ),
  )
  const along = movesAlong(chart, arrows, path)
  return {
    nodes: states.map(({ state, parent }) => ({
      id: state.id,
      key: state.key,
      type: state.type,
      width: Math.max(56, state.key.length * letterWidth + 26),
      height: 28,
      // No arrow may lead to a frame, so a state with states in it has a box inside of its own.
      ...within(isFramed(state) ? state : parent),
    })),
    frames: states.flatMap(({ state, parent }) => (isFramed(state) ? [{ id: state.id, ...within(parent) }] : [])),
    edges: [
      ...states.flatMap(({ state }) => (isFramed(state) ? beginnings(state) : [])),
      ...arrows.map((arrow) => edgeOf(arrow, along.get(arrow.id) ?? [])),
    ],
  }
}

function within(state: DrawnState | null): { frame?: string } {
  return state === null ? {} : { frame: state.id }
}

function edgeOf({ id, from, to, transition }: Arrow, steps: ChartEdge['steps']): ChartEdge {
  const event = transitionText(transition)
  const text = steps.length === 0 ? event : `${event} ${stepNumbers(steps)}`
  return { id, from, to, event, text, steps, label: labelOf(text) }
}

/** With which of its states a state begins: all of a parallel one. */
function beginnings({ id, type, initial, states }: DrawnState): ChartEdge[] {
  return states
    .filter(({ key, type: kind }) => (type === 'parallel' ? kind !== 'history' : key === initial))
    .map((child) => ({ id: `${id}>${child.id}`, from: id, to: child.id, event: 'begins', text: '', steps: [] }))
}
