// The machines as data for the Stately editor, diagrams and newer versions of XState.
import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { machines } from '../../src/engine/machine-charts.ts'
import { taskStatuses } from '../../src/entities/task.ts'
import { toMermaid } from '../../src/machines/drawing.ts'
import { taskEvents, taskMachine } from '../../src/machines/task-machine.ts'

describe('the charts', () => {
  it('charts are copies, so that editing one does not change what the engine does', () => {
    const { on } = machines.task.config.states['working'] as { on: object }
    expect(on).toEqual(JSON.parse(JSON.stringify(taskMachine.config.states?.working?.on)))
    expect(on).not.toBe(taskMachine.config.states?.working?.on)
  })

  it('X-003 the chart of a task names its guards and actions, and has neither timers nor invoked actors', () => {
    const text = JSON.stringify(machines.task.config)
    expect(text).toContain('"guard":"isRetried"')
    expect(text).toContain('"exit":"endRun"')
    expect(text).not.toContain('null')
    for (const { config } of Object.values(machines)) {
      expect(JSON.stringify(config)).not.toMatch(/"(invoke|after|always|delay)"/)
    }
  })

  it('X-003 the chart of a task decides like its machine when it has the guards', () => {
    const copy = createMachine(machines.task.config as never, { guards: taskMachine.implementations.guards as never })
    const context = { taskId: '', name: '', attempt: 1, run: 0 }
    for (const value of taskStatuses) {
      for (const type of taskEvents) {
        expect(copy.resolveState({ value, context }).can({ type })).toBe(
          taskMachine.resolveState({ value, context }).can({ type }),
        )
      }
    }
  })
})

describe('the diagram', () => {
  it('X-003 toMermaid draws the edges of the machine', () => {
    expect(toMermaid(taskMachine)).toBe(
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
