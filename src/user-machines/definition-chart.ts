// The structure of a definition as JSON, so that a page or a command line that does not have the definition can draw it.
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import type { DrawnState, DrawnTransition, MachineChartView } from '../entities/machine-view.ts'
import { invokesOf, statesIn } from './definition-parts.ts'
import { isMachine } from './logic-kind.ts'
import { logicNamed } from './stand-ins.ts'

/** @param above the machines that it is an actor of: one that is an actor of itself is drawn once */
export function chartOfDefinition(machine: AnyStateMachine, above: readonly AnyStateMachine[] = []): MachineChartView {
  const invoked = statesIn(machine).flatMap((node) => invokesIn(node).map(({ src }) => src))
  const names = new Set([...Object.keys(machine.implementations.actors), ...invoked])
  const actors: MachineChartView['actors'] = {}
  for (const name of names) {
    const logic = logicNamed(machine, name)
    if (isMachine(logic) && logic !== machine && !above.includes(logic)) {
      actors[name] = chartOfDefinition(logic, [...above, machine])
    }
  }
  return { id: machine.id, root: stateOf(machine.root), actors }
}

function stateOf(node: AnyStateNode): DrawnState {
  const initial = node.type === 'compound' ? node.initial.target[0]?.key : undefined
  return {
    id: node.id,
    key: node.key,
    type: node.type,
    ...(initial === undefined ? {} : { initial }),
    ...(node.type === 'history' && node.history !== false ? { history: node.history as 'shallow' | 'deep' } : {}),
    transitions: transitionsIn(node),
    invokes: invokesIn(node),
    states: Object.values(node.states as Record<string, AnyStateNode>).map(stateOf),
  }
}

interface Transition {
  guard?: unknown
  target?: readonly AnyStateNode[] | undefined
}

function transitionsIn(node: AnyStateNode): DrawnTransition[] {
  const delays = new Map(Object.keys(node.config.after ?? {}).map((key) => [`xstate.after.${key}.${node.id}`, key]))
  const lists: Iterable<readonly [string, readonly Transition[]]> = [...node.transitions, ['', node.always ?? []]]
  return [...lists].flatMap(([event, transitions]) => {
    const delay = delays.get(event)
    return transitions.map(({ guard, target = [] }) => ({
      event,
      targets: target.map(({ id }) => id),
      ...(guard === undefined ? {} : { guard: guardText(guard) }),
      ...(delay === undefined ? {} : { delay: Number.isNaN(Number(delay)) ? delay : Number(delay) }),
    }))
  })
}

function guardText(guard: unknown): string {
  if (typeof guard === 'string') return guard
  if (typeof guard === 'object') return String((guard as { type: unknown }).type)
  const { guards, check } = guard as { guards?: readonly unknown[]; check?: { name: string } }
  if (guards === undefined) return (guard as { name: string }).name || '(inline)'
  // XState names what checks `and([…])`, `or([…])` and `not(…)` by what they are.
  const operator = check?.name.replace(/^check/, '').toLowerCase() || 'of'
  return `${operator}(${guards.map(guardText).join(', ')})`
}

/** What a state invokes, by the names under which its machine finds it. */
function invokesIn(node: AnyStateNode): DrawnState['invokes'] {
  return invokesOf(node).map(({ value: { id, src } }, index) => ({
    id: id ?? `${index}.${node.id}`,
    src: typeof src === 'string' ? src : `xstate.invoke.${index}.${node.id}`,
  }))
}
