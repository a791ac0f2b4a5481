// The charts as data for the Stately editor, diagrams and newer versions of XState.

import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { taskStatuses } from '../../src/entities/task.ts'
import { machines, toMermaid } from '../../src/machines/charts.ts'
import { taskEvents, taskMachine } from '../../src/machines/task-machine.ts'
import { taskEdges } from '../../src/machines/task-table.ts'

const { task: _task, ...others } = machines
const charts = { task: taskMachine, ...others }

/** Every path to something in a configuration that JSON cannot hold. */
function losses(value: unknown, path = 'config'): string[] {
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => losses(inner, `${path}.${key}`))
}

describe('the charts', () => {
  it('charts are copies, so that editing one does not change what the engine allows', () => {
    const { on } = machines.task.config.states['working'] as { on: object }
    expect(on).toEqual(taskEdges.working)
    expect(on).not.toBe(taskEdges.working)
  })

  it.each(Object.entries(charts))('X-003 the states of the chart of %s are plain data', (_name, chart) => {
    expect(losses(chart.config.states)).toEqual([])
    const states = JSON.parse(JSON.stringify(chart.config.states)) as object
    expect(states).toEqual(chart.config.states)
    expect(JSON.stringify(chart.config)).not.toMatch(/"(invoke|after|always|entry|exit|actions|guard)"/)
  })

  it('X-003 the chart of a task round-trips through JSON, except its context', () => {
    const copy = createMachine(JSON.parse(JSON.stringify(taskMachine.config)) as never)
    for (const status of taskStatuses) {
      for (const type of taskEvents) {
        const original = taskMachine.resolveState({
          value: status,
          context: { taskId: '', name: '', attempt: 1, run: 0 },
        })
        expect(copy.resolveState({ value: status }).can({ type })).toBe(original.can({ type }))
      }
    }
    // The only function: the input becomes the context. It decides nothing.
    expect(losses(taskMachine.config)).toEqual(['config.context'])
    expect(losses(machines.call.config)).toEqual([])
    expect(losses(machines.supervisor.config)).toEqual([])
  })
})

describe('the diagram', () => {
  it('X-003 toMermaid draws the diagram from the transition table', () => {
    expect(toMermaid('submitted', taskEdges)).toBe(
      [
        'stateDiagram-v2',
        '  [*] --> submitted',
        '  submitted --> working: start',
        '  submitted --> canceled: cancel',
        '  working --> paused: pause',
        '  working --> input_required: ask',
        '  working --> waiting: wait',
        '  working --> completed: complete',
        '  working --> failed: fail',
        '  working --> canceled: cancel',
        '  paused --> working: resume',
        '  paused --> canceled: cancel',
        '  input_required --> working: answer',
        '  input_required --> canceled: cancel',
        '  waiting --> working: unblock',
        '  waiting --> canceled: cancel',
        '  completed --> [*]',
        '  failed --> submitted: retry',
        '  canceled --> [*]',
      ].join('\n'),
    )
  })
})
