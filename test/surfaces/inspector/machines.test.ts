// The exported lifecycles: each opens as a machine of XState and moves exactly like the engine's own transition table.
import { describe, expect, it } from 'vitest'
import { type AnyStateMachine, type AnyStateNode, createMachine, type StateValue, transition } from 'xstate'
import { type DirectedGraphNode, toDirectedGraph } from 'xstate/graph'
import { machineNames, machines } from '../../../src/engine/machine-charts.ts'
import { callMachine } from '../../../src/machines/call-machine.ts'
import { edgesOf } from '../../../src/machines/decide.ts'
import { questionMachine } from '../../../src/machines/question-machine.ts'
import { runMachine } from '../../../src/machines/run-machine.ts'
import { supervisorMachine } from '../../../src/machines/supervisor-machine.ts'
import { taskMachine } from '../../../src/machines/task-machine.ts'
import { objectiveMachine } from '../../../src/memory/team/objective-machine.ts'
import { stintMachine } from '../../../src/memory/team/stint-machine.ts'

const sources = {
  task: taskMachine,
  run: runMachine,
  call: callMachine,
  question: questionMachine,
  objective: objectiveMachine,
  stint: stintMachine,
  supervisor: supervisorMachine,
}

describe.each(machineNames)('The machine of a %s', (name) => {
  const { id, config, mermaid } = machines[name]
  const source = sources[name]
  const table = edgesOf(source)
  const events = [...new Set(Object.values(table).flatMap((exits) => Object.keys(exits)))]
  const opened = createMachine(config as never, { guards: source.implementations.guards as never })

  it('X-003 the exported machine is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(config))).toEqual(config)
    expect(id).toBe(name)
    expect(config.id).toBe(name)
  })

  it('X-003 the exported machine opens in XState and moves like its source at every state and event', () => {
    const move = (machine: AnyStateMachine, value: StateValue, type: string) =>
      transition(machine, machine.resolveState({ value, context: {} }), { type, room: 1 } as never)[0].value
    for (const [from, { states }] of Object.entries(source.states as Record<string, AnyStateNode>)) {
      const within = Object.keys(states).map((each) => ({ [from]: each }))
      for (const value of within.length === 0 ? [from] : within) {
        for (const type of events) expect(move(opened, value, type)).toEqual(move(source, value, type))
      }
    }
    expect(opened.config.initial).toBe(config.initial)
  })

  it('the diagram of a machine has every edge of it', () => {
    const edgesBelow = ({ edges: own, children }: DirectedGraphNode): DirectedGraphNode['edges'] => [
      ...own,
      ...children.flatMap(edgesBelow),
    ]
    const edges = toDirectedGraph(opened).children.flatMap(edgesBelow)
    const drawn = edges
      .filter(({ transition: { target } }) => target !== undefined)
      .map(({ source: { key: from }, target: { key: to }, label }) => `  ${from} --> ${to}: ${label.text}`)
    const lines = mermaid
      .split('\n')
      .filter((line) => line.includes(': '))
      .map((line) => `  ${line.trim()}`)
    expect([...new Set(drawn)].sort()).toEqual(lines.sort())
  })
})

it('every machine is listed once', () => {
  expect(Object.keys(machines)).toEqual([...machineNames])
})
