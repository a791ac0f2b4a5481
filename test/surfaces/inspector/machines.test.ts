// The exported lifecycles: each opens as a machine of XState and moves exactly like the engine's own transition table.
import { describe, expect, it } from 'vitest'
import { createMachine, transition } from 'xstate'
import { toDirectedGraph } from 'xstate/graph'
import { machineNames, machines } from '../../../src/machines/charts.ts'
import {
  callTransitions,
  objectiveTransitions,
  runTransitions,
  stintTransitions,
  supervisorTransitions,
} from '../../../src/machines/lifecycles.ts'
import { taskEdges } from '../../../src/machines/task-table.ts'

type Table = Readonly<Record<string, Readonly<Record<string, string | undefined>>>>

const tables: Record<string, Table> = {
  task: taskEdges,
  run: runTransitions,
  call: callTransitions,
  objective: objectiveTransitions,
  stint: stintTransitions,
  supervisor: supervisorTransitions,
}

describe.each(machineNames)('The machine of a %s', (name) => {
  const { id, config, mermaid } = machines[name]
  const table = tables[name] as Table
  const events = [...new Set(Object.values(table).flatMap((exits) => Object.keys(exits)))]

  it('X-003 the exported machine is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(config))).toEqual(config)
    expect(id).toBe(name)
    expect(config.id).toBe(name)
  })

  it('X-003 the exported machine opens in XState and follows the transition table at every state and event', () => {
    const machine = createMachine(config as never)
    for (const [from, exits] of Object.entries(table)) {
      for (const type of events) {
        const [next] = transition(machine, machine.resolveState({ value: from }), { type } as never)
        expect([from, type, next.value]).toEqual([from, type, exits[type] ?? from])
      }
    }
    expect(machine.getInitialSnapshot({ self: {}, system: {} } as never).value).toBe(config.initial)
  })

  it('the diagram of a machine has every edge of it', () => {
    const edges = toDirectedGraph(createMachine(config as never)).children.flatMap(({ edges: out }) => out)
    const lines = mermaid.split('\n').filter((line) => line.includes(': '))
    expect(lines).toHaveLength(edges.length)
    for (const { source, target, label } of edges)
      expect(lines).toContain(`  ${source.key} --> ${target.key}: ${label.text}`)
  })
})

it('every machine is listed once', () => {
  expect(Object.keys(machines)).toEqual([...machineNames])
})
